// The paper's tables 2 to 6 (Zhu et al. 2018), made from records.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "record/record.h"

namespace tbd {

// Table 2: a row for each network and configuration. MACs are forward, of one sample; the dominant op is the kind with
// most counted FLOPs in both directions.
Table benchmarks_table(std::span<const Record* const> records);
// Table 3: a row for each data set that the cards name, with what its publication says of its size.
Table datasets_table(std::span<const Record* const> records);
// Table 4: a row for each machine and number of threads, with its measured peaks.
Table hardware_table(std::span<const Record* const> records);
// Tables 5 and 6: for each framework the longest ops of below-average utilization, of the traced cell nearest to
// ResNet-50 in fp32 at batch 32. A trace that cannot be read is left out: the profile page says why.
std::vector<Table> longest_kernel_tables(std::span<const Record* const> records);

// The kind of op with most counted FLOPs, and its share of them; empty and 0 without any.
struct DominantOp {
  std::string op;
  double share = 0;
};
DominantOp dominant_op(const RunInfo& run);

}  // namespace tbd
