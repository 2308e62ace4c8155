// A worker of PyTorch that copies a tensor for kExtraCopyNs in each step, when the step's pooling begins; what its
// thread waits for a processor meanwhile does not count.
#include <ATen/ops/empty_like.h>
#include <ATen/ops/ones.h>
#include <ATen/record_function.h>

#include <string_view>

#include "injected_faults.h"
#include "measure/clock.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"
#include "worker/worker_main.h"

namespace {

int64_t time_with_a_processor_ns() {
  const auto schedule = tbd::parse_schedstat(tbd::read_system_file("/proc/thread-self/schedstat").value_or(""));
  return tbd::now_ns() - schedule.value_or(tbd::ThreadSchedule{}).wait_ns;
}

std::unique_ptr<at::ObserverContext> copy_at_the_pool(const at::RecordFunction& function) {
  if (std::string_view(function.name()) != "aten::max_pool2d_with_indices") return nullptr;
  static const at::Tensor from = at::ones({1 << 23}), to = at::empty_like(from);
  const int64_t begin = time_with_a_processor_ns();
  while (time_with_a_processor_ns() - begin < tbd::kExtraCopyNs) to.copy_(from);
  return nullptr;
}

}  // namespace

int main() {
  at::addGlobalCallback(at::RecordFunctionCallback(&copy_at_the_pool).scopes({at::RecordScope::FUNCTION}));
  return tbd::worker_main(tbd::make_session);
}
