// What this CNTK is and can do, and how each node would run.
#pragma once
#include "worker/session.h"

namespace tbd::cntk {

inline constexpr const char* kNoTrace = "cntk tells averages of nodes and no instants, which pass trace needs";

SessionIdentity describe_cntk();
std::vector<NodeSupport> check_nodes(const Program& program);
// Whether the program's floats are double; CNTK's graphs have one type of float.
bool is_double(const Program& program);

}  // namespace tbd::cntk
