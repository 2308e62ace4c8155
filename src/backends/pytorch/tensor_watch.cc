#include "backends/pytorch/tensor_watch.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <ATen/record_function.h>

#include <atomic>
#include <memory>

#include "base/error.h"

namespace tbd::pytorch {
namespace {

// torch's callbacks are plain functions, and autograd calls them on threads of its own.
std::atomic<MemoryLedger*> told{nullptr};

void show(MemoryLedger& ledger, const at::Tensor& tensor) {
  if (tensor.defined() && tensor.has_storage()) ledger.show_tensor(tensor.storage().data());
}

void show(MemoryLedger& ledger, const c10::IValue& value) {
  if (value.isTensor()) return show(ledger, value.toTensor());
  if (!value.isList()) return;
  for (const c10::IValue& each : value.toListRef()) show(ledger, each);
}

std::unique_ptr<at::ObserverContext> show_operands(const at::RecordFunction& function) {
  MemoryLedger* const ledger = told.load();
  if (!ledger) return nullptr;
  for (const c10::IValue& operand : function.inputs()) show(*ledger, operand);
  return nullptr;
}

void show_results(const at::RecordFunction& function, at::ObserverContext*) {
  MemoryLedger* const ledger = told.load();
  if (!ledger) return;
  for (const c10::IValue& result : function.outputs()) show(*ledger, result);
}

}  // namespace

TensorWatch::TensorWatch(MemoryLedger& ledger) {
  require(!told.load(), "one watch of tensors at a time");
  ledger.tell_tensors();
  told.store(&ledger);
  callback_ = at::addGlobalCallback(at::RecordFunctionCallback(&show_operands, &show_results)
                                        .needsInputs(true)
                                        .needsOutputs(true)
                                        .scopes({at::RecordScope::FUNCTION}));
}

TensorWatch::~TensorWatch() {
  at::removeCallback(callback_);
  told.store(nullptr);
}

}  // namespace tbd::pytorch
