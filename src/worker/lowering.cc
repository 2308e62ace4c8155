#include "worker/lowering.h"

#include <algorithm>
#include <optional>

#include "base/text.h"
#include "host/registry.h"

namespace tbd {
namespace {

std::optional<LoweredAs> unknown_host_function(const Op& op) {
  const auto* call = std::get_if<HostCall>(&op);
  if (call == nullptr) return std::nullopt;
  const std::vector<std::string> known = host_function_names();
  if (std::ranges::count(known, call->function) > 0) return std::nullopt;
  return unsupported(unknown_name("host function", call->function, known));
}

}  // namespace

std::vector<NodeSupport> check_each_node(const Program& program,
                                         const std::function<LoweredAs(const Phase&, const Node&)>& lowered_as) {
  std::vector<NodeSupport> rows;
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes) {
      const std::optional<LoweredAs> unknown = unknown_host_function(node.op);
      const LoweredAs as = unknown ? *unknown : lowered_as(phase, node);
      rows.push_back({phase.name, node.name, kind(node.op), as.level, as.detail});
    }
  return rows;
}

}  // namespace tbd
