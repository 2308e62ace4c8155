#include "go/geometry.h"

#include "base/philox.h"

namespace tbd::go {
namespace {

Geometry new_geometry(int size) {
  Geometry out{.size = size};
  const auto at = [size](int row, int column) {
    const bool inside = row >= 0 && row < size && column >= 0 && column < size;
    return inside ? static_cast<uint16_t>(row * size + column) : kOutside;
  };
  for (int row = 0; row < size; ++row)
    for (int column = 0; column < size; ++column) {
      const auto point = static_cast<size_t>(row * size + column);
      out.neighbors[point] = {at(row - 1, column), at(row, column - 1), at(row, column + 1), at(row + 1, column)};
      out.diagonals[point] = {at(row - 1, column - 1), at(row - 1, column + 1), at(row + 1, column - 1),
                              at(row + 1, column + 1)};
    }
  return out;
}

std::array<Geometry, kMaxSize + 1> all_geometries() {
  std::array<Geometry, kMaxSize + 1> all;
  for (int size = kMinSize; size <= kMaxSize; ++size) all[static_cast<size_t>(size)] = new_geometry(size);
  return all;
}

ZobristKeys new_keys() {
  const Philox stream(0, "go/zobrist");
  uint64_t next = 0;
  const auto draw = [&] {
    const uint64_t high = stream.word(next++);
    return high << 32 | stream.word(next++);
  };
  ZobristKeys keys{.empty = draw(), .stones = {}};
  for (auto& of_color : keys.stones)
    for (uint64_t& key : of_color) key = draw();
  return keys;
}

}  // namespace

const Geometry& geometry(int size) {
  static const std::array<Geometry, kMaxSize + 1> all = all_geometries();
  require_size(size);
  return all[static_cast<size_t>(size)];
}

const ZobristKeys& zobrist_keys() {
  static const ZobristKeys keys = new_keys();
  return keys;
}

}  // namespace tbd::go
