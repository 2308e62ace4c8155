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

// What the graph around a node says to its lowering.
struct NodeUse {
  int overwrite = -1;          // the operand whose storage the result shall take (Liveness::overwrite); -1: none
  unsigned unread = 0;         // a bit for each result, 1 where nothing reads it: it may stay undefined
  bool shares_weight = false;  // of an embedding: a linear layer multiplies by its table
  bool is_read(size_t result) const { return (unread >> result & 1U) == 0; }
};

// The operands of one node: data first, then parameters and buffers. Nothing is copied.
class Args {
 public:
  Args(const at::Tensor* values, std::span<const int32_t> ids, const NodeUse& use, std::vector<at::Tensor>& constants)
      : values_(values), ids_(ids), use_(&use), constants_(&constants) {}
  const at::Tensor& operator[](size_t operand) const { return values_[ids_[operand]]; }
  size_t size() const { return ids_.size(); }
  const NodeUse& use() const { return *use_; }
  int overwrite() const { return use_->overwrite; }
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
  const NodeUse* use_;
  std::vector<at::Tensor>* constants_;
};

}  // namespace tbd::pytorch
