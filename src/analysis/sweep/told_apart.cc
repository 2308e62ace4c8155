#include <algorithm>
#include <map>
#include <set>

#include "analysis/sweep/sweep.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

// Axes that are named by those who ask, or stand in the list below. Others follow that list.
constexpr std::string_view kPlaced[] = {"model", "config", "precision", "device",  "batch",   "framework",
                                        "mode",  "input",  "layout",    "threads", "dropout", "memory"};

std::vector<std::string> axis_values(const Sweep& sweep) {
  const MeasuredWorkload& w = sweep.workload;
  std::vector<std::string> values = {
      w.mode.text(),
      w.input_mode.text(),
      w.framework_version,
      w.layout.text(),
      find_axis("threads")->label.around(cat(w.threads)),
      w.optimizer,
      w.dropout.text(),
      w.synchronisation,
      w.effort,
      w.memory_budget_bytes ? cat("budget ", format_bytes(*w.memory_budget_bytes)) : std::string()};
  for (const Axis& axis : axes())
    if (axis.tells_apart && !axis.key.empty() && !std::ranges::count(kPlaced, axis.name))
      values.push_back(axis.label.around(axis.value(w)));
  return values;
}

}  // namespace

std::vector<std::string> told_apart(std::span<const Sweep* const> sweeps, std::vector<std::string> names,
                                    size_t always) {
  std::vector<std::vector<std::string>> axes;  // by sweep
  for (const Sweep* sweep : sweeps) axes.push_back(axis_values(*sweep));
  for (size_t axis = 0; !axes.empty() && axis < axes.front().size(); ++axis) {
    std::map<std::string, std::set<std::string>> values;  // by the names so far, or of all
    const auto key = [&](size_t i) { return axis < always ? std::string() : names[i]; };
    for (size_t i = 0; i < axes.size(); ++i) values[key(i)].insert(axes[i][axis]);
    std::vector<std::string> longer = names;
    for (size_t i = 0; i < axes.size(); ++i)
      if (values[key(i)].size() > 1 && !axes[i][axis].empty()) longer[i] += cat(" ", axes[i][axis]);
    names = std::move(longer);
  }
  return names;
}

}  // namespace tbd
