// Of ops on sequences: attention, positions, recurrence, and their loss.
#include <cmath>
#include <numbers>

#include "mutation_edits.h"

namespace tbd {
namespace {

template <class Wanted>
Mutation node_mutation(std::string name, std::string guilty, const std::function<void(Wanted&)>& change) {
  const std::function<void(Wanted&, Node&)> of_node = [change](Wanted& op, Node&) { change(op); };
  return {.name = std::move(name), .guilty = std::move(guilty), .rewrite = each_op(of_node)};
}
template <class Wanted>
Mutation graph_mutation(std::string name, std::string guilty, const std::function<void(Wanted&, Surrounded&)>& change) {
  return {.name = std::move(name), .guilty = std::move(guilty), .rewrite = around(change)};
}

// x (1 + tanh((2 / pi)^1/2 (x + 0.044715 x^3))) / 2. Hendrycks and Gimpel 2016, arXiv:1606.08415, section 2.
void gelu_by_tanh(Unary& op, Surrounded& part) {
  if (op.function != Unary::Function::gelu) return;
  const std::string x = part.node.inputs[0], root = part.node.name;
  const auto add = [&](const char* name, const Op& with, std::vector<std::string> inputs) {
    part.first.push_back({cat("planted/", root, name), with, std::move(inputs)});
    return part.first.back().name;
  };
  const std::string square = add(".square", Unary{Unary::Function::square}, {x});
  const std::string cube = add(".cube", Binary{Binary::Function::mul}, {square, x});
  const std::string small = add(".small", Affine{0.044715}, {cube});
  const std::string sum = add(".sum", Binary{Binary::Function::add}, {x, small});
  const std::string inner = add(".inner", Affine{std::sqrt(2 / std::numbers::pi)}, {sum});
  const std::string tanh = add(".tanh", Unary{Unary::Function::tanh}, {inner});
  part.node = {root, Binary{Binary::Function::mul}, {x, add(".half", Affine{0.5, 0.5}, {tanh})}};
}

// Pairs of neighbours in place of halves; heads of 4.
void rotate_neighbours(Rotary&, Surrounded& part) {
  const std::vector<Op> swapped = {Reshape{{0, 0, 0, 2, 2}}, Transpose{{0, 1, 2, 4, 3}}, Reshape{{0, 0, 0, 4}}};
  part.before(0, swapped);
  part.behind(swapped);
}

// sin, cos, sin, cos ... in place of halves; width 8.
void interleave(Sinusoid&, Surrounded& part) {
  part.behind({Reshape{{0, 0, 2, 4}}, Transpose{{0, 1, 3, 2}}, Reshape{{0, 0, 8}}});
}

// i, g, f, o: the middle gates change places. Hidden 3.
void other_gate_order(Lstm&, Surrounded& part) {
  const size_t all = part.node.inputs.size();
  for (size_t i = all - 4; i < all; ++i) {
    const Reshape back = i < all - 2 ? Reshape{{12, -1}} : Reshape{{12}};
    part.before(i, {Reshape{{2, 2, 3, -1}}, Transpose{{1, 0, 2, 3}}, back});
  }
}

std::vector<Mutation> attention_mutations() {
  return {
      node_mutation<Attention>("not causal", "attention 'causal_attn", [](Attention& op) { op.causal = false; }),
      graph_mutation<Attention>("mask left out", "attention '",
                                [](Attention&, Surrounded& part) { part.node.inputs.resize(3); }),
      graph_mutation<Attention>("mask of the wrong sign", "attention '",
                                [](Attention&, Surrounded& part) { part.before(3, {Affine{-1}}); }),
      graph_mutation<Attention>("scores over d in place of its root", "attention '",
                                [](Attention&, Surrounded& part) { part.before(0, {Affine{0.5}}); }),
      node_mutation<Rotary>("another theta", "rotary '", [](Rotary& op) { op.theta = 500'000; }),
      graph_mutation<Rotary>("neighbours rotated", "rotary '", rotate_neighbours),
  };
}

std::vector<Mutation> loss_mutations() {
  using Loss = SoftmaxCrossEntropy;
  const auto of_all = [](Program& program) {
    for (Phase& phase : program.phases)
      for (LossTerm& term : phase.loss)
        if (term.name == "ce") term.norm /= 7;
  };
  return {
      node_mutation<Loss>("smoothing over all classes", Loss::kKind.data(),
                          [](Loss& op) { op.spread = Loss::Spread::all; }),
      node_mutation<Loss>("padding counted", Loss::kKind.data(), [](Loss& op) { op.ignore = -1; }),
      {.name = "norm by tokens in place of samples", .guilty = "term/ce", .rewrite = of_all},
  };
}

}  // namespace

std::vector<Mutation> token_mutations() {
  const auto uncorrected = [](Update& update) {
    if (update.optimizer.kind == Optimizer::Kind::adam) {
      update.optimizer.kind = Optimizer::Kind::adamw;  // without decay, adamw is adam
      update.optimizer.bias_correction = false;
    }
  };
  std::vector<Mutation> out = {
      {.name = "control", .guilty = ""},
      node_mutation<RmsNorm>("epsilon of rms_norm", "rms_norm '", [](RmsNorm& op) { op.eps = 1e-6; }),
      node_mutation<LayerNorm>("epsilon of layer_norm", "layer_norm '", [](LayerNorm& op) { op.eps = 1e-6; }),
      graph_mutation<Unary>("gelu by tanh", "gelu", gelu_by_tanh),
      node_mutation<Affine>("embedding not scaled", "affine '",
                            [](Affine& op) {
                              if (op.factor > 1) op.factor = 1;
                            }),
      graph_mutation<Sinusoid>("waves interleaved", "sinusoid '", interleave),
      node_mutation<Sinusoid>("positions off by one", "sinusoid '", [](Sinusoid& op) { op.first -= 1; }),
      {.name = "no bias correction", .guilty = "update rule", .rewrite = each_update(uncorrected)},
  };
  for (std::vector<Mutation> more : {attention_mutations(), loss_mutations()})
    for (Mutation& each : more) out.push_back(std::move(each));
  return out;
}

std::vector<Mutation> recurrent_mutations() {
  return {
      {.name = "control", .guilty = ""},
      graph_mutation<Lstm>("lengths left out", "lstm '",
                           [](Lstm&, Surrounded& part) { part.node.inputs.erase(part.node.inputs.begin() + 1); }),
      graph_mutation<Lstm>("another order of gates", "lstm '", other_gate_order),
      node_mutation<Lstm>("never reversed", "lstm '", [](Lstm& op) { op.reverse = false; }),
      graph_mutation<LstmCell>(
          "one bias", "lstm_cell '",
          [](LstmCell&, Surrounded& part) { part.before(part.node.inputs.size() - 1, {Affine{0}}); }),
  };
}

}  // namespace tbd
