// Rank correlation where values that hardly differ count as equal.
#pragma once
#include <span>
#include <vector>

namespace tbd {

// Ranks from 1, equal values share the mean of theirs. From the smallest value up, those within `epsilon` (a fraction)
// of a group's first belong to the group. Values not negative.
std::vector<double> ranks(std::span<const double> values, double epsilon = 0);

// Spearman's rho: the correlation of the ranks. Ties within `epsilon` count in y alone; 0 where all of a side tie.
// Spearman 1904, Am. J. Psychol. 15(1); with ties, Kendall 1970, Rank Correlation Methods, 3.
// Throws Error(invalid) on unequal lengths or fewer than two values.
double spearman(std::span<const double> x, std::span<const double> y, double epsilon = 0);

}  // namespace tbd
