// The gates can fail: every known difference between frameworks is planted, caught, and named.
#include "mutations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/files.h"
#include "graph/builder.h"
#include "runner/equivalence/equivalence.h"
#include "runner/equivalence/update_rule.h"

namespace tbd {

namespace {

using ::testing::HasSubstr;

template <class Wanted>
std::function<void(Program&)> each_op(const std::function<void(Wanted&, Node&)>& change) {
  return [change](Program& program) {
    for (Phase& phase : program.phases)
      for (Node& node : phase.nodes)
        if (auto* op = std::get_if<Wanted>(&node.op)) change(*op, node);
  };
}

std::function<void(Program&)> each_update(const std::function<void(Update&)>& change) {
  return [change](Program& program) {
    for (Phase& phase : program.phases) change(phase.update);
  };
}

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

// u = m / sqrt(v + epsilon) in place of m / (sqrt(v) + epsilon); the states are what they were.
void put_epsilon_inside(const StepJob& job, std::vector<StepRunResult>& results) {
  if (job.program.phases.size() < 2) return;
  const Update& update = job.program.phases[1].update;
  const Optimizer& o = update.optimizer;
  for (size_t run = 0; run < results.size(); ++run)
    for (const ParameterGroup& group : update.groups)
      for (const std::string& name : group.parameters) {
        std::vector<double> w = as_doubles(job.runs[run].weights.at("param/" + name));
        for (size_t stop = 0; stop < results[run].at.size(); ++stop) {
          TensorMap& tensors = results[run].at[stop];
          const double t = static_cast<double>(stop + 1), lr = kRuleRate * group.lr_scale;
          const std::vector<double> m = as_doubles(tensors.at("state/" + name + "/exp_avg"));
          const std::vector<double> v = as_doubles(tensors.at("state/" + name + "/exp_avg_sq"));
          for (size_t i = 0; i < w.size(); ++i) {
            const double mean = m[i] / (1 - std::pow(o.beta1, t)), square = v[i] / (1 - std::pow(o.beta2, t));
            w[i] -= lr * (group.weight_decay * w[i] + mean / std::sqrt(square + o.epsilon));
            tensors.at("param/" + name).as<float>()[i] = static_cast<float>(w[i]);
          }
        }
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

Stepper mutated(const Mutation& mutation, const Stepper& step) {
  return [&mutation, &step](const StepJob& job) {
    StepJob changed = job;
    if (mutation.rewrite) mutation.rewrite(changed.program);
    if (mutation.before) mutation.before(changed);
    std::vector<StepRunResult> results = step(changed);
    if (mutation.after) mutation.after(changed, results);
    return results;
  };
}

std::vector<Mutation> sgd_mutations() {
  using Norm = std::function<void(BatchNorm&, Node&)>;
  const Norm other_momentum = [](BatchNorm& op, Node&) { op.momentum = 1 - op.momentum; };
  const Norm stale = [](BatchNorm& op, Node&) { op.momentum = 0; };
  const Norm epsilon_outside = [](BatchNorm& op, Node&) { op.eps = 2 * op.eps + op.eps * op.eps; };  // at variance 1
  const std::function<void(Conv2d&, Node&)> other_pads = [](Conv2d& op, Node&) {
    std::swap(op.pads.top, op.pads.bottom), std::swap(op.pads.left, op.pads.right);
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

std::vector<Mutation> adamw_mutations() {
  return {
      {.name = "control", .guilty = ""},
      {.name = "coupled decay", .guilty = "update rule", .rewrite = each_update([](Update& update) {
                                                           if (update.optimizer.kind == Optimizer::Kind::adamw)
                                                             update.optimizer.kind = Optimizer::Kind::adam;
                                                         })},
      {.name = "epsilon inside the root", .guilty = "update rule", .after = put_epsilon_inside},
  };
}

namespace {

class Mutations : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_.workers = read_workers(std::filesystem::path(TBD_BINARY_DIR) / "workers.json");
    const auto is_pytorch = [](const WorkerEntry& entry) { return entry.framework == "pytorch"; };
    if (std::ranges::none_of(settings_.workers, is_pytorch)) GTEST_SKIP() << "no pytorch worker is built";
    settings_.environment = {{"PATH", "/usr/bin:/bin"}};
    const Stepper worker = worker_stepper(*std::ranges::find_if(settings_.workers, is_pytorch), settings_);
    step_ = [this, worker](const StepJob& job) { return remembered(job, worker); };
  }

  void expect_caught(const Program& program, const std::vector<Mutation>& mutations) {
    const Equivalence equivalence(program, {.batch = 4}, step_);
    for (const Mutation& mutation : mutations) {
      SCOPED_TRACE(mutation.name);
      const FrameworkVerdict verdict = equivalence.judge({"pytorch", "mutated", mutated(mutation, step_)});
      EXPECT_EQ(verdict.fault, "");
      EXPECT_EQ(verdict.passed(), mutation.guilty.empty()) << to_json(verdict).dump(1);
      if (mutation.guilty.empty() || !verdict.guilty()) continue;
      EXPECT_THAT(verdict.guilty()->where, HasSubstr(mutation.guilty)) << sentence(*verdict.guilty());
      for (const Finding& finding : verdict.gates.front().failed)  // no other node is accused
        EXPECT_THAT(finding.where, HasSubstr(mutation.guilty));
    }
  }

  // A mutation that touches results alone needs no launch of its own.
  std::vector<StepRunResult> remembered(const StepJob& job, const Stepper& worker) {
    std::string key = cat(to_json(job.program).dump(), job.precision, job.layout, job.threads, job.runs.size());
    for (const StepRun& run : job.runs)
      for (const auto& [name, tensor] : run.inputs)
        key.append(name).append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    {
      const std::lock_guard lock(guard_);
      if (const auto found = done_.find(key); found != done_.end()) return found->second;
    }
    std::vector<StepRunResult> results = worker(job);
    const std::lock_guard lock(guard_);
    return done_[key] = std::move(results);
  }

  RunnerSettings settings_;
  Stepper step_;
  std::mutex guard_;
  std::map<std::string, std::vector<StepRunResult>> done_;
};

TEST_F(Mutations, OfOpsLossAndSgdAreCaughtAtTheRightPlace) {
  const Update sgd = {.optimizer = {.momentum = 0.9}, .groups = {{.weight_decay = 1e-4}}, .schedule = {.base = 0.01}};
  expect_caught(mutable_program(sgd), sgd_mutations());
}

TEST_F(Mutations, OfAdamwAreCaught) {
  const Update adamw = {
      .optimizer = {.kind = Optimizer::Kind::adamw}, .groups = {{.weight_decay = 0.01}}, .schedule = {.base = 1e-3}};
  expect_caught(mutable_program(adamw), adamw_mutations());
}

}  // namespace
}  // namespace tbd
