// What dispatch costs: a 20-layer perceptron of width 32 by the session, and by the same calls written out by hand.
// Driven by bench/mlp20_peer.py (bench/serve.h), or alone:
//   bench_pytorch_dispatch [--batch 8] [--threads 1] [--steps 2000]   one JSON line: medians and their ratio
#include <ATen/Parallel.h>
#include <ATen/core/Reduction.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "graph/builder.h"
#include "serve.h"
#include "session_setup.h"

using namespace tbd;

namespace {

constexpr int kLayers = 20;
constexpr int64_t kWidth = 32, kClasses = 10;
constexpr double kRate = 0.01, kMomentum = 0.9;

Program perceptron() {
  Program program = {.model = "bench", .config = "mlp20"};
  Builder g(program, "train");
  Tensor x = g.input("x", {Builder::batch(), kWidth});
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  for (int layer = 0; layer < kLayers - 1; ++layer) x = g.relu(g.linear(cat("layers.", layer), x, {.out = kWidth}));
  g.loss("ce", g.softmax_cross_entropy(g.linear("layers.19", x, {.out = kClasses}), label));
  g.update({.optimizer = {.momentum = kMomentum}, .schedule = {.base = kRate}});
  program.step = {{.phase = "train"}};
  return program;
}

// The same step as a person would write it in C++ for this network alone.
class StraightLine {
 public:
  explicit StraightLine(int64_t batch)
      : x_(at::randn({batch, kWidth})), label_(at::randint(kClasses, {batch}, at::kLong)) {
    for (int layer = 0; layer < kLayers; ++layer) {
      const int64_t out = layer + 1 < kLayers ? kWidth : kClasses;
      add(at::randn({out, kWidth}).mul(1 / std::sqrt(kWidth)));
      add(at::randn({out}).mul(0.1));
    }
  }

  double step() {
    at::Tensor h = at::linear(x_, parameters_[0], parameters_[1]);
    for (size_t p = 2; p < parameters_.size(); p += 2) h = at::linear(h.relu_(), parameters_[p], parameters_[p + 1]);
    const at::Tensor loss = at::cross_entropy_loss(h, label_, {}, at::Reduction::Mean);
    h.reset();
    torch::autograd::backward({loss});
    const at::NoGradGuard no_grad;
    std::vector<at::Tensor> gradients;
    for (const at::Tensor& p : parameters_) gradients.push_back(p.grad());
    at::_fused_sgd_(parameters_, gradients, momenta_, 0.0, kMomentum, kRate, 0.0, false, false, false);
    for (const at::Tensor& p : parameters_) p.mutable_grad().reset();
    return loss.item<double>();
  }

 private:
  void add(const at::Tensor& value) {
    momenta_.push_back(at::zeros_like(value));
    parameters_.push_back(value.clone().requires_grad_());
  }

  at::Tensor x_, label_;
  std::vector<at::Tensor> parameters_, momenta_;
};

double median(const Json& values) {
  std::vector<double> v = values.get<std::vector<double>>();
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  auto flags = bench::flags(argc, argv);
  bench::Workload workload = {.program = perceptron(), .batch = 8, .threads = 1, .layout = ImageLayout::kNchw};
  if (flags.contains("batch")) workload.batch = std::stoll(flags["batch"]);
  if (flags.contains("threads")) workload.threads = std::stoll(flags["threads"]);
  const std::unique_ptr<Session> session = bench::make_loaded(workload);
  StraightLine straight(workload.batch);
  const bench::Programs programs = {{"tbd", bench::stepper(*session, {})}, {"straight_line", [&] { straight.step(); }}};
  bench::run_steps(programs, 200);
  if (!flags.contains("steps")) {
    bench::serve(programs, [] { return Json::object(); });
    return 0;
  }
  const Json times = bench::run_steps(programs, std::stoll(flags["steps"]));
  const double ours = median(times["tbd"]), theirs = median(times["straight_line"]);
  std::cout << Json{{"tbd_step_s", ours}, {"straight_line_step_s", theirs}, {"ratio", ours / theirs}}.dump()
            << std::endl;
}
