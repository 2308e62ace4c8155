// Of layers, their loss and sgd.
#include <algorithm>
#include <cmath>

#include "graph/builder.h"
#include "graph/graph.h"
#include "mutation_edits.h"

namespace tbd {
namespace {

void forget_bias(Program& program) {
  for (Phase& phase : program.phases)
    for (Node& node : phase.nodes) {
      auto* linear = std::get_if<Linear>(&node.op);
      if (!linear || !linear->bias) continue;
      for (ParameterGroup& group : phase.update.groups) std::erase(group.parameters, node.inputs.back());
      linear->bias = false;
      node.inputs.pop_back();
    }
}

// y = x w in place of x w^T.
void transpose_square_weights(Program& program) {
  for (Phase& phase : program.phases)
    for (Node& node : phase.nodes)
      if (const auto* linear = std::get_if<Linear>(&node.op); linear && !linear->bias) node.op = Matmul{};
}

void shift_labels(StepJob& job) {
  constexpr int32_t kClasses = 5;
  for (StepRun& run : job.runs)
    for (auto& [name, tensor] : run.inputs)
      if (tensor.dtype() == DType::i32)
        for (int32_t& label : tensor.as<int32_t>()) label = (label + 1) % kClasses;
}

// Running variances grow by the biased variance: (n - 1) / n of each increment.
void bias_variances(const StepJob& job, std::vector<StepRunResult>& results) {
  const Graph graph = bind(job.program, job.program.phases.front(), job.bindings);
  for (const BoundNode& node : graph.nodes) {
    const auto* norm = std::get_if<BatchNorm>(&node.op);
    if (!norm) continue;
    const Shape& x = graph.value(node.inputs[0]).shape;
    const double n = static_cast<double>(x.elements() / x[1]);
    const std::string name = "buffer/" + graph.value(node.inputs.back()).name;
    for (size_t run = 0; run < results.size(); ++run)
      for (size_t stop = 0; stop < results[run].at.size(); ++stop) {
        const auto found = results[run].at[stop].find(name);
        if (found == results[run].at[stop].end()) continue;
        const double kept = std::pow(1 - norm->momentum, static_cast<double>(job.runs[run].stops[stop].step));
        const HostTensor& start = job.runs[run].weights.at(name);
        for (size_t i = 0; i < start.as<float>().size(); ++i) {
          float& value = found->second.as<float>()[i];
          const double old = kept * start.as<float>()[i];
          value = static_cast<float>(old + (value - old) * (n - 1) / n);
        }
      }
  }
}

// The gradient of every 1 x 1 convolution's weight.
void enlarge_a_gradient(const StepJob& job, std::vector<StepRunResult>& results) {
  for (const Node& node : job.program.phases.front().nodes) {
    const auto* conv = std::get_if<Conv2d>(&node.op);
    if (!conv || !(conv->kernel == Extent2(1))) continue;
    for (StepRunResult& result : results)
      for (TensorMap& tensors : result.at)
        if (const auto found = tensors.find("grad/" + node.inputs[1]); found != tensors.end())
          for (float& x : found->second.as<float>()) x *= 1.05F;
  }
}

}  // namespace

Program mutable_program(const Update& update) {
  Program program = {.model = "mutable", .config = "toy"};
  Builder g(program, "train");
  Tensor x = g.input("image", {Builder::batch(), 4, 9, 9});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  x = g.conv2d("same", x, {.out = 8, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}});
  x = g.max_pool(g.relu(g.batch_norm("bn", x, {.eps = 1e-3})), {.kernel = 2});
  x = g.relu(g.conv2d("conv2", x, {.out = 8, .kernel = 1, .bias = true}));
  x = g.linear("square", g.global_mean(x), {.out = 8, .bias = false});
  x = g.linear("head", g.tanh(x), {.out = 5});
  g.output("logits", x);
  g.loss("ce", g.softmax_cross_entropy(x, label));
  g.update(update);
  program.step = {{.phase = "train"}};
  return program;
}

std::vector<Mutation> sgd_mutations() {
  using Norm = std::function<void(BatchNorm&, Node&)>;
  const Norm other_momentum = [](BatchNorm& op, Node&) { op.momentum = 1 - op.momentum; };
  const Norm stale = [](BatchNorm& op, Node&) { op.momentum = 0; };
  const Norm epsilon_outside = [](BatchNorm& op, Node&) { op.eps = 2 * op.eps + op.eps * op.eps; };  // at variance 1
  const std::function<void(Conv2d&, Node&)> other_pads = [](Conv2d& op, Node&) {
    std::swap(op.pads.top, op.pads.bottom);
    std::swap(op.pads.left, op.pads.right);
  };
  const auto sum_for_mean = [](Program& program) {
    for (Phase& phase : program.phases)
      for (LossTerm& term : phase.loss)
        if (term.name == "ce") term.norm *= 4;
  };
  const auto no_decay = [](Update& update) {
    for (ParameterGroup& group : update.groups) group.weight_decay = 0;
  };
  return {
      {.name = "control", .guilty = ""},
      {.name = "batch-norm momentum", .guilty = "batch_norm 'bn'", .rewrite = each_op(other_momentum)},
      {.name = "biased running variance", .guilty = "batch_norm 'bn'", .after = bias_variances},
      {.name = "asymmetric padding", .guilty = "conv2d 'same'", .rewrite = each_op(other_pads)},
      {.name = "Nesterov", .guilty = "update rule", .rewrite = each_update([](Update& update) {
                                                      update.optimizer.nesterov = update.optimizer.momentum > 0;
                                                    })},
      {.name = "epsilon outside the root", .guilty = "batch_norm 'bn'", .rewrite = each_op(epsilon_outside)},
      {.name = "label off by one", .guilty = "softmax_cross_entropy", .before = shift_labels},
      {.name = "missing bias", .guilty = "linear 'head'", .rewrite = forget_bias},
      {.name = "stale running statistics", .guilty = "batch_norm 'bn'", .rewrite = each_op(stale)},
      {.name = "transposed weight", .guilty = "linear 'square'", .rewrite = transpose_square_weights},
      {.name = "loss sum for mean", .guilty = "term/ce", .rewrite = sum_for_mean},
      {.name = "gradient 5 % too large", .guilty = "conv2d 'conv2'", .after = enlarge_a_gradient},
      {.name = "decay left out", .guilty = "update rule", .rewrite = each_update(no_decay)},
  };
}

}  // namespace tbd
