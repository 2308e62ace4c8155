#include "backends/tensorflow/ctc.h"

namespace tbd::tensorflow {

Ctc::Ctc(const CtcLoss& op, const Args& in)
    : op_(op),
      in_(in),
      samples_(in[0].shape[0]),
      steps_(in[0].shape[1]),
      classes_(in[0].shape[2]),
      width_(in[2].shape[1]),
      lengths_(in.row(1)),
      labels_(in.row(2)),
      counts_(in.row(3)),
      fits_(in.binary("LessEqual", in.binary("AddV2", counts_, repeats()), lengths_)) {}

TF_Output Ctc::columns(TF_Output x, int64_t begin, int64_t end) const {
  const int64_t from[] = {0, begin}, size[] = {samples_, end - begin};
  return in_.op("Slice").in(x).in(in_.graph().constant(from)).in(in_.graph().constant(size)).out();
}

TF_Output Ctc::is_label(TF_Output counts, int64_t first) const {
  std::vector<int64_t> indices;
  for (int64_t u = first; u < width_; ++u) indices.push_back(u);
  return in_.binary("Less", in_.graph().constant(indices), column(counts));
}

// Labels that are the one before them.
TF_Output Ctc::repeats() const {
  if (width_ < 2) return integer(0);
  const TF_Output equal = in_.binary("Equal", columns(labels_, 1, width_), columns(labels_, 0, width_ - 1));
  const TF_Output counted = in_.binary("LogicalAnd", equal, is_label(counts_, 1));
  const int64_t axis[] = {1};
  return in_.reduce("Sum", in_.op("Cast").in(counted).type("DstT", DType::i32).out(), axis, false);
}

TF_Output Ctc::blank_last() const {
  const int64_t order[] = {1, 0, 2};
  const TF_Output x = in_.transpose(in_.row(0), order);
  if (op_.blank == classes_ - 1) return x;
  const std::vector<int64_t> sizes = {op_.blank, 1, classes_ - 1 - op_.blank};
  TF_Operation* const node =
      in_.op("SplitV").in(x).in(in_.graph().constant(sizes)).in(integer(2)).integer("num_split", 3).finish();
  const TF_Output parts[] = {{node, 0}, {node, 2}, {node, 1}};
  return in_.concat(parts, 2);
}

TF_Output Ctc::log_probabilities() const {
  return in_.unary("LogSoftmax", in_.reshape(in_.row(0), {samples_ * steps_, classes_}));
}

// Of nothing but blanks.
TF_Output Ctc::losses_without_labels() const {
  const int64_t from[] = {0, op_.blank}, size[] = {samples_ * steps_, 1}, axis[] = {1};
  const TF_Output blanks =
      in_.op("Slice").in(log_probabilities()).in(in_.graph().constant(from)).in(in_.graph().constant(size)).out();
  const Shape shape = {samples_, steps_};
  const TF_Output valid = masked(in_, in_.reshape(blanks, shape), dtype(), shape, 1, lengths_);
  return in_.unary("Neg", in_.reduce("Sum", valid, axis, false));
}

// The kernel takes labels as sparse, has its blank behind the other classes and refuses samples without labels; these
// and those without a path go in with one label, and what comes out for them is dropped.
TF_Output Ctc::kernel_losses() const {
  const TF_Output labelled = in_.binary("LogicalAnd", fits_, in_.binary("Greater", counts_, integer(0)));
  const TF_Output places = in_.unary("Where", is_label(select(labelled, counts_, integer(1)), 0));  // sample, column
  const TF_Output behind = in_.binary("Greater", labels_, integer(op_.blank));
  const TF_Output moved = in_.binary("Sub", labels_, in_.op("Cast").in(behind).type("DstT", DType::i32).out());
  const TF_Output values = in_.binary("GatherNd", select(is_label(counts_, 0), moved, integer(0)), places);
  const TF_Output each = in_.op("CTCLoss").in(blank_last()).in(places).in(values).in(lengths_).out();
  return select(labelled, each, losses_without_labels());
}

// logits (N, T, classes), lengths (N), labels (N, U), label lengths (N).
Operand lower(const CtcLoss& op, const Args& in) {
  const Ctc ctc(op, in);
  const DType dtype = in[0].dtype;
  const TF_Output each = dtype == DType::f64 ? ctc.path_losses() : ctc.kernel_losses();
  const int64_t axis[] = {0};
  return {in.reduce("Sum", ctc.select(ctc.fits(), each, in.number(0, dtype)), axis, false)};
}
LoweredAs lowered_as(const CtcLoss&, size_t) {
  return native(
      "CTCLoss, the blank moved to the last class; LogSoftmax, SelectV2 where a sample has no label or no path; in "
      "fp64, which that kernel rounds, Exp, Log, AddV2 at each step");
}

}  // namespace tbd::tensorflow
