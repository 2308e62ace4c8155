// Boards as pictures, for tests: X black, O white, . empty.
#pragma once
#include <string>
#include <vector>

#include "go/board.h"

namespace tbd::go::testing_boards {

inline Board board_of(const std::vector<std::string>& rows) {
  std::vector<Color> cells;
  for (const std::string& row : rows)
    for (const char c : row)
      if (c != ' ') cells.push_back(c == 'X' ? Color::black : c == 'O' ? Color::white : Color::none);
  return Board(static_cast<int>(rows.size()), cells);
}

inline std::string picture_of(const Board& board) {
  std::string picture;
  for (int point = 0; point < board.points(); ++point) {
    const Color color = board.at(point);
    picture += color == Color::black ? 'X' : color == Color::white ? 'O' : '.';
    picture += (point + 1) % board.size() ? ' ' : '\n';
  }
  return picture;
}

}  // namespace tbd::go::testing_boards
