#include "worker/lowering.h"

#include <algorithm>

#include "base/text.h"
#include "host/registry.h"

namespace tbd {
namespace {

bool is_unknown_host_function(const Op& op) {
  const auto* call = std::get_if<HostCall>(&op);
  return call != nullptr && std::ranges::count(host_function_names(), call->function) == 0;
}

LoweredAs unknown_host_function(const Op& op) {
  return unsupported(unknown_name("host function", std::get<HostCall>(op).function, host_function_names()));
}

}  // namespace

std::vector<NodeSupport> check_each_node(const Program& program,
                                         const std::function<LoweredAs(const Phase&, const Node&)>& lowered_as) {
  std::vector<NodeSupport> rows;
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes) {
      LoweredAs as = is_unknown_host_function(node.op) ? unknown_host_function(node.op) : lowered_as(phase, node);
      rows.push_back({phase.name, node.name, kind(node.op), as.level, std::move(as.detail)});
    }
  return rows;
}

}  // namespace tbd
