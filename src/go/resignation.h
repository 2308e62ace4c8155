// From which value on a player may resign, judged by games that were played out.
#pragma once
#include <optional>
#include <span>

namespace tbd::go {

// lowest[i]: the lowest value, in [-1, 1], that the later winner of game i saw for itself after a search.
// The share of games that the winner would have given up at `threshold`: those with lowest[i] < threshold. Throws
// Error(invalid) without games.
double false_resignation_rate(std::span<const double> lowest, double threshold);

// The largest of -0.99, -0.98, ... -0.80 at which that rate is at most 5 % by the upper end of Wilson's interval of 95
// % (Wilson 1927), which takes at least 73 games. nullopt: none is.
std::optional<double> resignation_threshold(std::span<const double> lowest);

}  // namespace tbd::go
