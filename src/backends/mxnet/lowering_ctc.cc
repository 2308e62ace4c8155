#include <algorithm>

#include "backends/mxnet/ctc.h"

namespace tbd::mxnet {
namespace {

// i32 (N): whether labels, and blanks between equal ones, are no more than the steps.
Symbol fits_a_path(const Args& in) {
  const int64_t all = in.shape(2)[1];
  if (all == 1) return in.part("fits", "broadcast_lesser_equal", {in[3], in[1]});
  const Symbol equal = in.part("equal", "broadcast_equal",
                               {in.part("before", "slice_axis", {in[2]}, cut(1, 0, all - 1)),
                                in.part("after", "slice_axis", {in[2]}, cut(1, 1, all))});
  const Symbol places = in.constant("places", {1, all - 1}, counted(1, all - 1), in.dtype(2));
  const Symbol counts = in.part("counts", "Reshape", {in[3]}, to_shape({-1, 1}));
  const Symbol given = in.part("given", "broadcast_lesser", {places, counts});
  const Symbol repeats =
      in.part("repeats", "sum", {in.part("repeated", "elemwise_mul", {equal, given})}, {{"axis", "1"}});
  const Symbol needed = in.part("needed", "elemwise_add", {in[3], repeats});
  return in.part("fits", "broadcast_lesser_equal", {needed, in[1]});
}

// CTCLoss knows a first and a last class as the blank: another one is turned to the front.
bool turns_blank(const CtcLoss& op, const Args& in) { return op.blank != 0 && op.blank != in.shape(0)[2] - 1; }

Symbol turned_logits(const CtcLoss& op, const Args& in) {
  if (!turns_blank(op, in)) return in[0];
  const Symbol back = in.part("classes/back", "slice_axis", {in[0]}, cut(2, op.blank, in.shape(0)[2]));
  const Symbol front = in.part("classes/front", "slice_axis", {in[0]}, cut(2, 0, op.blank));
  return in.part("classes", "Concat", {back, front}, joined_along(2, 2));
}

Symbol turned_labels(const CtcLoss& op, const Args& in) {
  const Symbol labels = in.part("labels/cut", "slice_axis", {in[2]}, cut(1, 0, ctc_labels(in)));
  if (!turns_blank(op, in)) return labels;
  const auto blank = static_cast<double>(op.blank), classes = static_cast<double>(in.shape(0)[2]);
  const Symbol less = in.part("labels/less", "_minus_scalar", {labels}, with_scalar(blank));
  const Symbol before = in.part("labels/before", "_lesser_scalar", {less}, with_scalar(0));
  const Symbol round = in.part("labels/round", "_mul_scalar", {before}, with_scalar(classes));
  return in.part("labels/turned", "elemwise_add", {less, round});
}

// Where all probabilities round to 1 the kernel's gradient is 1 instead of 0.
Symbol without_certain(const Args& in, const Symbol& each) {
  constexpr double kCertain = 1e-6;
  const Symbol open = in.part("open", "_greater_scalar", {each}, with_scalar(kCertain));
  return in.part("each/open", "where", {open, each, in.filled("certain", {in.shape(0)[0]}, 0)});
}

}  // namespace

int64_t ctc_labels(const Args& in) { return std::min(in.shape(2)[1], in.shape(0)[1]); }

std::vector<double> counted(int64_t first, int64_t count) {
  std::vector<double> out;
  for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<double>(first + i));
  return out;
}

// The kernel skips a batch without any label, and a sample that fits no path, whose gradient it leaves as the memory
// was. So such a sample goes without labels, and one more sample has a label. Lengths are in the type of the logits.
Symbol ctc_by_kernel(const CtcLoss& op, const Args& in, const Symbol& fits) {
  const Shape& x = in.shape(0);
  const int64_t labels = ctc_labels(in);
  const auto with_one = [&](const std::string& what, const Symbol& all, Shape shape, double value, DType dtype) {
    const std::vector<double> values(static_cast<size_t>(shape.elements()), value);
    const Symbol one = in.constant(what + "/one", shape, values, dtype);
    return in.part(what, "Concat", {all, one}, joined_along(0, 2));
  };
  const DType integer = in.dtype(2);
  const Symbol logits = with_one("logits", turned_logits(op, in), {1, x[1], x[2]}, 0, in.dtype(0));
  const Symbol steps = in.part("lengths/cast", "Cast", {in[1]}, {{"dtype", type_name(in.dtype(0))}});
  const Symbol counts = in.part("counts/fit", "elemwise_mul", {in[3], fits});
  const Symbol losses =
      in.part("losses", "CTCLoss",
              {in.part("time_first", "transpose", {logits}, {{"axes", "(1,0,2)"}}),
               with_one("labels", turned_labels(op, in), {1, labels}, 0, integer),
               with_one("lengths", steps, {1}, 1, in.dtype(0)), with_one("counts/all", counts, {1}, 1, integer)},
              {{"use_data_lengths", text(true)},
               {"use_label_lengths", text(true)},
               {"blank_label", op.blank == 0 || turns_blank(op, in) ? "first" : "last"}});
  return without_certain(in, in.part("each", "slice_axis", {losses.output(0)}, cut(0, 0, x[0])));
}

Symbol lower(const CtcLoss& op, const Args& in) {
  const Symbol fits = fits_a_path(in);
  const Symbol each = in.dtype(0) == DType::f32 ? ctc_by_kernel(op, in, fits) : ctc_step_by_step(op, in);
  const Symbol none = in.filled("none", {in.shape(0)[0]}, 0);
  return in.op("sum", {in.part("counted", "where", {fits, each, none})});
}
LoweredAs lowered_as(const CtcLoss&, size_t) {
  return composed("CTCLoss, where, sum; in fp64 log_softmax, batch_dot, exp, log and SequenceLast, step by step");
}

}  // namespace tbd::mxnet
