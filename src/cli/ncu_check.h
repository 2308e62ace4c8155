// `tbd profile --ncu`: FLOPs of one step by the instructions that NVIDIA's ncu counts on a GPU, beside those that we
// compute from the graph (docs/flops.md). ncu runs a step of the same workload, kernel by kernel.
#pragma once
#include <optional>
#include <string>

#include "analysis/table.h"
#include "base/json.h"
#include "cli/command.h"
#include "record/record.h"

namespace tbd::cli {

struct NcuCheck {
  std::optional<int64_t> counted, computed;  // FLOPs of a step; counted: FADD + FMUL + 2 FFMA of fp32
  int64_t kernels = 0;
  std::string reason;  // why nothing was counted, one clause; empty where it was
};

// Runs the step where the record is of fp32 on a GPU: other precisions use other instructions and tensor cores. What
// ncu cannot do, or its absence from PATH, is the reason.
NcuCheck ncu_check(const Context& context, const Record& record);
Table ncu_table(const NcuCheck& check);
Json to_json(const NcuCheck& check);

}  // namespace tbd::cli
