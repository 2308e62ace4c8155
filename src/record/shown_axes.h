// Which axes a table of workloads needs a column for, besides those that it always has.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "record/axes.h"

namespace tbd {

// In the order of the table of axes, those that tell workloads apart and in which two workloads of one framework
// differ; of those whose default is written nowhere, where any departs from it. Frameworks have layouts and modes of
// their own. `has`: the names of those that have a column.
std::vector<const Axis*> axes_to_show(std::span<const Workload* const> workloads,
                                      std::span<const std::string_view> has);

}  // namespace tbd
