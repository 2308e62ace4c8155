// The two forms of CTC: TensorFlow's kernel, and for double, whose sums that kernel rounds to single, the sum over all
// paths from elementwise ops.
#pragma once
#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {

// logits (N, T, classes), lengths (N), labels (N, U), counts of labels (N).
class Ctc {
 public:
  Ctc(const CtcLoss& op, const Args& in);

  // Of each sample: -log p(labels); anything where they fit no path.
  TF_Output kernel_losses() const;
  TF_Output path_losses() const;
  // (N): are there steps enough for the labels, and for a blank between two that are equal?
  TF_Output fits() const { return fits_; }
  TF_Output select(TF_Output condition, TF_Output a, TF_Output b) const {
    return in_.op("SelectV2").in(condition).in(a).in(b).out();
  }

 private:
  DType dtype() const { return in_[0].dtype; }
  TF_Output integer(int64_t value) const { return in_.number(static_cast<double>(value), DType::i32); }
  TF_Output column(TF_Output x) const { return in_.reshape(x, {samples_, 1}); }
  // Columns begin ... end - 1 of x (N, columns).
  TF_Output columns(TF_Output x, int64_t begin, int64_t end) const;
  // Are columns first, first + 1, ... of the labels among the sample's first `counts`?
  TF_Output is_label(TF_Output counts, int64_t first) const;
  TF_Output repeats() const;

  TF_Output blank_last() const;         // logits (T, N, classes)
  TF_Output log_probabilities() const;  // (N T, classes)
  TF_Output losses_without_labels() const;

  TF_Output states() const;                     // (N, 2 U + 1): the class of each
  TF_Output of_states(TF_Output states) const;  // log-probabilities (N, T, 2 U + 1)
  TF_Output log_sum(std::span<const TF_Output> terms) const;
  TF_Output shifted(TF_Output forward, int64_t by) const;
  TF_Output lowest_unless(TF_Output condition) const;
  TF_Output ended(TF_Output forward) const;

  const CtcLoss& op_;
  const Args& in_;
  int64_t samples_, steps_, classes_, width_;
  TF_Output lengths_, labels_, counts_, fits_;
};

}  // namespace tbd::tensorflow
