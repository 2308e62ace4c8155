#include "backends/pytorch/phase_watch.h"

namespace tbd::pytorch {
namespace {

// Of the backward pass that runs: torch's callbacks are plain functions.
const PhaseWatch* watched = nullptr;
void (*begin_of)(const PhaseWatch&, int64_t) = nullptr;

std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
  begin_of(*watched, function.seqNr());
  return nullptr;
}
void end(const at::RecordFunction&, at::ObserverContext*) { watched->ledger().execute(-1); }

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

void PhaseWatch::begin_autograd_node(int64_t sequence) const { ledger_.execute(nodes_.node_of(sequence)); }

PhaseWatch::Backward::Backward(const PhaseWatch& watch) {
  watch.ledger().enter(MemoryPhase::backward);
  watched = &watch;
  begin_of = [](const PhaseWatch& each, int64_t sequence) { each.begin_autograd_node(sequence); };
  callback_ =
      at::addGlobalCallback(at::RecordFunctionCallback(&begin, &end).scopes({at::RecordScope::BACKWARD_FUNCTION}));
}

PhaseWatch::Backward::~Backward() {
  at::removeCallback(callback_);
  watched = nullptr;
}

}  // namespace tbd::pytorch
