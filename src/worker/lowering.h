// What every back-end declares for each op of the closed set.
#pragma once
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "graph/op.h"
#include "worker/session.h"

namespace tbd {

// Which of the framework's ops run, or why none can.
struct LoweredAs {
  NodeSupport::Level level = NodeSupport::Level::native;
  std::string detail;
};
inline LoweredAs native(std::string op) { return {NodeSupport::Level::native, std::move(op)}; }
inline LoweredAs composed(std::string ops) { return {NodeSupport::Level::composed, std::move(ops)}; }
inline LoweredAs unsupported(std::string reason) { return {NodeSupport::Level::unsupported, std::move(reason)}; }

// What a node of the op gives: one value, or as many as the op has results.
template <class Op, class Value>
using Results = std::conditional_t<results_of<Op>() == 1, Value, std::vector<Value>>;

// The two functions that a back-end has for each op, side by side in its lowering_*.cc: what computes it, and what
// `check` says of that. `operands` counts those of the node, parameters included. The back-end's own namespace has
// Args, the operands of a node, and Lowered<Op>, its Results.
#define TBD_DECLARE_LOWERING(Op)                   \
  Lowered<Op> lower(const Op& op, const Args& in); \
  LoweredAs lowered_as(const Op& op, size_t operands);

// A row a node of the program, by what the back-end says of the node; a host function that this build lacks is
// unsupported whatever the back-end.
std::vector<NodeSupport> check_each_node(const Program& program,
                                         const std::function<LoweredAs(const Phase&, const Node&)>& lowered_as);

}  // namespace tbd
