// What this build of torch is and which nodes it runs, for `hello` and `check`.
#pragma once
#include "worker/session.h"

namespace tbd::pytorch {

SessionIdentity describe_torch();
std::vector<NodeSupport> check_nodes(const Program& program);

}  // namespace tbd::pytorch
