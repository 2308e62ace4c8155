// Which of a network's inputs tell a detection task, and what their extents say of it.
#pragma once
#include <optional>
#include <span>

#include "data/source.h"

namespace tbd {

// Whether these are the inputs of one of the tasks (data/detection/encoder.h), with or without masks.
bool wants_detection(std::span<const WantedInput> inputs);

// `spec` with their task, batch, extents and, where the loss tells it, number of classes; nullopt where spec's kind has
// no boxes or the extents do not belong together.
std::optional<SourceSpec> fitted_detection(SourceSpec spec, std::span<const WantedInput> inputs);

}  // namespace tbd
