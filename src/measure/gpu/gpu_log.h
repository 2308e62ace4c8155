// What a record keeps of a device's samples: docs/record.md.
#pragma once
#include <string>

#include "base/json_fwd.h"
#include "measure/gpu/gpu_use.h"

namespace tbd {

Json to_json(const GpuUse& use);  // keys are the members' names; what is unknown is left out
// gpu.csv: one line a sample; a column that has no value is empty. Columns carry their units.
std::string to_csv(const GpuSeries& series);

}  // namespace tbd
