// What the recurrent layers share: x (N, T, in) and perhaps lengths (N) cut into steps, and the states of all steps put
// together again. Layers are unrolled: TensorFlow's C++ gradients know no loop, and its fused kernels are slower than
// the steps one by one.
#pragma once
#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {

// Operands are x, lengths where there are 2 data operands, then the layer's parameters. Products are in the operands'
// type, states in inner(). With lengths a reverse layer runs over the valid steps of each sample in reverse; without
// them the steps themselves run from the end.
class Unrolled {
 public:
  Unrolled(const Args& in, int64_t hidden, bool reverse);

  DType inner() const { return inner_; }
  size_t steps() const { return static_cast<size_t>(steps_); }
  size_t first_parameter() const { return lengths_given() ? 2 : 1; }
  TF_Output rows() const;                                           // x as it runs: (N T, in)
  std::vector<TF_Output> cut(TF_Output rows, int64_t width) const;  // (N T, width) -> T times (N, width)
  // Operand `i`, the recurrent weight (width, H), once for each step.
  std::vector<TF_Output> weights(size_t i, int64_t width) const;
  TF_Output zero() const { return in_.graph().filled(0, inner_, {samples_, hidden_}); }
  // x weight^T in inner(), x of either type.
  TF_Output product(TF_Output x, TF_Output weight) const;
  TF_Output outer(TF_Output x) const { return in_.cast(x, inner_, in_[0].dtype); }
  // Where step number `step` stands among those of cut().
  size_t time(size_t step) const { return reverse_ && !lengths_given() ? steps() - 1 - step : step; }

  // The states as they stand in cut(), (N, T, H) of the operands' type.
  TF_Output packed(const std::vector<TF_Output>& states) const;
  // Of packed states: in the order of x, 0 from a sample's length on.
  TF_Output series(TF_Output states) const;
  // The state after the last valid step, of the operands' type.
  TF_Output last(const std::vector<TF_Output>& states, TF_Output packed) const;

 private:
  bool lengths_given() const { return has_lengths(in_.size()); }
  TF_Output in_order(TF_Output x) const;

  const Args& in_;
  int64_t hidden_, samples_, steps_;
  bool reverse_;
  DType inner_;
};

}  // namespace tbd::tensorflow
