// Matches of a worker's network, as rows.
#pragma once
#include "go/match.h"
#include "record/self_play_rows.h"

namespace tbd {

// The games of a match as a row, of `readouts` and against `opponent` in words.
MatchRow match_row(const go::Match& match, const std::string& opponent, int64_t readouts);

// Pairs until a sequential test of 50 against 55 % tells whether the first player is stronger (GSPRT on pairs, 5 % of
// errors of either kind; quality/wins.h), `most` pairs at most. The row has the verdict.
MatchRow sequential_match(const go::Player& first, const go::Player& second, go::MatchOptions options, int64_t most,
                          const std::string& opponent, int64_t readouts);

}  // namespace tbd
