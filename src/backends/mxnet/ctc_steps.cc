#include "backends/mxnet/ctc.h"

namespace tbd::mxnet {
namespace {

constexpr double kNever = -1e30;  // log-probability of a state that no path reaches

// Labels between blanks are the states of each sample, S = 2 U + 1.
class ForwardVariable {
 public:
  ForwardVariable(const CtcLoss& op, const Args& in)
      : in_(in), samples_(in.shape(0)[0]), steps_(in.shape(0)[1]), states_(2 * ctc_labels(in) + 1) {
    classes_ = classes_of_states(op.blank);
  }

  // (N): the negative logarithm of the sum of both last states at the last step.
  Symbol loss() const {
    const Symbol ends = part("ends", "elemwise_add", {last_states(), never_unless(is_last_state(), "ends")});
    const Symbol most = part("ends/most", "BlockGrad", {part("ends/max", "max", {ends}, kOverStates)});
    const Symbol shares = part("ends/exp", "exp", {part("ends/less", "broadcast_sub", {ends, most})});
    const Symbol log_sum = part("ends/log", "log", {part("ends/sum", "sum", {shares}, kOverStates)});
    const Symbol each = part("ends/all", "elemwise_add", {log_sum, most});
    return part("each", "Reshape", {part("ends/negative", "negative", {each})}, {{"shape", "(-1,)"}});
  }

 private:
  inline static const Attributes kOverStates = {{"axis", "1"}, {"keepdims", "True"}};

  Symbol part(const std::string& suffix, const char* op, const std::vector<Symbol>& in,
              const Attributes& a = {}) const {
    return in_.part(suffix, op, in, a);
  }
  Symbol same(const std::string& suffix, const Shape& shape, double value, DType dtype) const {
    return in_.constant(suffix, shape, std::vector<double>(static_cast<size_t>(shape.elements()), value), dtype);
  }

  // i32 (N, S): blank, label, blank, ..., blank.
  Symbol classes_of_states(int64_t blank) const {
    const int64_t labels = states_ / 2;
    const auto blanks = [&](const char* suffix, const Shape& shape) {
      return same(suffix, shape, static_cast<double>(blank), in_.dtype(2));
    };
    const Symbol own = part("labels", "slice_axis", {in_[2]}, cut(1, 0, labels));
    const Symbol flat = part("labels/flat", "Reshape", {own}, to_shape({-1, 1}));
    const Symbol pairs = part("pairs", "Concat", {blanks("blanks", {samples_ * labels, 1}), flat}, joined_along(1, 2));
    const Symbol rows = part("pairs/rows", "Reshape", {pairs}, to_shape({samples_, 2 * labels}));
    return part("states", "Concat", {rows, blanks("blanks/last", {samples_, 1})}, joined_along(1, 2));
  }

  // 0 where the i32 (N, S) is 1, kNever where it is 0.
  Symbol never_unless(const Symbol& allowed, const std::string& what) const {
    const Symbol cast = part(what + "/cast", "Cast", {allowed}, {{"dtype", type_name(in_.dtype(0))}});
    const Symbol less = part(what + "/forbidden", "_minus_scalar", {cast}, with_scalar(1));
    return part(what + "/never", "_mul_scalar", {less}, with_scalar(-kNever));
  }

  // A path may leave out a blank between different labels.
  Symbol skips() const {
    const Symbol differs = part("differs", "broadcast_not_equal",
                                {part("differs/here", "slice_axis", {classes_}, cut(1, 2, states_)),
                                 part("differs/before", "slice_axis", {classes_}, cut(1, 0, states_ - 2))});
    const Symbol first = same("skips/first", {samples_, 2}, 0, in_.dtype(2));
    return never_unless(part("skips", "Concat", {first, differs}, joined_along(1, 2)), "skips");
  }
  Symbol is_last_state() const {
    const Symbol states = in_.constant("state", {1, states_}, counted(0, states_), in_.dtype(2));
    const Symbol counts = part("counts/column", "Reshape", {in_[3]}, to_shape({-1, 1}));
    const Symbol blank = part("last/blank", "_mul_scalar", {counts}, with_scalar(2));
    const Symbol label = part("last/label", "_minus_scalar", {blank}, with_scalar(1));
    return part("last", "elemwise_add",
                {part("last/is_blank", "broadcast_equal", {states, blank}),
                 part("last/is_label", "broadcast_equal", {states, label})});
  }

  // Of all steps, each (N, S).
  Symbol log_probabilities() const {
    const Symbol each = part("log_softmax", "log_softmax", {in_[0]}, {{"axis", "-1"}});
    const Symbol chosen = part("one_hot", "one_hot", {classes_},
                               {{"depth", std::to_string(in_.shape(0)[2])}, {"dtype", type_name(in_.dtype(0))}});
    const Symbol all = part("emitted", "batch_dot", {each, chosen}, {{"transpose_b", text(true)}});
    return part("emitted/steps", "SliceChannel", {all},
                {{"axis", "1"}, {"num_outputs", std::to_string(steps_)}, {"squeeze_axis", text(true)}});
  }

  // From a step to the next: the logarithm of the sum over the three states that a path may come from.
  Symbol next(const std::string& name, const Symbol& a, const Symbol& before, const Symbol& skips) const {
    const Symbol padded = part(name + "/padded", "Concat", {before, a}, joined_along(1, 2));
    const Symbol one = part(name + "/one", "slice_axis", {padded}, cut(1, 1, states_ + 1));
    const Symbol two =
        part(name + "/two", "elemwise_add", {part(name + "/skip", "slice_axis", {padded}, cut(1, 0, states_)), skips});
    const Symbol greater = part(name + "/greater", "broadcast_maximum", {a, one});
    const Symbol most = part(name + "/most", "BlockGrad", {part(name + "/max", "broadcast_maximum", {greater, two})});
    const auto share = [&](const char* of, const Symbol& x) {
      return part(cat(name, of), "exp", {part(cat(name, of, "/less"), "elemwise_sub", {x, most})});
    };
    const Symbol sum = part(name + "/sum", "add_n", {share("/stay", a), share("/step", one), share("/leap", two)},
                            {{"num_args", "3"}});
    return part(name + "/from", "elemwise_add", {part(name + "/log", "log", {sum}), most});
  }

  // (N, S) at each sample's last step.
  Symbol last_states() const {
    std::vector<double> start(static_cast<size_t>(states_), kNever);
    start[0] = start[1] = 0;
    const DType dtype = in_.dtype(0);
    const Symbol emitted = log_probabilities(), skips = this->skips();
    const Symbol before = same("before_all", {samples_, 2}, kNever, dtype);
    std::vector<Symbol> all = {
        part("t0", "broadcast_add", {emitted.output(0), in_.constant("start", {1, states_}, start, dtype)})};
    for (int64_t t = 1; t < steps_; ++t) {
      const std::string name = cat("t", t);
      const Symbol from = next(name, all.back(), before, skips);
      all.push_back(part(name, "elemwise_add", {from, emitted.output(static_cast<uint32_t>(t))}));
    }
    const Symbol stacked = part("all", "stack", all, {{"axis", "0"}, {"num_args", std::to_string(all.size())}});
    return part("all/last", "SequenceLast", {stacked, in_[1]}, {{"use_sequence_length", text(true)}});
  }

  const Args& in_;
  int64_t samples_, steps_, states_;
  Symbol classes_;
};

}  // namespace

Symbol ctc_step_by_step(const CtcLoss& op, const Args& in) { return ForwardVariable(op, in).loss(); }

}  // namespace tbd::mxnet
