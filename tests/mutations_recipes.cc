// Of optimizers: Adam, AdamW and LAMB, clipping, groups; of a padding row and a tied table.
#include <algorithm>
#include <cmath>

#include "graph/builder.h"
#include "mutation_edits.h"

namespace tbd {
namespace {

using Kind = Optimizer::Kind;
using Values = std::vector<double>;

UpdateDirection adam_with(double (*quotient)(const Moments&, double mean, double square)) {
  return [quotient](const Moments& s) {
    Values u(s.w.size());
    for (size_t i = 0; i < u.size(); ++i) u[i] = quotient(s, s.mean[i], s.square[i]) + s.decay * s.w[i];
    return u;
  };
}
double epsilon_in_root(const Moments& s, double mean, double square) {
  return mean / s.c1 / std::sqrt(square / s.c2 + s.optimizer.epsilon);
}
double epsilon_before_correction(const Moments& s, double mean, double square) {
  return mean / s.c1 * std::sqrt(s.c2) / (std::sqrt(square) + s.optimizer.epsilon);
}

double length(const Values& x) {
  double squares = 0;
  for (const double each : x) squares += each * each;
  return std::sqrt(squares);
}

Values trusted(const Moments& s, bool always) {
  Values u = usual_direction(s);
  const double w_norm = length(s.w), u_norm = length(u);
  if ((s.decay == 0 && !always) || w_norm == 0 || u_norm == 0) return u;
  for (double& each : u) each *= w_norm / u_norm;
  return u;
}

// Where a table is read by a lookup and by a product, the gradient of the product alone.
void halve_tied_gradient(Program& program) {
  for (Phase& phase : program.phases) {
    std::vector<Node> nodes;
    for (Node& node : phase.nodes) {
      const bool lookup = std::holds_alternative<Embedding>(node.op);
      const bool tied = lookup && std::ranges::any_of(phase.nodes, [&](const Node& other) {
                          return std::holds_alternative<Linear>(other.op) && other.inputs[1] == node.inputs[1];
                        });
      if (tied) {
        nodes.push_back({"planted/table", StopGradient{}, {node.inputs[1]}});
        node.inputs[1] = "planted/table";
      }
      nodes.push_back(node);
    }
    phase.nodes = std::move(nodes);
  }
}

}  // namespace

std::vector<Mutation> adamw_mutations() {
  const auto coupled = [](Update& update) {
    if (update.optimizer.kind == Kind::adamw) update.optimizer.kind = Kind::adam;
  };
  const auto uncorrected = [](Update& update) { update.optimizer.bias_correction = false; };
  return {
      {.name = "control", .guilty = ""},
      {.name = "control, replayed", .guilty = "", .after = replayed(usual_direction)},
      {.name = "coupled decay", .guilty = "update rule", .rewrite = each_update(coupled)},
      {.name = "no bias correction", .guilty = "update rule", .rewrite = each_update(uncorrected)},
      {.name = "epsilon inside the root", .guilty = "update rule", .after = replayed(adam_with(epsilon_in_root))},
      {.name = "epsilon before the correction",
       .guilty = "update rule",
       .after = replayed(adam_with(epsilon_before_correction))},
  };
}

std::vector<Mutation> llama_mutations() {
  using Change = std::function<void(Attention&, Surrounded&)>;
  const std::vector<Op> turned = {Reshape{{0, 0, 2, 2, 8}}, Transpose{{0, 1, 3, 2, 4}}, Reshape{{0, 0, 32}}};
  const Change heads_by_turns = [turned](Attention&, Surrounded& part) {
    part.before(0, turned);
    part.behind(turned);
  };
  const auto decay_all = [](Update& update) {
    for (ParameterGroup& group : update.groups) group.weight_decay = update.groups.front().weight_decay;
  };
  return {
      {.name = "control", .guilty = ""},
      {.name = "control, replayed", .guilty = "", .after = replayed(usual_direction)},
      {.name = "query heads take key heads in turn", .guilty = "attention '", .rewrite = around(heads_by_turns)},
      {.name = "the lookup's half of a tied gradient missing",
       .guilty = "grad/model.embed_tokens.weight",
       .rewrite = halve_tied_gradient},
      {.name = "norms decayed", .guilty = "update rule", .rewrite = each_update(decay_all)},
      {.name = "no clip", .guilty = "update rule", .rewrite = each_update([](Update& u) { u.clip_norm.reset(); })},
      {.name = "clip of each tensor", .guilty = "update rule", .after = replayed(usual_direction, true)},
  };
}

Program lookup_program() {
  Program program = {.model = "lookup", .config = "toy"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), 6}, DType::i32);
  const Tensor label = g.input("label", {Builder::batch(), 6}, DType::i32);
  const Tensor x = g.embedding("embed", ids, {.rows = 5, .width = 8, .pad = 1});
  g.loss("ce", g.softmax_cross_entropy(g.linear("head", x, {.out = 9}), label));
  g.update({.optimizer = {.kind = Kind::lamb, .epsilon = 1e-6},
            .groups = {{.weight_decay = 0.01}, {{"head.bias"}}},
            .schedule = {.base = 0.01}});
  program.step = {{.phase = "train"}};
  return program;
}

std::vector<Mutation> lookup_mutations() {
  const std::function<void(Embedding&, Node&)> train_padding = [](Embedding& op, Node&) { op.pad = -1; };
  const auto decay_all = [](Update& update) { update.groups[1].weight_decay = update.groups[0].weight_decay; };
  return {
      {.name = "control", .guilty = ""},
      {.name = "control, replayed", .guilty = "", .after = replayed([](const Moments& s) {
                                                    return trusted(s, false);
                                                  })},
      {.name = "gradient of the padding row", .guilty = "embedding 'embed'", .rewrite = each_op(train_padding)},
      {.name = "no trust ratio", .guilty = "param/rule.0", .after = replayed(usual_direction)},
      {.name = "trust ratio of undecayed", .guilty = "param/rule.1.moved", .after = replayed([](const Moments& s) {
                                                                             return trusted(s, true);
                                                                           })},
      {.name = "bias decayed",
       .guilty = "param/rule.1",
       .rewrite =
           [decay_all](Program& program) {
             for (Phase& phase : program.phases)
               if (phase.update.groups.size() == 2) decay_all(phase.update);
           }},
  };
}

}  // namespace tbd
