// Forward variables of CTC as logarithms, step by step. Graves et al. 2006, section 4.1: states are the labels with
// blanks before, between and behind them. A finite number stands for the logarithm of 0, so that no gradient is 0 / 0.
#include "backends/mlx/double_math.h"
#include "backends/mlx/lowering.h"

namespace tbd::mlx {
namespace {

constexpr double kLogOfZero = -1e30;

class CtcPaths {
 public:
  CtcPaths(const CtcLoss& op, const Args& in)
      : op_(op),
        in_(in),
        samples_(static_cast<int>(in.shape(0)[0])),
        steps_(static_cast<int>(in.shape(0)[1])),
        width_(static_cast<int>(in.shape(2)[1])),
        lengths_(mx::reshape(in.fixed(1), {samples_, 1})),
        labels_(in.fixed(2)),
        counts_(mx::reshape(in.fixed(3), {samples_, 1})) {}

  array losses() const;  // (N): -log p(labels); anything where they fit no path
  // (N): are there steps enough for the labels, and for a blank between two that are equal?
  array fit() const;

 private:
  array is_label(int first) const { return mx::less(mx::arange(first, width_), counts_); }
  array columns(const array& x, int begin, int end) const { return mx::slice(x, {0, begin}, {samples_, end}); }
  array states() const;                              // (N, 2 U + 1): classes
  array logarithms(const array& states) const;       // (N, T, 2 U + 1)
  array before(const array& forward, int by) const;  // of the state `by` places before
  array ended(const array& forward) const;
  array unless(const array& condition) const {
    return mx::where(condition, number(0, in_.dtype()), number(kLogOfZero, in_.dtype()));
  }

  const CtcLoss& op_;
  const Args& in_;
  int samples_, steps_, width_;
  array lengths_, labels_, counts_;
};

array CtcPaths::fit() const {
  array needed = counts_;
  if (width_ > 1) {
    const array equal = mx::equal(columns(labels_, 1, width_), columns(labels_, 0, width_ - 1));
    needed = mx::add(needed, cast_to(mx::sum(mx::logical_and(equal, is_label(1)), -1, true), in_.dtype(3)));
  }
  return mx::squeeze(mx::less_equal(needed, lengths_), 1);
}

array CtcPaths::states() const {
  const array blanks = mx::full({samples_, width_}, array(static_cast<int>(op_.blank)));
  const array labels = mx::where(is_label(0), labels_, blanks);
  const array pairs = mx::reshape(mx::stack({blanks, labels}, 2), {samples_, 2 * width_});
  return mx::concatenate({pairs, mx::full({samples_, 1}, array(static_cast<int>(op_.blank)))}, 1);
}

array CtcPaths::logarithms(const array& states) const {
  const array logits = in_.row(0);
  const array each = mx::broadcast_to(mx::expand_dims(states, 1), {samples_, steps_, 2 * width_ + 1});
  return mx::subtract(mx::take_along_axis(logits, each, 2), exact_log_sum(logits, /*keep_axis=*/true));
}

array CtcPaths::before(const array& forward, int by) const {
  const array nothing = mx::full({samples_, by}, number(kLogOfZero, in_.dtype()));
  return mx::concatenate({nothing, columns(forward, 0, 2 * width_ + 1 - by)}, 1);
}

// A path ends in the last label or in the blank behind it.
array CtcPaths::ended(const array& forward) const {
  const array state = mx::arange(2 * width_ + 1), last = mx::multiply(counts_, array(2));
  const array is_end = mx::logical_or(mx::equal(state, last), mx::equal(state, mx::subtract(last, array(1))));
  return mx::negative(exact_log_sum(mx::add(forward, unless(is_end)), /*keep_axis=*/false));
}

// A label may follow the one before it without a blank where it differs from it.
array CtcPaths::losses() const {
  const array classes = states();
  const array nowhere = mx::full({samples_, 2}, array(-1));
  const array differs = mx::not_equal(classes, mx::concatenate({nowhere, columns(classes, 0, 2 * width_ - 1)}, 1));
  const array skips = mx::logical_and(differs, mx::not_equal(classes, array(static_cast<int>(op_.blank))));
  const array closed = unless(skips);
  const std::vector<array> logs = mx::unstack(logarithms(classes), 1);
  array forward = mx::add(logs[0], unless(mx::less(mx::arange(2 * width_ + 1), array(2))));
  for (int t = 1; t < steps_; ++t) {
    const array paths = mx::stack({forward, before(forward, 1), mx::add(before(forward, 2), closed)}, -1);
    const array next = mx::add(exact_log_sum(paths, /*keep_axis=*/false), logs[static_cast<size_t>(t)]);
    forward = mx::where(mx::greater(lengths_, array(t)), next, forward);
  }
  return ended(forward);
}

}  // namespace

// logits (N, T, classes), lengths (N), labels (N, U), label lengths (N).
Operand lower(const CtcLoss& op, const Args& in) {
  const CtcPaths paths(op, in);
  return {mx::sum(mx::where(paths.fit(), paths.losses(), number(0, in.dtype())))};
}
LoweredAs lowered_as(const CtcLoss&, size_t) {
  return composed("take_along_axis, logsumexp; each step concatenate, stack, logsumexp, where");
}

}  // namespace tbd::mlx
