#include "backends/pytorch/phase_watch.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include <memory>

namespace tbd::pytorch {
namespace {

// Of the backward pass that runs: torch's callbacks are plain functions.
PhaseWatch* watched = nullptr;
void (*begin_of)(PhaseWatch&, int64_t) = nullptr;

std::unique_ptr<at::ObserverContext> begin_node_of(const at::RecordFunction& function) {
  begin_of(*watched, function.seqNr());
  return nullptr;
}

}  // namespace

void PhaseWatch::begin_forward() {
  ledger_.enter(MemoryPhase::forward);
  nodes_.begin_forward();
}

void PhaseWatch::begin_node() { ledger_.execute(nodes_.begin_node()); }

void PhaseWatch::end_forward() {
  ledger_.execute(-1);
  nodes_.end_forward();
}

void PhaseWatch::classify(const at::Tensor& tensor, MemoryClass kind) const {
  if (tensor.defined() && tensor.has_storage()) ledger_.classify(tensor.storage().data(), kind);
}

// What adds a gradient to a parameter has no number: autograd runs it right after what brought the gradient. Between
// its nodes it shapes and adds what the last one gave.
void PhaseWatch::begin_autograd_node(int64_t sequence) {
  if (sequence >= 0) last_node_ = nodes_.node_of(sequence);
  ledger_.execute(last_node_);
}

PhaseWatch::Backward::Backward(PhaseWatch& watch) {
  watch.ledger().enter(MemoryPhase::backward);
  watch.last_node_ = -1;
  watched = &watch;
  begin_of = [](PhaseWatch& each, int64_t sequence) { each.begin_autograd_node(sequence); };
  callback_ =
      at::addGlobalCallback(at::RecordFunctionCallback(&begin_node_of).scopes({at::RecordScope::BACKWARD_FUNCTION}));
}

PhaseWatch::Backward::~Backward() {
  at::removeCallback(callback_);
  watched->ledger().execute(-1);
  watched = nullptr;
}

}  // namespace tbd::pytorch
