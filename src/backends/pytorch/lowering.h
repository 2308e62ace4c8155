// One overload per op: std::visit over Op refuses to compile until each has one. A lowering reaches the kernel that an
// idiomatic torch program would reach. Gradients are autograd's own.
#pragma once
#include <ATen/core/Tensor.h>

#include <optional>
#include <span>

#include "graph/op.h"

namespace tbd::pytorch {

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

at::Tensor lower(const Conv2d& op, const Args& in);
at::Tensor lower(const ConvTranspose2d& op, const Args& in);
at::Tensor lower(const Linear& op, const Args& in);
at::Tensor lower(const Matmul& op, const Args& in);
at::Tensor lower(const BatchNorm& op, const Args& in);
at::Tensor lower(const GroupNorm& op, const Args& in);
at::Tensor lower(const LayerNorm& op, const Args& in);
at::Tensor lower(const RmsNorm& op, const Args& in);
at::Tensor lower(const Softmax& op, const Args& in);
at::Tensor lower(const MaxPool& op, const Args& in);
at::Tensor lower(const AvgPool& op, const Args& in);
at::Tensor lower(const GlobalMean& op, const Args& in);
at::Tensor lower(const UpsampleNearest& op, const Args& in);
at::Tensor lower(const Unary& op, const Args& in);
at::Tensor lower(const Binary& op, const Args& in);
at::Tensor lower(const Affine& op, const Args& in);
at::Tensor lower(const Clamp& op, const Args& in);
at::Tensor lower(const Greater& op, const Args& in);
at::Tensor lower(const Dropout& op, const Args& in);
at::Tensor lower(const Cast& op, const Args& in);
at::Tensor lower(const Reshape& op, const Args& in);
at::Tensor lower(const Concat& op, const Args& in);
at::Tensor lower(const Slice& op, const Args& in);
at::Tensor lower(const Transpose& op, const Args& in);
at::Tensor lower(const Reduce& op, const Args& in);
at::Tensor lower(const Gather& op, const Args& in);
at::Tensor lower(const StridedLength& op, const Args& in);
at::Tensor lower(const SequenceMask& op, const Args& in);
at::Tensor lower(const Embedding& op, const Args& in);
at::Tensor lower(const Equals& op, const Args& in);
at::Tensor lower(const Sinusoid& op, const Args& in);
at::Tensor lower(const Rotary& op, const Args& in);
at::Tensor lower(const Attention& op, const Args& in);
std::vector<at::Tensor> lower(const Lstm& op, const Args& in);
std::vector<at::Tensor> lower(const LstmCell& op, const Args& in);
std::vector<at::Tensor> lower(const Gru& op, const Args& in);
at::Tensor lower(const SoftmaxCrossEntropy& op, const Args& in);
at::Tensor lower(const SoftCrossEntropy& op, const Args& in);
at::Tensor lower(const SquaredError& op, const Args& in);
at::Tensor lower(const CtcLoss& op, const Args& in);
at::Tensor lower(const StopGradient& op, const Args& in);
at::Tensor lower(const InputGradient& op, const Args& in);
std::vector<at::Tensor> lower(const HostCall& op, const Args& in);

}  // namespace tbd::pytorch
