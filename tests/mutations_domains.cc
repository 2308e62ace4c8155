// Of speech, of games, and of critics whose gradient is held.
#include <algorithm>

#include "graph/builder.h"
#include "mutation_edits.h"

namespace tbd {
namespace {

template <class Wanted>
Mutation op_mutation(std::string name, std::string guilty, const std::function<void(Wanted&, Surrounded&)>& change) {
  return {.name = std::move(name), .guilty = std::move(guilty), .rewrite = around(change)};
}

// Gated units written out step by step: forward, whole sequences.
class Unrolled {
 public:
  static std::string last_of(const std::string& node) { return cat("planted/", node, ".last"); }

  Unrolled(const Gru& op, const Shape& x, Surrounded& part) : part_(part), hidden_(op.hidden), steps_(x[1]) {
    const auto& in = part.node.inputs;
    gates_ = put(Linear{.out = 3 * hidden_}, {in[0], in[1], in[3]});
    h_ = put(Affine{0}, {rows(at(gates_, 0), 0, 1)});
  }

  // n = tanh(row of (weight_ih x + bias_ih) + row of (weight_hh (r h) + bias_hh)).
  void reset_before_the_product() {
    std::vector<std::string> all;
    const auto& in = part_.node.inputs;
    const std::string weight_n = slice(in[2], 0, 2), bias_n = slice(in[4], 0, 2);
    for (int64_t t = 0; t < steps_; ++t) {
      const std::string a = at(gates_, t), b = put(Linear{.out = 3 * hidden_}, {h_, in[2], in[4]});
      const std::string r = sigmoid(add(rows(a, 0, 1), rows(b, 0, 1))), z = sigmoid(add(rows(a, 1, 2), rows(b, 1, 2)));
      const std::string product = put(Linear{.out = hidden_}, {mul(r, h_), weight_n, bias_n});
      const std::string n = put(Unary{Unary::Function::tanh}, {add(rows(a, 2, 3), product)});
      h_ = add(n, mul(z, put(Binary{Binary::Function::sub}, {h_, n})));
      all.push_back(put(Reshape{{0, 1, hidden_}}, {h_}));
    }
    part_.first.push_back({last_of(part_.node.name), Affine{1}, {h_}});
    part_.node = {part_.node.name, Concat{1}, all};
  }

 private:
  std::string put(Op op, std::vector<std::string> inputs) {
    part_.first.push_back({cat("planted/", part_.node.name, ".", part_.first.size()), std::move(op), inputs});
    return part_.first.back().name;
  }
  std::string slice(const std::string& x, int64_t axis, int64_t gate, int64_t end = 3) {
    return put(Slice{.axis = axis, .begin = gate * hidden_, .end = end * hidden_}, {x});
  }
  std::string rows(const std::string& x, int64_t gate, int64_t end) { return slice(x, 1, gate, end); }
  std::string at(const std::string& x, int64_t t) {
    return put(Reshape{{0, 3 * hidden_}}, {put(Slice{.axis = 1, .begin = t, .end = t + 1}, {x})});
  }
  std::string add(const std::string& a, const std::string& b) { return put(Binary{}, {a, b}); }
  std::string mul(const std::string& a, const std::string& b) { return put(Binary{Binary::Function::mul}, {a, b}); }
  std::string sigmoid(const std::string& x) { return put(Unary{Unary::Function::sigmoid}, {x}); }

  Surrounded& part_;
  int64_t hidden_, steps_;
  std::string gates_, h_;
};

constexpr int64_t kUnrolledSteps = 4, kFeatures = 3;

void reset_before(Program& program) {
  const std::function<void(Gru&, Surrounded&)> unroll = [](Gru& op, Surrounded& part) {
    Unrolled(op, {2, kUnrolledSteps, kFeatures}, part).reset_before_the_product();
  };
  around(unroll)(program);
  for (Phase& phase : program.phases) {
    const auto rename = [](std::string& value) {
      if (value.ends_with(":1")) value = Unrolled::last_of(value.substr(0, value.size() - 2));
    };
    for (Node& node : phase.nodes) std::ranges::for_each(node.inputs, rename);
    for (auto& [name, value] : phase.outputs) rename(value);
  }
}

std::function<void(Surrounded&)> scaled(size_t from_last, double factor) {
  return [=](Surrounded& part) { part.before(part.node.inputs.size() - from_last, {Affine{factor}}); };
}

void scale_term(Program& program, const std::string& name, double factor) {
  for (Phase& phase : program.phases)
    for (LossTerm& term : phase.loss)
      if (term.name == name) term.norm *= factor;
}

// The planes of (N, 17, B, B) from the last to the first.
void reverse_planes(HostTensor& x) {
  constexpr size_t kPlanes = 17;
  if (x.shape().rank() != 4 || x.shape()[1] != kPlanes) return;
  const auto samples = static_cast<size_t>(x.shape()[0]), bytes = x.bytes().size() / samples / kPlanes;
  for (size_t n = 0; n < samples; ++n)
    for (size_t p = 0; p < kPlanes / 2; ++p) {
      const auto at = [&](size_t plane) { return x.bytes().data() + (n * kPlanes + plane) * bytes; };
      std::swap_ranges(at(p), at(p) + bytes, at(kPlanes - 1 - p));
    }
}

// What a convolution reads is an input, or, of a node alone, a parameter.
void reverse_planes_read(StepJob& job) {
  for (const Phase& phase : job.program.phases)
    for (const Node& node : phase.nodes) {
      if (!std::holds_alternative<Conv2d>(node.op)) continue;
      for (StepRun& run : job.runs) {
        if (const auto input = run.inputs.find(node.inputs[0]); input != run.inputs.end())
          reverse_planes(input->second);
        const auto operand = run.weights.find("param/" + node.inputs[0]);
        if (operand != run.weights.end()) reverse_planes(operand->second);
      }
    }
}

// What a worker would refuse that does not run it.
void drop_last_critic_run(StepJob& job) {
  for (StepRun& run : job.runs)
    std::erase_if(run.inputs, [](const auto& input) { return input.first.starts_with("critic.2/"); });
}

// One draw for all samples, where each has its own. The masks, whose shape a dropout told, are of images.
void drop_by_batch(Program& program) {
  const std::function<void(Dropout&, Surrounded&)> share = [](Dropout& op, Surrounded& part) {
    const std::string mask = part.node.inputs.back(), first = cat("planted/", part.node.name, ".first");
    const std::string factor = cat("planted/", part.node.name, ".factor");
    part.first.push_back({first, Slice{.axis = 0, .begin = 0, .end = 1}, {mask}});
    part.first.push_back({factor, Affine{1 / (1 - op.p)}, {first}});
    part.node = {part.node.name, Binary{Binary::Function::mul}, {part.node.inputs[0], factor}};
  };
  for (Phase& phase : program.phases)
    for (InputSpec& input : phase.inputs)
      for (const Node& node : phase.nodes)
        if (std::holds_alternative<Dropout>(node.op) && input.like == node.name)
          input = {input.name, {Builder::batch(), 1, 1, 1}, input.dtype, ""};
  around(share)(program);
}

// Where the step list is a whole one: a phase that stands alone has no ratio.
std::function<void(Program&)> each_entry(const std::function<void(StepEntry&)>& change) {
  return [=](Program& program) {
    if (program.step.size() > 1) std::ranges::for_each(program.step, change);
  };
}

}  // namespace

Program gated_program() {
  Program program = {.model = "gated", .config = "toy"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), kUnrolledSteps, kFeatures});
  const Tensor label = g.input("label", {Builder::batch(), kUnrolledSteps}, DType::i32);
  const Tensor y = g.gru("rnn", x, {.hidden = 5}).y;
  g.loss("ce", g.softmax_cross_entropy(g.linear("head", y, {.out = 4}), label));
  g.update({.optimizer = {.momentum = 0.9}, .schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

std::vector<Mutation> gated_mutations() {
  const auto biased = [](std::string name, size_t from_last, double factor) {
    return op_mutation<Gru>(std::move(name), "gru '", [=](Gru&, Surrounded& p) { scaled(from_last, factor)(p); });
  };
  return {{.name = "control", .guilty = ""},
          {.name = "reset before the product", .guilty = "gru '", .rewrite = reset_before},
          biased("one bias", 1, 0),
          biased("a bias counted twice", 2, 2)};
}

std::vector<Mutation> speech_mutations() {
  return {
      {.name = "control", .guilty = ""},
      op_mutation<CtcLoss>("the last class is the blank", "ctc_loss '", [](CtcLoss& op, Surrounded&) { op.blank = 4; }),
      // Of integers, so no node is judged alone: the whole step tells.
      op_mutation<StridedLength>("lengths of another stride", "output/logits",
                                 [](StridedLength& op, Surrounded&) { op.stride = 3; }),
      op_mutation<Clamp>("clamped at 0", "clamp '", [](Clamp& op, Surrounded&) { op.low = 0; }),
      op_mutation<Gru>("never reversed", "gru '", [](Gru& op, Surrounded&) { op.reverse = false; })};
}

std::vector<Mutation> penalty_mutations() {
  using B = Binary::Function;
  const auto beyond = [](Binary& op, Surrounded& part) {  // real + alpha (real - fake)
    if (op.function == B::sub) std::swap(part.node.inputs[0], part.node.inputs[1]);
  };
  return {{.name = "control", .guilty = ""},
          op_mutation<Binary>("penalty beyond the real image", "sub", beyond),
          {.name = "no lambda", .guilty = "term/penalty", .rewrite = [](Program& p) { scale_term(p, "penalty", 0.1); }},
          {.name = "one critic step fewer",
           .guilty = "output/d_",
           .rewrite = each_entry([](StepEntry& entry) { entry.repeat -= entry.repeat > 1; }),
           .before = drop_last_critic_run},
          {.name = "a generator from the first step on",
           .guilty = "output/d_",
           .rewrite = each_entry([](StepEntry& entry) { entry.from_step = 1; })},
          {.name = "the critic's sign", .guilty = "term/wasserstein", .rewrite = [](Program& p) {
             scale_term(p, "wasserstein", -1);
           }}};
}

std::vector<Mutation> detection_mutations() {
  return {{.name = "control", .guilty = ""},
          {.name = "stochastic depth by batch", .guilty = "dropout 'drop_path", .rewrite = drop_by_batch},
          op_mutation<SigmoidFocal>("the share of the other side", "sigmoid_focal '",
                                    [](SigmoidFocal& op, Surrounded&) { op.alpha = 1 - op.alpha; }),
          op_mutation<SigmoidFocal>("the paper's exponent", "sigmoid_focal '",
                                    [](SigmoidFocal& op, Surrounded&) { op.gamma = 2; }),
          op_mutation<BceWithLogits>("targets of mask cut at a half", "bce_with_logits '",
                                     [](BceWithLogits&, Surrounded& part) { part.before(1, {Greater{0.5}}); }),
          op_mutation<ConvTranspose2d>("a bias counted twice", "conv_transpose2d 'mask",
                                       [](ConvTranspose2d&, Surrounded& part) { scaled(1, 2)(part); }),
          {.name = "mean over the wrong count", .guilty = "term/class", .rewrite = [](Program& p) {
             scale_term(p, "class", 0.5);
           }}};
}

std::vector<Mutation> board_mutations() {
  return {{.name = "control", .guilty = ""},
          op_mutation<SquaredError>("value of the other side", "squared_error '",
                                    [](SquaredError&, Surrounded& part) { part.before(1, {Affine{-1}}); }),
          {.name = "planes in another order", .guilty = "conv2d 'stem.conv", .before = reverse_planes_read}};
}

}  // namespace tbd
