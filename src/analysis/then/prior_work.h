// Benchmarks of deep learning that came before the paper and after it, by what their own publications say.
#pragma once
#include "analysis/table.h"

namespace tbd {

Table prior_work_table();

}  // namespace tbd
