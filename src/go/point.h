// Colours, points and moves of a board of B x B, and their texts in SGF and GTP.
#pragma once
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tbd::go {

constexpr int kMinSize = 2, kMaxSize = 19;
constexpr int kMaxPoints = kMaxSize * kMaxSize;

// What stands on a point; a player is black or white. `border` is what lies beside the board.
enum class Color : uint8_t { black, white, none, border };
constexpr Color opposite(Color player) { return player == Color::black ? Color::white : Color::black; }
std::string_view name(Color color);  // "Black", "White", "nobody"

// A point is row * B + column, both from 0, from the upper left corner; a move is a point, or B * B: a pass. So a move
// is its own place among the B * B + 1 entries of a policy.
using Move = int;

// Throws Error(invalid) unless kMinSize <= size <= kMaxSize.
void require_size(int64_t size);

// "D4": column letter without I, row from below (GTP version 2, section 2.11); "pass".
std::string gtp_text(Move move, int size);
// nullopt for what is no move of this board; letters of either case.
std::optional<Move> move_from_gtp(std::string_view text, int size);

// "dd": column, row (SGF FF[4]); "" for a pass.
std::string sgf_text(Move move, int size);
// "" and, as FF[3] writes them on boards up to 19, "tt" are passes; nullopt for what is no move of this board.
std::optional<Move> move_from_sgf(std::string_view text, int size);

// Points of one colour, a bit each.
using Bits = std::array<uint64_t, (kMaxPoints + 63) / 64>;
inline bool has(const Bits& bits, int point) {
  return bits[static_cast<size_t>(point) / 64] >> (static_cast<size_t>(point) % 64) & 1;
}
inline void flip(Bits& bits, int point) {
  bits[static_cast<size_t>(point) / 64] ^= uint64_t{1} << (static_cast<size_t>(point) % 64);
}
// visit(point) for each of them, ascending.
template <class Visit>
void for_each(const Bits& bits, const Visit& visit) {
  for (size_t i = 0; i < bits.size(); ++i)
    for (uint64_t left = bits[i]; left != 0; left &= left - 1) visit(static_cast<int>(64 * i) + std::countr_zero(left));
}
// What stands on a board: [0] Black's points, [1] White's.
using Stones = std::array<Bits, 2>;

}  // namespace tbd::go
