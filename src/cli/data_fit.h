// Whether a data set suits a network, looked at before any worker starts.
#pragma once
#include <vector>

#include "runner/plan.h"

namespace tbd::cli {

// Throws Error(usage) where a folder of images that a cell names has more class folders than its network has classes.
// What cannot be read is left to those who read it.
void require_classes_fit(const std::vector<Workload>& cells);

}  // namespace tbd::cli
