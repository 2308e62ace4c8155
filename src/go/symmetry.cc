#include "go/symmetry.h"

#include <array>

#include "base/error.h"

namespace tbd::go {
namespace {

using Sources = std::array<std::array<uint16_t, kMaxPoints>, kSymmetries>;

Sources sources_of(int size) {
  Sources all;
  const int last = size - 1;
  for (int symmetry = 0; symmetry < kSymmetries; ++symmetry)
    for (int row = 0; row < size; ++row)
      for (int column = 0; column < size; ++column) {
        int r = row, c = column;
        for (int turn = 0; turn < symmetry % 4; ++turn) {
          const int before = r;
          r = c;
          c = last - before;  // what a quarter turn brings to (r, c) came from there
        }
        if (symmetry >= 4) c = last - c;
        all[static_cast<size_t>(symmetry)][static_cast<size_t>(row * size + column)] =
            static_cast<uint16_t>(r * size + c);
      }
  return all;
}

}  // namespace

// Mirror images undo themselves.
int inverse(int symmetry) { return symmetry < 4 ? (4 - symmetry) % 4 : symmetry; }

std::span<const uint16_t> sources(int size, int symmetry) {
  static const std::array<Sources, kMaxSize + 1> all = [] {
    std::array<Sources, kMaxSize + 1> tables = {};
    for (int b = kMinSize; b <= kMaxSize; ++b) tables[static_cast<size_t>(b)] = sources_of(b);
    return tables;
  }();
  require_size(size);
  require(symmetry >= 0 && symmetry < kSymmetries, "a symmetry is 0 to 7, got ", symmetry);
  return std::span(all[static_cast<size_t>(size)][static_cast<size_t>(symmetry)])
      .first(static_cast<size_t>(size * size));
}

Move moved(Move move, int size, int symmetry) {
  return move == size * size ? move : sources(size, inverse(symmetry))[static_cast<size_t>(move)];
}

void transform_planes(std::span<const float> in, int size, int symmetry, std::span<float> out) {
  const std::span<const uint16_t> from = sources(size, symmetry);
  require(in.size() == out.size() && in.size() % from.size() == 0, "planes of ", size, "x", size, ": ", in.size(),
          " values in, ", out.size(), " out");
  for (size_t plane = 0; plane < in.size(); plane += from.size())
    for (size_t i = 0; i < from.size(); ++i) out[plane + i] = in[plane + from[i]];
}

void transform_policy(std::span<const float> in, int size, int symmetry, std::span<float> out) {
  const std::span<const uint16_t> from = sources(size, symmetry);
  require(in.size() == from.size() + 1 && out.size() == in.size(), "a policy of ", size, "x", size, " has ",
          from.size() + 1, " values, got ", in.size(), " and ", out.size());
  for (size_t i = 0; i < from.size(); ++i) out[i] = in[from[i]];
  out.back() = in.back();
}

}  // namespace tbd::go
