// What games of self-play came to, as a row and as text; how many are played side by side.
#pragma once
#include <optional>
#include <string>

#include "go/self_play.h"
#include "record/self_play_rows.h"
#include "runner/training_worker.h"

namespace tbd {

// Without number and steps. `resign_below` as the games had it; `network_seconds` in the framework, of `seconds`.
GenerationRow generation_row(const go::SelfPlay& played, const std::optional<double>& resign_below,
                             double network_seconds, double seconds);
std::string sgf_of(const go::SelfPlay& played);

// So many games that the cell's batch is full although some ask for one position alone.
go::SideBySideOptions side_by_side(const Trainable& cell, int leaves);

}  // namespace tbd
