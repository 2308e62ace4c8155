// The rows of the files in metrics/, file by file; cmake/Metrics.cmake writes the list.
#pragma once
#include <span>
#include <vector>

#include "analysis/metrics.h"

namespace tbd {

std::vector<std::span<const Metric>> metric_files();

}  // namespace tbd
