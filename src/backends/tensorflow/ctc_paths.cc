// Forward variables of CTC as logarithms, step by step. Graves et al. 2006, section 4.1: states are the labels with
// blanks before, between and behind them. Finite numbers stand for the logarithm of 0, so that no gradient is 0 / 0.
#include "backends/tensorflow/ctc.h"

namespace tbd::tensorflow {
namespace {

constexpr double kLowest = -1e30;

}  // namespace

TF_Output Ctc::states() const {
  const TF_Output blank = integer(op_.blank);
  const TF_Output labels = select(is_label(counts_, 0), labels_, blank);
  const TF_Output blanks = in_.graph().filled(static_cast<double>(op_.blank), DType::i32, {samples_, width_});
  const TF_Output pairs[] = {blanks, labels};
  const TF_Output each = in_.reshape(in_.op("Pack").list(pairs).integer("axis", 2).out(), {samples_, 2 * width_});
  const TF_Output parts[] = {each, columns(blanks, 0, 1)};
  return in_.concat(parts, 1);
}

// A product with ones and zeros: the gradient of a gather along the last axis is not to be relied on.
TF_Output Ctc::of_states(TF_Output states) const {
  const TF_Output chosen =
      in_.op("OneHot").in(states).in(integer(classes_)).in(in_.number(1, dtype())).in(in_.number(0, dtype())).out();
  const TF_Output logs = in_.reshape(log_probabilities(), {samples_, steps_, classes_});
  return in_.op("BatchMatMulV2").in(logs).in(chosen).boolean("adj_y", true).out();
}

TF_Output Ctc::log_sum(std::span<const TF_Output> terms) const {
  TF_Output greatest = terms[0];
  for (const TF_Output& term : terms.subspan(1)) greatest = in_.binary("Maximum", greatest, term);
  greatest = in_.unary("StopGradient", greatest);
  const auto scaled = [&](TF_Output term) { return in_.unary("Exp", in_.binary("Sub", term, greatest)); };
  TF_Output sum = scaled(terms[0]);
  for (const TF_Output& term : terms.subspan(1)) sum = in_.binary("AddV2", sum, scaled(term));
  return in_.binary("AddV2", in_.unary("Log", sum), greatest);
}

// Of the state `by` places before.
TF_Output Ctc::shifted(TF_Output forward, int64_t by) const {
  const TF_Output parts[] = {in_.graph().filled(kLowest, dtype(), {samples_, by}),
                             columns(forward, 0, 2 * width_ + 1 - by)};
  return in_.concat(parts, 1);
}

TF_Output Ctc::lowest_unless(TF_Output condition) const {
  return select(condition, in_.number(0, dtype()), in_.number(kLowest, dtype()));
}

// A path ends in the last label or in the blank behind it.
TF_Output Ctc::ended(TF_Output forward) const {
  std::vector<int64_t> numbers;
  for (int64_t s = 0; s <= 2 * width_; ++s) numbers.push_back(s);
  const TF_Output state = in_.graph().constant(numbers), last = column(in_.binary("Mul", counts_, integer(2)));
  const TF_Output is_end = in_.binary("LogicalOr", in_.binary("Equal", state, last),
                                      in_.binary("Equal", state, in_.binary("Sub", last, integer(1))));
  const TF_Output ends = in_.binary("AddV2", forward, lowest_unless(is_end));
  const int64_t axis[] = {1};
  const TF_Output greatest = in_.unary("StopGradient", in_.reduce("Max", ends, axis, true));
  const TF_Output sum = in_.reduce("Sum", in_.unary("Exp", in_.binary("Sub", ends, greatest)), axis, true);
  return in_.unary("Neg", in_.reshape(in_.binary("AddV2", in_.unary("Log", sum), greatest), {samples_}));
}

// A label may follow the one before it without a blank where it differs from it.
TF_Output Ctc::path_losses() const {
  const TF_Output classes = states();
  const TF_Output nowhere = in_.graph().filled(-1, DType::i32, {samples_, 2});
  const TF_Output before[] = {nowhere, columns(classes, 0, 2 * width_ - 1)};
  const TF_Output differs = in_.binary("NotEqual", classes, in_.concat(before, 1));
  const TF_Output skips = in_.binary("LogicalAnd", differs, in_.binary("NotEqual", classes, integer(op_.blank)));
  const TF_Output unless = lowest_unless(skips);
  TF_Operation* const logs = in_.op("Unpack").in(of_states(classes)).integer("num", steps_).integer("axis", 1).finish();
  std::vector<double> start(static_cast<size_t>(2 * width_ + 1), kLowest);
  start[0] = start[1] = 0;
  const HostTensor first(DType::f64, Shape{2 * width_ + 1}, std::span<const double>(start));
  TF_Output forward = in_.binary("AddV2", TF_Output{logs, 0}, in_.graph().constant(converted(first, dtype())));
  for (int t = 1; t < static_cast<int>(steps_); ++t) {
    const TF_Output terms[] = {forward, shifted(forward, 1), in_.binary("AddV2", shifted(forward, 2), unless)};
    const TF_Output next = in_.binary("AddV2", log_sum(terms), TF_Output{logs, t});
    forward = select(column(in_.binary("Greater", lengths_, integer(t))), next, forward);
  }
  return ended(forward);
}

}  // namespace tbd::tensorflow
