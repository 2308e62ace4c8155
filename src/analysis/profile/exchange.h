// What the ranks of a world exchanged in the traced steps of a record, and who waited for whom. All ranks run on one
// machine and stamp by its monotonic clock, so that their traces have one time.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "analysis/trace/rank_events.h"

namespace tbd {

// Of a step, in seconds.
struct RankExchange {
  int64_t rank = 0;
  double computed = 0;       // an op of this rank computed
  double communicating = 0;  // a sum over the ranks was under way
  double exposed = 0;        // of these, nothing computed on this rank
  double waited = 0;         // a sum was between this rank's begin and the last one's
  double last = 0;           // share of the sums that it began last
  // HTA's overlap: communication that computing hides, over communication. Absent without any.
  std::optional<double> overlap() const;
};

struct ExchangeProfile {
  int64_t steps = 0;    // looked at
  double sums = 0;      // over the ranks, a step; those of losses and votes are among them
  double bytes = 0;     // a step, that a rank gives to sums, as they travel
  double transfer = 0;  // s a step in which a sum was between its last rank's begin and the first one's end
  // Of sums of kLeastBytes and more, bytes/s: what each link carries, S times Algorithm::wire over the transfer (the
  // bus bandwidth of nccl-tests). Absent without such sums.
  std::optional<double> bus_bandwidth;
  std::vector<RankExchange> ranks;
  std::string straggler;  // who was waited for, a sentence; empty where nobody stands out
  std::string withheld;   // why no times are shown; empty where they are
};
inline constexpr int64_t kLeastBytes = int64_t{1} << 16;

// One trace a rank, in their order, and the traced steps of the launch. Sums meet by step, size and order.
ExchangeProfile exchange_between(const std::vector<RankEvents>& ranks,
                                 const std::vector<std::array<int64_t, 2>>& traced);

}  // namespace tbd
