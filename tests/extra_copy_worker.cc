// A worker of PyTorch that copies a tensor for kExtraCopyNs in each step, when the step's pooling begins.
#include <ATen/ATen.h>
#include <ATen/record_function.h>

#include <string_view>

#include "injected_faults.h"
#include "measure/clock.h"
#include "worker/worker_main.h"

namespace {

std::unique_ptr<at::ObserverContext> copy_at_the_pool(const at::RecordFunction& function) {
  if (std::string_view(function.name()) != "aten::max_pool2d_with_indices") return nullptr;
  static const at::Tensor from = at::ones({1 << 21}), to = at::empty_like(from);
  const int64_t begin = tbd::now_ns();
  while (tbd::now_ns() - begin < tbd::kExtraCopyNs) to.copy_(from);
  return nullptr;
}

}  // namespace

int main() {
  at::addGlobalCallback(at::RecordFunctionCallback(&copy_at_the_pool).scopes({at::RecordScope::FUNCTION}));
  return tbd::worker_main(tbd::make_session);
}
