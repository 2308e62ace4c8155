#include "runner/plan.h"

#include <algorithm>

#include "base/amounts.h"
#include "base/philox.h"
#include "base/text.h"
#include "record/axes.h"
#include "runner/plan_parts.h"

namespace tbd {
namespace {

// Writing plan files: docs/plans.md.
void write(std::string& out, std::string_view key, const std::vector<std::string>& values) {
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(plan_parts::written(value));
  if (!texts.empty()) out += cat(key, " = ", join(texts, ", "), "\n");
}
void write_one(std::string& out, std::string_view key, const std::string& value) {
  if (!value.empty()) out += cat(key, " = ", value, "\n");
}

void write(std::string& out, const WorkloadSet& set) {
  for (const Axis& axis : axes()) write(out, axis.name, set.values(axis.name));
  for (const auto& [setting, value] : set.training) write(out, setting, {value});
  write_one(out, "when", plan_parts::when_text(set.when));
}

}  // namespace

int64_t default_batch(const std::vector<int64_t>& sweep) {
  int64_t best = sweep.empty() ? 2 : sweep.front();
  for (const int64_t batch : sweep)
    if (batch <= 8) best = std::max(best, batch);
  return best;
}

std::vector<size_t> launch_order(size_t cells, int64_t launches, std::optional<uint64_t> seed) {
  std::vector<size_t> order;
  const Philox draws(seed.value_or(0), "launch order");
  for (int64_t launch = 0; launch < launches; ++launch) {
    const bool turned = seed && draws.uniform(static_cast<uint64_t>(launch / 2)) < 0.5;
    for (size_t i = 0; i < cells; ++i) order.push_back((launch % 2 == 0) != turned ? i : cells - 1 - i);
  }
  return order;
}

std::string plan_text(const Plan& plan) {
  std::string out;
  if (plan.effort) write_one(out, "effort", std::string(name(*plan.effort)));
  write(out, "passes", texts(plan.passes));
  if (plan.launches) write_one(out, "launches", cat(*plan.launches));
  if (plan.limit_seconds) write_one(out, "limit", seconds_text(*plan.limit_seconds));
  if (plan.budget_seconds) write_one(out, "budget", seconds_text(*plan.budget_seconds));
  if (plan.peaks) write_one(out, "peaks", *plan.peaks ? "yes" : "no");
  if (plan.check) write_one(out, "check", *plan.check ? "yes" : "no");
  for (size_t i = 0; i < plan.sets.size(); ++i) {
    out += cat("[", i + 1, "]\n");
    write(out, plan.sets[i]);
  }
  for (const WorkloadSet& exclude : plan.excludes) {
    out += "[exclude]\n";
    write(out, exclude);
  }
  return out;
}

Plan plan_of(const std::vector<Workload>& cells) {
  Plan plan;
  for (const Workload& cell : cells) {
    WorkloadSet& set = plan.sets.emplace_back();
    for (const Axis& axis : axes())
      if (const std::string value = axis.print(cell); !value.empty()) set.lists[std::string(axis.name)] = {value};
  }
  return plan;
}

}  // namespace tbd
