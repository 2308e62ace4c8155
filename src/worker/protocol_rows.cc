#include "worker/protocol_rows.h"

#include "base/codec.h"
#include "record/steps.h"

namespace tbd::protocol {
namespace {

// The loss lies before the counts that workers of the first version do not send.
constexpr size_t kFirstCounts = 11, kLeastColumns = 4 + kFirstCounts;

template <class Row, class Visit>
void columns(Row& row, const Visit& visit) {
  visit("step", row.step);
  visit("completed_ns", row.completed_ns);
  visit("units", row.units);
  for (const StepCount& count : kStepCounts.first(kFirstCounts)) visit(count.name, row.*count.member);
  visit("loss", row.loss);
  for (const StepCount& count : kStepCounts.subspan(kFirstCounts)) visit(count.name, row.*count.member);
}

StepRow unpacked(const Json& row) {
  codec::expect(row.is_array(), "a step row, which is a list", row);
  StepRow out;
  size_t next = 0;
  columns(out, [&](std::string_view column, auto& value) {
    if (next >= kLeastColumns && next == row.size()) return;
    require(next < row.size(), "a step row ends before its column ", column);
    try {
      codec::decode<codec::JsonForm::message>(row[next++], value);
    } catch (const Error& e) {
      throw e.within(cat("step row: ", column));
    }
  });
  return out;
}

}  // namespace

Steps pack(std::span<const StepRow> rows) {
  Steps steps;
  for (const StepRow& row : rows) {
    Json& packed = steps.rows->emplace_back(Json::array());
    columns(row, [&](std::string_view, const auto& value) {
      packed.push_back(codec::encode<codec::JsonForm::message>(value));
    });
  }
  return steps;
}

std::vector<StepRow> unpack(const Steps& steps) {
  std::vector<StepRow> rows;
  for (const Json& row : *steps.rows) rows.push_back(unpacked(row));
  return rows;
}

}  // namespace tbd::protocol
