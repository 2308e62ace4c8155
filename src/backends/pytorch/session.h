// The PyTorch session: eager libtorch, one program, one device (worker/session.h).
#pragma once
#include <memory>

#include "backends/pytorch/exchange.h"
#include "backends/pytorch/step_graph.h"
#include "worker/session.h"

namespace tbd::pytorch {

// Not `obey_liveness`: nothing is freed early or overwritten, for tests. `graphs`: of mode cuda-graph in place of the
// device's, for tests, which have none; `join`: with faults, for tests.
std::unique_ptr<Session> make_torch_session(bool obey_liveness = true, MakeStepGraph graphs = {},
                                            Join join_world = join);

}  // namespace tbd::pytorch
