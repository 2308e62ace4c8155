// What this MLX is and can do, and how each node would run.
#pragma once
#include "worker/session.h"

namespace tbd::mlx {

inline constexpr const char* kNoTrace = "mlx tells of no op when it runs, so pass trace would see whole steps";

SessionIdentity describe_mlx();
std::vector<NodeSupport> check_nodes(const Program& program);

}  // namespace tbd::mlx
