// What the back-end itself costs in a ResNet-50 step: its code unchanged, with every call into a torch kernel replaced
// by nothing. This file defines the lowerings, autograd::backward and the optimizer's kernel, so the linker takes these
// instead of the real ones; a lowering hands out a tensor made before.
//   bench_pytorch_overhead [--config canonical] [--batch 8] [--steps 2000]   one JSON line: CPU seconds a step
#include <ATen/core/Tensor.h>
#include <ATen/ops/_fused_sgd_ops.h>
#include <ATen/ops/ones.h>
#include <torch/csrc/autograd/autograd.h>

#include <ctime>

#include "backends/pytorch/lowering.h"
#include "serve.h"
#include "session_setup.h"

namespace {

int64_t lowered = 0, backwards = 0, updates = 0;

const at::Tensor& made_before() {
  static const at::Tensor value = at::ones({}).requires_grad_();
  return value;
}

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

namespace tbd::pytorch {
at::Tensor stub(at::Tensor*) {
  ++lowered;
  return made_before();
}
std::vector<at::Tensor> stub(std::vector<at::Tensor>*) { return {made_before()}; }
#define TBD_STUB(Op)                                                                             \
  Lowered<Op> lower(const Op&, const Args&) { return stub(static_cast<Lowered<Op>*>(nullptr)); } \
  LoweredAs lowered_as(const Op&, size_t) { return {}; }
TBD_EACH_OP(TBD_STUB)
#undef TBD_STUB
}  // namespace tbd::pytorch

// The session asks each parameter for its gradient: hands out none computed, but one each.
namespace {
std::vector<at::Tensor> trained;
}
namespace torch::autograd {
void backward(const variable_list&, const variable_list&, std::optional<bool>, bool, const variable_list&) {
  ++backwards;
  for (const at::Tensor& parameter : trained) parameter.mutable_grad() = made_before();
}
}  // namespace torch::autograd

namespace at::_ops {
void _fused_sgd_::call(at::TensorList self, at::TensorList, at::TensorList, double, double, double, double, bool, bool,
                       bool, const ::std::optional<at::Tensor>&, const ::std::optional<at::Tensor>&) {
  ++updates;
  if (trained.empty()) trained = self.vec();
}
}  // namespace at::_ops

using namespace tbd;

int main(int argc, char** argv) {
  auto flags = bench::flags(argc, argv);
  bench::Workload workload = {
      .program = find_model("resnet50").config(flags.contains("config") ? flags["config"] : "canonical").program()};
  workload.batch = flags.contains("batch") ? std::stoll(flags["batch"]) : 8;
  workload.threads = 1;
  const int64_t steps = flags.contains("steps") ? std::stoll(flags["steps"]) : 2000;
  const std::unique_ptr<Session> session = bench::make_loaded(workload);
  const auto run = [&](int64_t number) {
    session->step({.number = number, .schedule_step = number, .lr = {}, .only_phase = {}});
  };
  for (int64_t i = 1; i <= 100; ++i) run(i);
  lowered = backwards = updates = 0;
  const double start = cpu_seconds();
  for (int64_t i = 1; i <= steps; ++i) run(100 + i);
  const double used = cpu_seconds() - start;
  require(backwards == steps && updates == steps, "the kernels were not replaced");
  std::cout << Json{{"own_cpu_s_per_step", used / static_cast<double>(steps)},
                    {"calls_replaced_per_step", (lowered + backwards + updates) / steps}}
                   .dump()
            << std::endl;
}
