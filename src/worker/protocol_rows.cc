#include "worker/protocol_rows.h"

#include <cmath>

#include "base/json.h"

namespace tbd::protocol {
namespace {

template <class Visit, class Row>
void columns(Row& row, Visit visit) {
  visit("step", row.step);
  visit("completed_ns", row.completed_ns);
  visit("units", row.units);
  visit("samples", row.samples);
  visit("valid", row.valid);
  visit("padded", row.padded);
  visit("input_wait_ns", row.input_wait_ns);
  visit("user_cpu_ns", row.user_cpu_ns);
  visit("system_cpu_ns", row.system_cpu_ns);
  visit("minor_faults", row.minor_faults);
  visit("major_faults", row.major_faults);
  visit("runqueue_wait_ns", row.runqueue_wait_ns);
  visit("steal_ticks", row.steal_ticks);
  visit("rss_bytes", row.rss_bytes);
  visit("loss", row.loss);
  visit("pause_ns", row.pause_ns);
  visit("fma_flop_rate", row.fma_flop_rate);
  visit("read_byte_rate", row.read_byte_rate);
  visit("foreign_ns", row.foreign_ns);
}

// A worker without a speed probe may end its rows after this column.
constexpr size_t kLeastColumns = 15;

struct Pack {
  Json& out;
  void operator()(const char*, int64_t value) { out.emplace_back(value); }
  void operator()(const char*, double value) { out.emplace_back(value); }
  void operator()(const char*, const std::optional<int64_t>& value) { out.push_back(or_null(value)); }
  void operator()(const char*, const std::optional<double>& value) {
    if (value && !std::isfinite(*value))
      out.emplace_back(std::isnan(*value) ? "nan" : *value > 0 ? "inf" : "-inf");
    else
      out.push_back(or_null(value));
  }
};

struct Unpack {
  const Json& in;
  size_t next = 0;
  const Json& cell(const char* column) {
    require(next < in.size(), "a step row ends before its column ", column);
    return in[next++];
  }
  void operator()(const char* column, int64_t& value) {
    const Json& found = cell(column);
    require(found.is_number_integer(), "step row: ", column, " is not a whole number: ", found.dump().substr(0, 40));
    value = found.get<int64_t>();
  }
  void operator()(const char* column, std::optional<int64_t>& value) {
    if (next >= kLeastColumns && next == in.size()) return;
    if (cell(column).is_null()) return;
    --next;
    (*this)(column, value.emplace());
  }
  void operator()(const char* column, double& value) {
    const Json& found = cell(column);
    require(found.is_number(), "step row: ", column, " is not a number: ", found.dump().substr(0, 40));
    value = found.get<double>();
  }
  void operator()(const char* column, std::optional<double>& value) {
    const Json& found = cell(column);
    if (found.is_null()) return;
    if (found == "nan") return void(value = std::nan(""));
    if (found == "inf") return void(value = HUGE_VAL);
    if (found == "-inf") return void(value = -HUGE_VAL);
    --next;
    (*this)(column, value.emplace());
  }
};

}  // namespace

Steps pack(std::span<const StepRow> rows) {
  Steps steps;
  for (const StepRow& row : rows) columns(row, Pack{steps.rows->emplace_back(Json::array())});
  return steps;
}

std::vector<StepRow> unpack(const Steps& steps) {
  std::vector<StepRow> rows;
  for (const Json& packed : *steps.rows) {
    Unpack in{packed};
    columns(rows.emplace_back(), [&](const char* column, auto& value) { in(column, value); });
  }
  return rows;
}

}  // namespace tbd::protocol
