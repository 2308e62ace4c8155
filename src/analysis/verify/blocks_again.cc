#include "analysis/verify/blocks_again.h"

#include <algorithm>

#include "analysis/blocks.h"
#include "stats/disturbance.h"

namespace tbd {
namespace {

// The middle one of those within two places, or the mean of the middle two.
double median_around(const std::vector<double>& values, size_t at) {
  const size_t first = at > 2 ? at - 2 : 0, last = std::min(at + 2, values.size() - 1);
  std::vector<double> near;
  for (size_t i = first; i <= last; ++i) near.push_back(values[i]);
  std::ranges::sort(near);
  const size_t half = near.size() / 2;
  return near.size() % 2 == 1 ? near[half] : (near[half - 1] + near[half]) / 2;
}

std::vector<double> smoothed(const RawLaunch& launch, const char* column) {
  std::vector<size_t> rows;
  std::vector<double> rates;
  for (size_t row = 0; row < launch.rows; ++row)
    if (launch.count("pause_ns", row)) {
      rows.push_back(row);
      rates.push_back(launch.number(column, row).value_or(0));
    }
  std::vector<double> by_row(launch.rows, 0.0);
  for (size_t i = 0; i < rows.size(); ++i) by_row[rows[i]] = median_around(rates, i);
  return by_row;
}

double best_of(std::span<const ProbesAgain> all, std::vector<double> ProbesAgain::*rates) {
  double best = 0;
  for (const ProbesAgain& probes : all)
    for (const double rate : probes.*rates) best = std::max(best, rate);
  return best;
}

// Collects what speaks of one block: `undisturbed` while everything known stays within its limit.
struct BlockEvidence {
  bool known = false, within = true;

  void add(double share, double most) {
    known = true;
    within = within && share <= most;
  }
  // A rate at the block's end, or at that of the block before.
  void add_rate(double rate, double best, double most_lost) {
    if (rate > 0 && best > 0) add(1 - rate / best, most_lost);
  }
};

std::optional<int64_t> cells_sum(const RawLaunch& launch, const char* column, const std::array<size_t, 2>& rows) {
  int64_t sum = 0;
  for (size_t row = rows[0]; row < rows[1]; ++row) {
    const std::optional<int64_t> cell = launch.count(column, row);
    if (!cell) return std::nullopt;
    sum += *cell;
  }
  return sum;
}

void add_kernel_counts(BlockEvidence& evidence, const RawLaunch& launch, const BlockAgain& block) {
  const auto wait = cells_sum(launch, "runqueue_wait_ns", block.rows),
             user = cells_sum(launch, "user_cpu_ns", block.rows),
             system = cells_sum(launch, "system_cpu_ns", block.rows),
             ticks = cells_sum(launch, "steal_ticks", block.rows);
  const double core_ns = maybe<double>(launch.info, "cores").value_or(0) * static_cast<double>(block.ns);
  std::optional<double> foreign;
  if (const auto ns = launch.count("foreign_ns", block.rows[1] - 1); ns && core_ns > 0)
    foreign = static_cast<double>(*ns) / core_ns;
  if (foreign) evidence.add(*foreign, kOtherWorkLimit.flagged);
  if (ticks && core_ns > 0)
    evidence.add(1e9 / kStealTicksPerSecond * static_cast<double>(*ticks) / core_ns, kStealLimit.flagged);
  if (!wait || !user || !system || *wait + *user + *system == 0) return;
  const double waited = static_cast<double>(*wait) / static_cast<double>(*wait + *user + *system);
  evidence.add(foreign ? std::min(waited, *foreign) : waited, kRunqueueLimit.flagged);
}

}  // namespace

ProbesAgain probes_again(const RawLaunch& launch) {
  return {smoothed(launch, "fma_flop_rate"), smoothed(launch, "read_byte_rate")};
}

std::vector<BlockAgain> blocks_again(const RawLaunch& launch, size_t begin, std::span<const int64_t> times_ns,
                                     std::span<const ProbesAgain> all) {
  const ProbesAgain own = probes_again(launch);
  const double best_fma = best_of(all, &ProbesAgain::fma), best_read = best_of(all, &ProbesAgain::read);
  const size_t end = begin + times_ns.size();
  bool by_probe = false;
  for (size_t row = begin; row < end; ++row) by_probe = by_probe || launch.count("pause_ns", row).has_value();
  std::vector<BlockAgain> blocks;
  int64_t ns = 0;
  size_t first = begin;
  for (size_t row = begin; row < end; ++row) {
    ns += times_ns[row - begin];
    const bool full =
        by_probe ? launch.count("pause_ns", row).has_value() : static_cast<double>(ns) >= 1e9 * kBlockSeconds;
    if (!full && row + 1 < end) continue;
    BlockAgain block{.rows = {first, row + 1}, .ns = ns};
    BlockEvidence evidence;
    add_kernel_counts(evidence, launch, block);
    if (first > 0) {
      evidence.add_rate(own.fma[first - 1], best_fma, kMostFmaLoss);
      evidence.add_rate(own.read[first - 1], best_read, kMostReadLoss);
    }
    evidence.add_rate(own.fma[row], best_fma, kMostFmaLoss);
    evidence.add_rate(own.read[row], best_read, kMostReadLoss);
    block.judged = evidence.known;
    block.undisturbed = evidence.known && evidence.within;
    blocks.push_back(block);
    first = row + 1;
    ns = 0;
  }
  return blocks;
}

}  // namespace tbd
