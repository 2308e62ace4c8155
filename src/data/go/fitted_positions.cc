#include <algorithm>

#include "data/go/positions.h"
#include "go/features.h"

namespace tbd {

bool wants_positions(std::span<const WantedInput> inputs) {
  return inputs.size() == 3 && find_input(inputs, "x") && find_input(inputs, "pi") && find_input(inputs, "z");
}

std::optional<SourceSpec> fitted_positions(SourceSpec spec, std::span<const WantedInput> inputs) {
  if (spec.kind != SourceKind::synthetic && spec.kind != SourceKind::sgf) return std::nullopt;
  const Shape &x = find_input(inputs, "x")->shape, &pi = find_input(inputs, "pi")->shape,
              &z = find_input(inputs, "z")->shape;
  if (x.rank() != 4 || x[1] != go::kPlanes || x[2] < go::kMinSize || x[2] > go::kMaxSize) return std::nullopt;
  const int64_t samples = x[0], board = x[2];
  if (x[3] != board || pi != Shape({samples, board * board + 1}) || z != Shape({samples})) return std::nullopt;
  spec.batch = samples;
  spec.board = board;
  spec.text.task = TextTask::none;
  return spec;
}

}  // namespace tbd
