// Sessions whose nodes free and overwrite nothing early, beside what all back-ends' tests share.
#pragma once
#include "backend_suite/support.h"
#include "backends/pytorch/session.h"

namespace tbd::pytorch {

// Toys of every kind of op, for what a session tells of its steps.
inline constexpr const char* kWatchedToys[] = {"mlp20",  "conv_forms", "norms",       "elementwise",
                                               "tied",   "frozen",     "host_labels", "penalty",
                                               "tokens", "recurrent",  "speech",      "growing"};

inline std::unique_ptr<Session> ready_obeying(bool liveness, const Program& program, const SessionSetup& setup = {}) {
  return ready(program, setup, make_torch_session(liveness));
}

}  // namespace tbd::pytorch
