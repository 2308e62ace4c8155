// What this MXNet is and can do, and how each node would run.
#pragma once
#include "worker/session.h"

namespace tbd::mxnet {

SessionIdentity describe_mxnet();
std::vector<NodeSupport> check_nodes(const Program& program);

}  // namespace tbd::mxnet
