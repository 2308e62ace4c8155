// Tables of a training by self-play (record/self_play_rows.h).
#pragma once
#include <span>
#include <string>

#include "analysis/table.h"
#include "record/self_play_rows.h"

namespace tbd {

// A row for each generation: its games, how fast they were played, and where that time went.
Table generations_table(const std::string& title, std::span<const GenerationRow> rows);
// A row for each match, with Wilson's interval of 95 % for the score where the number of games was fixed beforehand.
Table matches_table(const std::string& title, std::span<const MatchRow> rows);

}  // namespace tbd
