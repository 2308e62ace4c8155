#include "analysis/trace/collectives.h"

#include <algorithm>
#include <limits>
#include <map>
#include <tuple>

#include "base/text.h"

namespace tbd {
namespace {

using Key = std::tuple<std::string, std::string, int64_t>;  // group, name, seq

// One collective over its ranks.
struct Meeting {
  std::vector<std::pair<int32_t, TimeSpan>> ranks;
  int64_t last_begin() const {
    int64_t last = std::numeric_limits<int64_t>::min();
    for (const auto& [rank, time] : ranks) last = std::max(last, time.begin);
    return last;
  }
  int64_t first_end() const {
    int64_t first = std::numeric_limits<int64_t>::max();
    for (const auto& [rank, time] : ranks) first = std::min(first, time.end);
    return first;
  }
};

struct Sum {
  int64_t count = 0, transfer_ns = 0;
  std::map<int32_t, int64_t> wait_ns;
};

std::map<Key, Meeting> meetings_of(std::span<const RankCollectives> ranks) {
  std::map<Key, Meeting> all;
  for (const RankCollectives& rank : ranks)
    for (const CollectiveRun& run : rank.runs)
      all[{run.group, run.name, run.seq}].ranks.push_back({rank.rank, run.time});
  std::erase_if(all, [](const auto& entry) { return entry.second.ranks.size() < 2; });
  return all;
}

Table empty_table() {
  Table table{.title = "Collectives across ranks"};
  table.columns = {{"group", "group"},
                   {"name", "name"},
                   {"count", "count", Unit::count},
                   {"transfer_s", "transfer", Unit::seconds},
                   {"rank", "rank"},
                   {"wait_s", "waited for others", Unit::seconds}};
  return table;
}

}  // namespace

std::vector<CollectiveRun> collective_runs(const RankEvents& rank) {
  const Trace& trace = *rank.trace;
  std::vector<CollectiveRun> runs;
  std::map<std::pair<std::string, std::string>, int64_t> counts;
  const int64_t base = std::clamp<int64_t>(trace.base_epoch_ns.value_or(0), -kFarthest, kFarthest);
  for (const Activity& activity : rank.activities) {
    if (trace.kinds()[activity.event] != EventKind::collective) continue;
    const auto* detail = trace.detail_of<CollectiveDetail>(activity.event);
    CollectiveRun run{.name = std::string(trace.name(activity.event))};
    if (detail) run.group = trace.strings()[detail->group];
    const int64_t ordinal = counts[{run.group, run.name}]++;
    run.seq = detail && detail->seq >= 0 ? detail->seq : ordinal;
    run.time = {activity.begin + base, activity.end + base};
    runs.push_back(std::move(run));
  }
  return runs;
}

Table collective_table(std::span<const RankCollectives> ranks) {
  Table table = empty_table();
  std::map<std::pair<std::string, std::string>, Sum> sums;
  int64_t early = 0;
  for (const auto& [key, meeting] : meetings_of(ranks)) {
    Sum& sum = sums[{std::get<0>(key), std::get<1>(key)}];
    const int64_t last = meeting.last_begin(), first = meeting.first_end();
    early += first < last;
    ++sum.count;
    sum.transfer_ns = sum_in_range(sum.transfer_ns, std::max<int64_t>(0, first - last));
    for (const auto& [rank, time] : meeting.ranks)
      sum.wait_ns[rank] = sum_in_range(sum.wait_ns[rank], last - time.begin);
  }
  if (early > 0) {
    table.notes = {cat(early,
                       " collectives were left by a rank before the last one entered: the ranks' clocks do not "
                       "agree, so no times are shown.")};
    return table;
  }
  for (const auto& [key, sum] : sums)
    for (const auto& [rank, wait] : sum.wait_ns)
      table.rows.push_back({key.first, key.second, sum.count, static_cast<double>(sum.transfer_ns) / 1e9, int64_t{rank},
                            static_cast<double>(wait) / 1e9});
  return table;
}

}  // namespace tbd
