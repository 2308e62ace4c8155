#include "record/shown_axes.h"

#include <algorithm>
#include <map>

namespace tbd {
namespace {

bool differs_within_a_framework(const Axis& axis, std::span<const Workload* const> workloads) {
  std::map<std::string, std::string> first;  // value of each framework
  return std::ranges::any_of(workloads, [&](const Workload* each) {
    const std::string value = axis.value(*each);
    return first.try_emplace(each->framework, value).first->second != value;
  });
}

bool is_needed(const Axis& axis, std::span<const Workload* const> workloads) {
  if (axis.later)
    return std::ranges::any_of(workloads, [&](const Workload* each) { return !axis.print(*each).empty(); });
  return differs_within_a_framework(axis, workloads);
}

}  // namespace

std::vector<const Axis*> axes_to_show(std::span<const Workload* const> workloads,
                                      std::span<const std::string_view> has) {
  std::vector<const Axis*> out;
  for (const Axis& axis : axes())
    if (axis.tells_apart && std::ranges::find(has, axis.name) == has.end() && is_needed(axis, workloads))
      out.push_back(&axis);
  return out;
}

}  // namespace tbd
