#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// Classes and labels as the kernel wants them: blank last, labels sparse. A sample whose labels fit no path goes in
// without labels, for which there is always a path, and its loss is dropped.
class Ctc {
 public:
  Ctc(const CtcLoss& op, const Args& in)
      : op_(op),
        in_(in),
        samples_(in[0].shape[0]),
        classes_(in[0].shape[2]),
        width_(in[2].shape[1]),
        lengths_(in.row(1)),
        labels_(in.row(2)),
        given_(in.row(3)),
        fits_(in.binary("LessEqual", in.binary("AddV2", given_, repeats()), lengths_)) {}

  TF_Output loss() const;

 private:
  TF_Output integer(int64_t value) const { return in_.number(static_cast<double>(value), DType::i32); }
  TF_Output is_label(TF_Output counts, int64_t first) const;
  TF_Output columns(int64_t begin) const;
  TF_Output repeats() const;
  TF_Output logits() const;

  const CtcLoss& op_;
  const Args& in_;
  int64_t samples_, classes_, width_;
  TF_Output lengths_, labels_, given_, fits_;
};

// Whether columns first, first + 1, ... are among the sample's first `counts`.
TF_Output Ctc::is_label(TF_Output counts, int64_t first) const {
  std::vector<int64_t> indices;
  for (int64_t u = first; u < width_; ++u) indices.push_back(u);
  return in_.binary("Less", in_.graph().constant(indices), in_.reshape(counts, {samples_, 1}));
}

// Labels from a column on, one column less than there are.
TF_Output Ctc::columns(int64_t begin) const {
  const int64_t from[] = {0, begin}, size[] = {samples_, width_ - 1};
  return in_.op("Slice").in(labels_).in(in_.graph().constant(from)).in(in_.graph().constant(size)).out();
}

// Labels that are the one before them: between the two a path needs a blank.
TF_Output Ctc::repeats() const {
  if (width_ < 2) return integer(0);
  const TF_Output equal = in_.binary("Equal", columns(1), columns(0));
  const TF_Output counted = in_.binary("LogicalAnd", equal, is_label(given_, 1));
  const int64_t axis[] = {1};
  return in_.reduce("Sum", in_.op("Cast").in(counted).type("DstT", DType::i32).out(), axis, false);
}

// (N, T, classes) -> (T, N, classes) with the blank behind the others.
TF_Output Ctc::logits() const {
  const int64_t order[] = {1, 0, 2};
  const TF_Output x = in_.transpose(in_.row(0), order);
  if (op_.blank == classes_ - 1) return x;
  const std::vector<int64_t> sizes = {op_.blank, 1, classes_ - 1 - op_.blank};
  TF_Operation* const node =
      in_.op("SplitV").in(x).in(in_.graph().constant(sizes)).in(integer(2)).integer("num_split", 3).finish();
  const TF_Output parts[] = {{node, 0}, {node, 2}, {node, 1}};
  return in_.concat(parts, 2);
}

TF_Output Ctc::loss() const {
  const TF_Output counts = in_.op("SelectV2").in(fits_).in(given_).in(integer(0)).out();
  const TF_Output places = in_.unary("Where", is_label(counts, 0));  // (labels, 2): sample and column
  const TF_Output above =
      in_.op("Cast").in(in_.binary("Greater", labels_, integer(op_.blank))).type("DstT", DType::i32).out();
  const TF_Output values = in_.binary("GatherNd", in_.binary("Sub", labels_, above), places);
  const TF_Output each = in_.op("CTCLoss").in(logits()).in(places).in(values).in(lengths_).out();
  const TF_Output counted = in_.op("SelectV2").in(fits_).in(each).in(in_.number(0, in_[0].dtype)).out();
  const int64_t axis[] = {0};
  return in_.reduce("Sum", counted, axis, false);
}

}  // namespace

// logits (N, T, classes), lengths (N), labels (N, U), label lengths (N).
Operand lower(const CtcLoss& op, const Args& in) { return {Ctc(op, in).loss()}; }

}  // namespace tbd::tensorflow
