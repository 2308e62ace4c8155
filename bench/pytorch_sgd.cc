// SGD with momentum and decay over ResNet-50's parameters: torch's fused kernel against its foreach ops, taking turns.
//   bench_pytorch_sgd [--threads 1] [--steps 50]   one JSON line: median seconds and their ratio
#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/_foreach_add.h>
#include <ATen/ops/_foreach_mul.h>
#include <ATen/ops/_fused_sgd.h>
#include <ATen/ops/randn.h>

#include <algorithm>

#include "backends/pytorch/tensors.h"
#include "models/model.h"
#include "serve.h"

using namespace tbd;

namespace {

using List = std::vector<at::Tensor>;
constexpr double kRate = 0.1, kMomentum = 0.9, kDecay = 1e-4;

struct State {
  List parameters, gradients, momenta;
};

State state_of(const Program& program) {
  State state;
  for (const Parameter& p : program.parameters)
    for (List* list : {&state.parameters, &state.gradients, &state.momenta})
      list->push_back(at::randn(pytorch::sizes(p.shape)));
  return state;
}

void fused(State& s) {
  at::_fused_sgd_(s.parameters, s.gradients, s.momenta, kDecay, kMomentum, kRate, 0.0, false, false, false);
}

void foreach (State& s) {
  const List decayed = at::_foreach_add(s.gradients, s.parameters, kDecay);
  at::_foreach_mul_(s.momenta, kMomentum);
  at::_foreach_add_(s.momenta, decayed);
  at::_foreach_add_(s.parameters, s.momenta, -kRate);
}

double median(std::vector<double> v) {
  std::nth_element(v.begin(), v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2), v.end());
  return v[v.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  auto flags = bench::flags(argc, argv);
  at::set_num_threads(flags.contains("threads") ? std::stoi(flags["threads"]) : 1);
  const at::NoGradGuard no_grad;
  const Program program = find_model("resnet50").config("canonical").program();
  State a = state_of(program), b = state_of(program);
  const bench::Programs programs = {{"fused", [&] { fused(a); }}, {"foreach", [&] {
                                                                     foreach (b)
                                                                       ;
                                                                   }}};
  bench::run_steps(programs, 3);
  const Json times = bench::run_steps(programs, flags.contains("steps") ? std::stoll(flags["steps"]) : 50);
  const double one = median(times["fused"]), other = median(times["foreach"]);
  std::cout << Json{{"fused_s", one}, {"foreach_s", other}, {"ratio", one / other}}.dump() << std::endl;
}
