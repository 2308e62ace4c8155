// Area scoring: stones, and empty regions that reach one colour alone.
#pragma once
#include "go/board.h"

namespace tbd::go {

struct Area {
  int black = 0, white = 0;  // points
};
// Every stone counts as alive. A region that reaches both colours, or none, is nobody's.
Area area(const Board& board);

// Black's points less White's and less komi, in half points, so that it is whole: positive where Black wins.
int half_points(const Area& area, int komi_half_points);
// "B+3.5", "W+0.5", "0": the value of SGF's RE.
std::string result_text(int half_points);

}  // namespace tbd::go
