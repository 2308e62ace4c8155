// One lowering per op of the closed set: a back-end that lacks one does not link. A lowering reaches the kernel that an
// idiomatic torch program would reach. Gradients are autograd's own.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <span>

#include "worker/lowering.h"

namespace tbd::pytorch {

class Args;
template <class Op>
using Lowered = Results<Op, at::Tensor>;

TBD_EACH_OP(TBD_DECLARE_LOWERING)

// The operands of one node: data first, then parameters and buffers. Nothing is copied.
class Args {
 public:
  Args(const at::Tensor* values, std::span<const int32_t> ids, int overwrite, std::vector<at::Tensor>& constants)
      : values_(values), ids_(ids), overwrite_(overwrite), constants_(&constants) {}
  const at::Tensor& operator[](size_t operand) const { return values_[ids_[operand]]; }
  size_t size() const { return ids_.size(); }
  // The operand whose storage the result shall take (Liveness::overwrite); -1: none.
  int overwrite() const { return overwrite_; }
  // Tables that depend on attributes, shapes, types and device alone: `make` returns them at the node's first run, and
  // they are kept. No lowering may change them.
  template <class Make>
  const std::vector<at::Tensor>& constants(const Make& make) const {
    if (constants_->empty()) *constants_ = make();
    return *constants_;
  }

 private:
  const at::Tensor* values_;
  std::span<const int32_t> ids_;
  int overwrite_;
  std::vector<at::Tensor>* constants_;
};

}  // namespace tbd::pytorch
