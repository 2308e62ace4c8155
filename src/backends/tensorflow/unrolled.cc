#include "backends/tensorflow/unrolled.h"

namespace tbd::tensorflow {

Unrolled::Unrolled(const Args& in, int64_t hidden, bool reverse)
    : in_(in),
      hidden_(hidden),
      samples_(in[0].shape[0]),
      steps_(in[0].shape[1]),
      reverse_(reverse),
      inner_(inner_type(in[0].dtype)) {}

// The valid steps of each sample in reverse, and back.
TF_Output Unrolled::in_order(TF_Output x) const {
  if (!reverse_ || !lengths_given()) return x;
  return in_.op("ReverseSequence").in(x).in(in_.row(1)).integer("seq_dim", 1).integer("batch_dim", 0).out();
}

TF_Output Unrolled::rows() const { return in_.reshape(in_order(in_.row(0)), {samples_ * steps_, in_[0].shape[2]}); }

std::vector<TF_Output> Unrolled::cut(TF_Output rows, int64_t width) const {
  const TF_Output all = in_.reshape(rows, {samples_, steps_, width});
  TF_Operation* const node = in_.op("Unpack").in(all).integer("num", steps_).integer("axis", 1).finish();
  std::vector<TF_Output> out;
  for (int t = 0; t < static_cast<int>(steps_); ++t) out.push_back({node, t});
  return out;
}

std::vector<TF_Output> Unrolled::weights(size_t i, int64_t width) const {
  if (steps_ > 1 && worth_stacking(samples_, hidden_, width)) return in_.uses(in_.row(i), steps_);
  return std::vector<TF_Output>(steps(), in_.row(i));
}

TF_Output Unrolled::product(TF_Output x, TF_Output weight) const {
  return in_.cast(in_.op("MatMul").in(x).in(weight).boolean("transpose_b", true).out(), in_[0].dtype, inner_);
}

TF_Output Unrolled::packed(const std::vector<TF_Output>& states) const {
  return outer(in_.op("Pack").list(states).integer("axis", 1).out());
}

TF_Output Unrolled::series(TF_Output states) const {
  const TF_Output y = in_order(states);
  if (!lengths_given()) return y;
  return masked(in_, y, in_[0].dtype, {samples_, steps_, hidden_}, 1, in_.row(1));
}

// With lengths: step length - 1 of each sample.
TF_Output Unrolled::last(const std::vector<TF_Output>& states, TF_Output packed) const {
  if (!lengths_given()) return outer(states[time(steps() - 1)]);
  std::vector<int64_t> before;  // rows before the first one of the sample, less 1
  for (int64_t n = 0; n < samples_; ++n) before.push_back(n * steps_ - 1);
  const TF_Output rows = in_.binary("AddV2", in_.row(1), in_.graph().constant(before));
  return table_rows(in_, in_.reshape(packed, {samples_ * steps_, hidden_}), samples_ * steps_, rows);
}

}  // namespace tbd::tensorflow
