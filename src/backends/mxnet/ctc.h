// Both ways to the loss of each sample of ctc_loss, (N): what a sample that fits no path gets is left open.
#pragma once
#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {

// In single precision. `fits` i32 (N): 1 for samples that fit a path, else 0.
Symbol ctc_by_kernel(const CtcLoss& op, const Args& in, const Symbol& fits);
// In double: the forward variable of Graves et al. 2006, section 4.1, step by step; its gradient is that of its nodes.
Symbol ctc_step_by_step(const CtcLoss& op, const Args& in);

// How many labels a sample may have that fits a path.
int64_t ctc_labels(const Args& in);

inline Attributes cut(int64_t axis, int64_t begin, int64_t end) {
  return {{"axis", std::to_string(axis)}, {"begin", std::to_string(begin)}, {"end", std::to_string(end)}};
}
inline Attributes joined_along(int64_t axis, size_t operands) {
  return {{"dim", std::to_string(axis)}, {"num_args", std::to_string(operands)}};
}
std::vector<double> counted(int64_t first, int64_t count);  // first, first + 1, ...

}  // namespace tbd::mxnet
