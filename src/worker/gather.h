// What ranks have to say to each other, of engines that only sum.
#pragma once
#include <string>
#include <vector>

#include "worker/place.h"

namespace tbd {

// What each rank said, by rank. All ranks call it at the same place in their order of sums.
std::vector<std::string> gather_over_ranks(const SumOverRanks& sum, const RankPlace& place, const std::string& own);

}  // namespace tbd
