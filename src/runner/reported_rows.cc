#include "runner/reported_rows.h"

#include "base/error.h"
#include "base/text.h"
#include "record/steps.h"

namespace tbd {
namespace {

constexpr int64_t kClocksApartNs = 1'000'000'000;  // of the worker's start as it knows it and as it is seen from here

std::string seconds(int64_t ns) { return format_seconds(1e-9 * static_cast<double>(ns)); }

bool can_be_kept(const StepRow& row) {
  int64_t dropped = 0;
  parse_steps(steps_header() + format_steps({&row, 1}), dropped);
  return dropped == 0;
}

}  // namespace

void ReportedRows::take(std::span<const StepRow> rows, int64_t age_ns) {
  for (const StepRow& row : rows) {
    require(row.step == last_.step + 1, "the worker reported step ", row.step, " after step ", last_.step,
            ": steps are numbered from 1 without gaps");
    require(row.completed_ns > last_.completed_ns, "the worker reported that step ", row.step, " ended at ",
            row.completed_ns, " ns, no later than what came before it, at ", last_.completed_ns, " ns");
    require(row.completed_ns <= age_ns + kClocksApartNs, "the worker reported that step ", row.step, " ended ",
            seconds(row.completed_ns), " after its start, which was ", seconds(age_ns), " ago");
    require(can_be_kept(row), "the worker reported a value of step ", row.step,
            " that is negative, not finite or above 2^53");
    last_ = row;
  }
}

}  // namespace tbd
