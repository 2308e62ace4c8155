#include <algorithm>

#include "data/go/positions.h"
#include "go/features.h"

namespace tbd {
namespace {

const WantedInput* find(std::span<const WantedInput> inputs, std::string_view name) {
  const auto found = std::ranges::find(inputs, name, &WantedInput::name);
  return found == inputs.end() ? nullptr : &*found;
}

}  // namespace

bool wants_positions(std::span<const WantedInput> inputs) {
  return inputs.size() == 3 && find(inputs, "x") && find(inputs, "pi") && find(inputs, "z");
}

std::optional<SourceSpec> fitted_positions(SourceSpec spec, std::span<const WantedInput> inputs) {
  if (spec.kind != SourceKind::synthetic && spec.kind != SourceKind::sgf) return std::nullopt;
  const Shape &x = find(inputs, "x")->shape, &pi = find(inputs, "pi")->shape, &z = find(inputs, "z")->shape;
  if (x.rank() != 4 || x[1] != go::kPlanes || x[2] < go::kMinSize || x[2] > go::kMaxSize) return std::nullopt;
  const int64_t samples = x[0], board = x[2];
  if (x[3] != board || pi != Shape({samples, board * board + 1}) || z != Shape({samples})) return std::nullopt;
  spec.batch = samples;
  spec.board = board;
  spec.text.task = TextTask::none;
  return spec;
}

}  // namespace tbd
