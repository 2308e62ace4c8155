#include "backends/tensorflow/gradient_watch.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "tensorflow/cc/framework/grad_op_registry.h"

namespace tbd::tensorflow_gradients {
using ::tensorflow::Operation;
using ::tensorflow::Output;
using ::tensorflow::Scope;
using Outputs = std::vector<Output>;

namespace {

using Registry = ::tensorflow::ops::GradOpRegistry;
using Functions = std::unordered_map<std::string, ::tensorflow::ops::GradFunc>;

// The registry has no way to replace an entry. An explicit instantiation may name a private member.
Functions& functions_of(Registry& registry);
template <Functions Registry::*kMember>
struct Access {
  friend Functions& functions_of(Registry& registry) { return registry.*kMember; }
};
template struct Access<&Registry::registry_>;

struct Watcher {
  void (*added)(void*, const char*, const char*) = nullptr;
  void* context = nullptr;
  Functions watched;
};
Watcher& watcher() {
  static Watcher the;
  return the;
}

absl::Status watched(const Scope& scope, const Operation& op, const Outputs& upstream, Outputs* out) {
  const Watcher& watch = watcher();
  const ::tensorflow::ops::GradFunc function = watch.watched.at(op.node()->type_string());
  if (!watch.added) return function(scope, op, upstream, out);
  const auto tell = [&](const ::tensorflow::Node* node) {
    if (node) watch.added(watch.context, node->name().c_str(), op.node()->name().c_str());
  };
  for (const Output& each : upstream) tell(each.node());
  const int before = scope.graph()->num_node_ids();
  const absl::Status status = function(scope, op, upstream, out);
  for (int id = before; id < scope.graph()->num_node_ids(); ++id) tell(scope.graph()->FindNodeId(id));
  return status;
}

}  // namespace
}  // namespace tbd::tensorflow_gradients

extern "C" void tbd_watch_gradients(void (*added)(void* context, const char* op, const char* forward), void* context) {
  using namespace tbd::tensorflow_gradients;
  Watcher& watch = watcher();
  watch.added = added;
  watch.context = context;
  for (auto& [op, function] : functions_of(*Registry::Global())) {
    if (!function || function == &watched) continue;  // nullptr: no gradient passes
    watch.watched[op] = function;
    function = &watched;
  }
}
