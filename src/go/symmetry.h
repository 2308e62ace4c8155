// The eight symmetries of a square board, for planes and policies.
#pragma once
#include <cstdint>
#include <span>

#include "go/point.h"

namespace tbd::go {

// 0 to 7: a turn by (symmetry % 4) quarters, counter-clockwise, of the board or, from 4 on, of its mirror image
// (columns reversed).
constexpr int kSymmetries = 8;
int inverse(int symmetry);

// from[i] is the point that the symmetry brings to i: image[i] = board[from[i]]. Thread-safe.
std::span<const uint16_t> sources(int size, int symmetry);
// Where the symmetry brings a move; a pass stays one.
Move moved(Move move, int size, int symmetry);

// in and out: k planes of B * B values; they must not overlap.
void transform_planes(std::span<const float> in, int size, int symmetry, std::span<float> out);
// B * B + 1 values, the last one of the pass.
void transform_policy(std::span<const float> in, int size, int symmetry, std::span<float> out);

}  // namespace tbd::go
