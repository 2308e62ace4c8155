#include "analysis/profile/exchange.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "analysis/link_model.h"
#include "analysis/profile/windows.h"
#include "analysis/trace/sweep.h"
#include "base/error.h"
#include "base/text.h"

namespace tbd {
namespace {

constexpr uint8_t kCommBit = bit(DeviceClass::comm);
constexpr double kStandsOut = 0.6;  // share of the sums that a straggler begins last, between two ranks 0.5 by chance

int64_t bytes_of_type(std::string_view type) {
  if (type.find("ouble") != std::string_view::npos) return 8;
  const bool is_half = type.find("Half") != std::string_view::npos || type.find("half") != std::string_view::npos;
  return is_half || type.find("BFloat16") != std::string_view::npos || type == "bfloat16" ? 2 : 4;
}

// Of the tensors in "[[8,3],[5]]", each of the innermost brackets one.
int64_t elements_of(std::string_view shapes) {
  int64_t all = 0, product = 1, number = 0;
  bool in_number = false, any = false;
  const auto end_number = [&] {
    if (in_number) product *= number;
    any |= std::exchange(in_number, false);
    number = 0;
  };
  for (const char c : shapes) {
    if (std::isdigit(static_cast<unsigned char>(c))) {
      in_number = true;
      number = 10 * number + (c - '0');
      continue;
    }
    end_number();
    if (c == '[') {
      product = 1;
      any = false;
    }
    if (c == ']' && std::exchange(any, false)) all += product;
  }
  return all;
}

struct RankSum {
  int64_t begin = 0, end = 0, bytes = 0;
  std::string_view engine;
};
using SumKey = std::tuple<std::string, int64_t, int64_t>;  // step, bytes, which of these

int64_t size_of_sum(const Trace& trace, uint32_t event) {
  const auto* detail = trace.detail_of<OpDetail>(event);
  if (!detail) return 0;
  const std::string_view types = trace.strings()[detail->types];
  const size_t from = types.find('"'), to = types.find('"', from + 1);
  const std::string_view type = from == std::string_view::npos ? "" : types.substr(from + 1, to - from - 1);
  return elements_of(trace.strings()[detail->shapes]) * bytes_of_type(type);
}

std::string step_at(const RankEvents& rank, int64_t time) {
  const Trace& trace = *rank.trace;
  const auto after =
      std::ranges::upper_bound(rank.steps, time, {}, [&](uint32_t step) { return trace.begins()[step]; });
  return after == rank.steps.begin() ? "" : std::string(trace.name(*std::prev(after)));
}

bool is_within(int64_t time, const std::vector<TimeSpan>& windows) {
  return std::ranges::any_of(windows, [&](const TimeSpan& w) { return time >= w.begin && time < w.end; });
}

std::map<SumKey, RankSum> sums_of(const RankEvents& rank, const std::vector<TimeSpan>& windows) {
  const Trace& trace = *rank.trace;
  std::vector<uint32_t> events;
  for (uint32_t i = 0; i < trace.size(); ++i) {
    const bool is_op = trace.kinds()[i] == EventKind::op || trace.kinds()[i] == EventKind::backward_op;
    if (is_op && !engine_of_sum(trace.name(i)).empty() && is_within(trace.begins()[i], windows)) events.push_back(i);
  }
  std::ranges::stable_sort(events, {}, [&](uint32_t i) { return trace.begins()[i]; });
  std::map<std::pair<std::string, int64_t>, int64_t> counts;
  std::map<SumKey, RankSum> sums;
  for (const uint32_t i : events) {
    const RankSum sum = {trace.begins()[i], trace.end(i), size_of_sum(trace, i), engine_of_sum(trace.name(i))};
    const std::string step = step_at(rank, sum.begin);
    sums[{step, sum.bytes, counts[{step, sum.bytes}]++}] = sum;
  }
  return sums;
}

// In any order; where some are at once their time counts once.
int64_t time_in(std::vector<TimeSpan> spans) {
  std::ranges::sort(spans, {}, &TimeSpan::begin);
  std::vector<TimeSpan> joined;
  for (const TimeSpan& span : spans) join_span(joined, span);
  return total(joined);
}

double per_step(int64_t ns, int64_t steps) { return 1e-9 * static_cast<double>(ns) / static_cast<double>(steps); }

RankExchange rank_times(const RankEvents& rank, const std::vector<TimeSpan>& windows, int64_t steps) {
  MaskTimes masks;
  for (const TimeSpan& window : windows) masks += sweep(rank.activities, window);
  const int64_t communicating = masks.busy(kCommBit);
  return {.rank = rank.rank,
          .computed = per_step(masks.busy(kComputeBits), steps),
          .communicating = per_step(communicating, steps),
          .exposed = per_step(communicating - masks.overlap(kCommBit, kComputeBits), steps)};
}

std::string straggler_of(const std::vector<RankExchange>& ranks) {
  const RankExchange& late = *std::ranges::max_element(ranks, {}, &RankExchange::last);
  const double by_chance = 1.0 / static_cast<double>(ranks.size());
  if (late.last < std::max(kStandsOut, 1.2 * by_chance)) return "";
  std::vector<double> others;
  for (const RankExchange& each : ranks)
    if (each.rank != late.rank) others.push_back(each.computed);
  std::ranges::sort(others);
  const double median = others[others.size() / 2];
  return cat("Rank ", late.rank, " was waited for: it began ", significant(100 * late.last, 3),
             " % of the sums last, and computed ", significant(late.computed / median, 3),
             " times as long a step as the median of the others.");
}

}  // namespace

std::optional<double> RankExchange::overlap() const {
  return communicating > 0 ? std::optional(1 - exposed / communicating) : std::nullopt;
}

ExchangeProfile exchange_between(const std::vector<RankEvents>& ranks,
                                 const std::vector<std::array<int64_t, 2>>& traced) {
  ExchangeProfile out;
  std::vector<std::map<SumKey, RankSum>> sums;
  for (const RankEvents& rank : ranks) {
    const std::vector<TimeSpan> windows = inner_windows(rank, traced);
    const int64_t steps = steps_in(rank, windows);
    require(steps > 0, "rank ", rank.rank, ": none of the steps that were to be traced are there");
    if (sums.empty()) out.steps = steps;
    require(steps == out.steps, "rank ", rank.rank, " traced ", steps, " steps, rank 0 ", out.steps);
    out.ranks.push_back(rank_times(rank, windows, steps));
    sums.push_back(sums_of(rank, windows));
  }
  int64_t met = 0, large_bytes = 0, bytes = 0, early = 0;
  std::vector<TimeSpan> transfer, large_transfer;
  std::vector<std::vector<TimeSpan>> waited(ranks.size());
  std::vector<int64_t> last(ranks.size());
  for (const auto& [key, first] : sums.front()) {
    std::vector<RankSum> each;
    for (const std::map<SumKey, RankSum>& of_rank : sums)
      if (const auto found = of_rank.find(key); found != of_rank.end()) each.push_back(found->second);
    if (each.size() < ranks.size()) continue;  // begun before the window there
    const auto latest = std::ranges::max_element(each, {}, &RankSum::begin);
    const int64_t first_end = std::ranges::min_element(each, {}, &RankSum::end)->end;
    early += first_end < latest->begin;
    const TimeSpan moved = {latest->begin, std::max(first_end, latest->begin)};
    ++met;
    bytes += first.bytes;
    transfer.push_back(moved);
    if (first.bytes >= kLeastBytes) {
      large_bytes += first.bytes;
      large_transfer.push_back(moved);
    }
    ++last[static_cast<size_t>(latest - each.begin())];
    for (size_t i = 0; i < each.size(); ++i) waited[i].push_back({each[i].begin, latest->begin});
  }
  if (met == 0) {
    out.withheld = "no sum over the ranks was seen in the traces of all of them";
    return out;
  }
  const auto steps = static_cast<double>(out.steps);
  out.sums = static_cast<double>(met) / steps;
  out.bytes = static_cast<double>(bytes) / steps;
  out.transfer = per_step(time_in(transfer), out.steps);
  const double wire = algorithm_of(sums.front().begin()->second.engine, std::ssize(ranks)).wire;
  if (const int64_t ns = time_in(large_transfer); ns > 0)
    out.bus_bandwidth = 1e9 * static_cast<double>(large_bytes) * wire / static_cast<double>(ns);
  for (size_t i = 0; i < ranks.size(); ++i) {
    out.ranks[i].waited = per_step(time_in(waited[i]), out.steps);
    out.ranks[i].last = static_cast<double>(last[i]) / static_cast<double>(met);
  }
  out.straggler = straggler_of(out.ranks);
  // Nobody leaves a sum before the last enters it.
  if (early * 100 > met)
    out.withheld = cat(early, " of ", met, " sums were left by a rank before the last one began: the order of sums ",
                       "differs between ranks, or their clocks do");
  return out;
}

}  // namespace tbd
