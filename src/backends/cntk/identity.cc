#include "backends/cntk/identity.h"

#include <algorithm>

#include "backends/cntk/abi_check.h"
#include "backends/cntk/lowering.h"

namespace tbd::cntk {

SessionIdentity describe_cntk() {
  SessionIdentity out = {.framework = "cntk", .version = kVersion, .modes = {Mode::kGraph}};
  out.devices = {Device::kCpu};
  out.passes = {Pass::kClean, Pass::kMemory};
  out.precisions = {Precision::kFp64, Precision::kFp32};
  out.layouts = {ImageLayout::kNchw};
  out.build[cat(Pass::kWhat, " ", Pass::kTrace)] = kNoTrace;
  out.build["status"] = "retired upstream";
  out.build["optimizer"] = "one loop over cntk's arrays";
  return out;
}

bool is_double(const Program& program) {
  const auto twice = [](const auto& value) { return value.dtype == DType::f64; };
  return std::ranges::any_of(program.parameters, twice) || std::ranges::any_of(program.buffers, twice) ||
         std::ranges::any_of(program.phases,
                             [&](const Phase& phase) { return std::ranges::any_of(phase.inputs, twice); });
}

std::vector<NodeSupport> check_nodes(const Program& program) {
  const DType only = is_double(program) ? DType::f64 : DType::f32;
  return check_each_node(program, [&](const Phase&, const Node& node) {
    const auto* cast = std::get_if<Cast>(&node.op);
    if (cast && is_float(cast->to) && cast->to != only)
      return unsupported(cat("a network of CNTK has one type of float, here ", only));
    return std::visit([&](const auto& op) { return lowered_as(op, node.inputs.size()); }, node.op);
  });
}

}  // namespace tbd::cntk
