#include "go/score.h"

#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace tbd::go {

Area area(const Board& board) {
  const Geometry& shape = geometry(board.size());
  Area out;
  Bits seen = {};
  std::array<uint16_t, kMaxPoints> region;  // the first `count` are of the region, those from `next` on to be looked at
  for (int start = 0; start < board.points(); ++start) {
    if (board.at(start) == Color::black) ++out.black;
    if (board.at(start) == Color::white) ++out.white;
    if (board.at(start) != Color::none || has(seen, start)) continue;
    bool reaches[4] = {};  // by Color
    size_t count = 0, next = 0;
    const auto add = [&](int point) {
      flip(seen, point);
      region[count++] = static_cast<uint16_t>(point);
    };
    for (add(start); next < count; ++next)
      for (const int beside : shape.neighbors[region[next]]) {
        reaches[static_cast<size_t>(board.at(beside))] = true;
        if (board.at(beside) == Color::none && !has(seen, beside)) add(beside);
      }
    const bool black = reaches[static_cast<size_t>(Color::black)], white = reaches[static_cast<size_t>(Color::white)];
    if (black && !white) out.black += static_cast<int>(count);
    if (white && !black) out.white += static_cast<int>(count);
  }
  return out;
}

int half_points(const Area& area, int komi_half_points) { return 2 * (area.black - area.white) - komi_half_points; }

std::string result_text(int half_points) {
  if (half_points == 0) return "0";
  const int size = std::abs(half_points);
  return cat(half_points > 0 ? "B+" : "W+", size / 2, size % 2 ? ".5" : "");
}

}  // namespace tbd::go
