// What this build of TensorFlow is and which nodes it runs, for `hello` and `check`.
#pragma once
#include "worker/session.h"

namespace tbd::tensorflow {

SessionIdentity describe_tensorflow();
std::vector<NodeSupport> check_nodes(const Program& program);

}  // namespace tbd::tensorflow
