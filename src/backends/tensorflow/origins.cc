#include "backends/tensorflow/origins.h"

#include "backends/tensorflow/gradient_watch.h"

namespace tbd::tensorflow {
namespace {

// "_arg_train/image/Placeholder_0_1" -> "train/image/Placeholder"
std::string_view without_argument(std::string_view name) {
  name.remove_prefix(std::string_view("_arg_").size());
  for (int numbers = 0; numbers < 2; ++numbers) name = name.substr(0, name.rfind('_'));
  return name;
}

// "ConstantFolding/x/y", "ArithmeticOptimizer/SomeRewrite_x/y" -> "x/y"
std::string_view without_optimizer(std::string_view name) {
  const size_t slash = name.find('/');
  const std::string_view first = name.substr(0, slash);
  if (first == "ConstantFolding") return name.substr(slash + 1);
  if (!first.ends_with("Optimizer") || slash == std::string_view::npos) return name;
  const size_t end = name.find('_', slash);
  return end == std::string_view::npos ? name : name.substr(end + 1);
}

// "_FusedMatMul", "_MklNativeFusedConv2D" -> "MatMul", "Conv2D"; empty for types that are not fused.
std::string_view first_part(std::string_view type) {
  const size_t fused = type.find("Fused");
  if (!type.starts_with('_') || fused == std::string_view::npos) return {};
  const std::string_view part = type.substr(fused + 5);
  return part.starts_with("BatchNorm") ? "FusedBatchNorm" : part;
}

// The op of that type that leads to this one; nullptr where none is near.
TF_Operation* behind(TF_Operation* op, std::string_view type) {
  constexpr int kMostParts = 4;
  for (int part = 0; part < kMostParts; ++part) {
    if (!op || std::string_view(TF_OperationOpType(op)).starts_with(type)) return op;
    op = TF_OperationNumInputs(op) > 0 ? TF_OperationInput({op, 0}).oper : nullptr;
  }
  return nullptr;
}

}  // namespace

TF_Operation* OpOrigins::next() {
  TF_Operation* op = TF_GraphNextOperation(graph_, &position_);
  if (!op) --position_;  // it steps forward before it looks, so the op to come would be passed over
  return op;
}

void OpOrigins::claim(int32_t node, EventPhase phase) {
  while (TF_Operation* op = next()) {
    const auto [at, is_new] = origins_.try_emplace(TF_OperationName(op), Origin{node, phase});
    if (is_new && phase == EventPhase::forward) at->second.forward = ++count_;
  }
}

void OpOrigins::claim_gradients() {
  while (TF_Operation* op = next()) {
    if (origins_.contains(TF_OperationName(op))) continue;
    const bool reads = TF_OperationNumInputs(op) > 0;
    const Origin* first = reads ? find(TF_OperationName(TF_OperationInput({op, 0}).oper)) : nullptr;
    origins_[TF_OperationName(op)] = {first ? first->node : -1, EventPhase::backward, first ? first->forward : 0};
  }
}

// Of what was there before, the origin is known, or is not ours to say.
void OpOrigins::came_of(const std::string& op, const std::string& forward) {
  const Origin* of = find(forward);
  if (of && !find(op)) origins_[op] = {of->node, EventPhase::backward, of->forward};
}

OpOrigins::Watch::Watch(OpOrigins& origins) {
  origins.claim(-1, EventPhase::backward);  // upstream gradients of losses
  const auto added = [](void* context, const char* op, const char* forward) {
    static_cast<OpOrigins*>(context)->came_of(op, forward);
  };
  tbd_watch_gradients(added, &origins);
}

OpOrigins::Watch::~Watch() { tbd_watch_gradients(nullptr, nullptr); }

const Origin* OpOrigins::find(std::string_view name) const {
  const auto found = origins_.find(name);
  return found == origins_.end() ? nullptr : &found->second;
}

Origin OpOrigins::of(std::string_view name, std::string_view type) const {
  if (name.starts_with("_retval_")) return {};
  name = name.starts_with("_arg_") ? without_argument(name) : without_optimizer(name);
  while (!name.empty() && !find(name)) {  // "x/y-0-rewrite", "x/y/part"
    const size_t end = name.find_last_of("/-_");
    name = end == std::string_view::npos ? std::string_view{} : name.substr(0, end);
  }
  const Origin* origin = find(name);
  if (!origin) return {};
  const std::string_view part = first_part(type);
  if (part.empty()) return *origin;
  TF_Operation* first = behind(TF_GraphOperationByName(graph_, std::string(name).c_str()), part);
  return first ? *find(TF_OperationName(first)) : *origin;
}

}  // namespace tbd::tensorflow
