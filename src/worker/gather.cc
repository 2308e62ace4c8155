#include "worker/gather.h"

#include <algorithm>

#include "base/error.h"

namespace tbd {

std::vector<std::string> gather_over_ranks(const SumOverRanks& sum, const RankPlace& place,
                                           const std::string& own) try {
  const auto world = static_cast<size_t>(place.world), rank = static_cast<size_t>(place.rank);
  std::vector<double> lengths(world);
  lengths[rank] = static_cast<double>(own.size());
  sum(lengths);
  const auto longest = static_cast<size_t>(std::ranges::max(lengths));
  std::vector<double> bytes(world * longest);
  std::ranges::copy(own, bytes.begin() + static_cast<std::ptrdiff_t>(rank * longest));
  sum(bytes);
  std::vector<std::string> out;
  for (size_t each = 0; each < world; ++each) {
    std::string& text = out.emplace_back();
    for (const double byte : std::span(bytes).subspan(each * longest, static_cast<size_t>(lengths[each])))
      text += static_cast<char>(byte);
  }
  return out;
} catch (const Error& e) {
  throw e.within("meeting the other ranks");
}

}  // namespace tbd
