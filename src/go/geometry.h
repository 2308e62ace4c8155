// What is the same for all boards of a size: which points touch, and the keys of Zobrist hashes.
#pragma once
#include <array>
#include <cstdint>

#include "go/point.h"

namespace tbd::go {

// The place of `border` in a board's cells: what a point of the edge has beside it.
constexpr uint16_t kOutside = kMaxPoints;

struct Geometry {
  int size = 0;
  std::array<std::array<uint16_t, 4>, kMaxPoints> neighbors, diagonals;  // kOutside where there is none
};
// Throws Error(invalid) for a size that no board has. Thread-safe.
const Geometry& geometry(int size);

// One random word for each stone on each point; the hash of a position is the exclusive or of those of its stones
// (Zobrist 1970), begun with `empty`. Drawn from the Philox stream go/zobrist of seed 0, so the same everywhere.
struct ZobristKeys {
  uint64_t empty;
  std::array<std::array<uint64_t, kMaxPoints>, 2> stones;  // [color][point]
};
const ZobristKeys& zobrist_keys();

}  // namespace tbd::go
