// The PyTorch session: eager libtorch, one program, one device (worker/session.h).
#pragma once
#include <memory>

#include "worker/session.h"

namespace tbd::pytorch {

// Not `obey_liveness`: nothing is freed early or overwritten, for tests.
std::unique_ptr<Session> make_torch_session(bool obey_liveness = true);

}  // namespace tbd::pytorch
