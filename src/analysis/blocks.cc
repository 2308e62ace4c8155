#include "analysis/blocks.h"

#include <algorithm>

#include "base/text.h"
#include "stats/disturbance.h"
#include "stats/series.h"

namespace tbd {
namespace {

constexpr BlockCause kCauses[] = {{"run-queue wait", &Block::runqueue, kRunqueueLimit.flagged},
                                  {"steal", &Block::steal, kStealLimit.flagged},
                                  {"other work", &Block::foreign, kOtherWorkLimit.flagged},
                                  {"cores slower by", &Block::fma_loss, kMostFmaLoss},
                                  {"memory slower by", &Block::read_loss, kMostReadLoss}};

constexpr size_t kNeighbours = 2;  // on each side

// 1 - rate / best at the worse of both ends; absent where neither is known.
std::optional<double> loss(double begin, double end, double best) {
  std::optional<double> most;
  for (const double rate : {begin, end})
    if (rate > 0 && best > 0) most = std::max(most.value_or(0), 1 - rate / best);
  return most;
}

std::vector<double> running_medians(const std::vector<double>& x) {
  std::vector<double> medians;
  for (size_t i = 0; i < x.size(); ++i) {
    const size_t begin = i < kNeighbours ? 0 : i - kNeighbours, end = std::min(x.size(), i + kNeighbours + 1);
    medians.push_back(median(Series(x).subspan(begin, end - begin)));
  }
  return medians;
}

// A column's sum over rows; nullopt where a row lacks it.
std::optional<double> column_sum(std::span<const StepRow> rows, std::optional<int64_t> StepRow::*column) {
  double total = 0;
  for (const StepRow& row : rows) {
    if (!(row.*column)) return std::nullopt;
    total += static_cast<double>(*(row.*column));
  }
  return total;
}

bool probed(const StepRow& row) { return row.pause_ns.has_value(); }

void add_kernel_evidence(Block& block, std::span<const StepRow> rows, std::optional<double> cores) {
  const auto wait = column_sum(rows, &StepRow::runqueue_wait_ns), user = column_sum(rows, &StepRow::user_cpu_ns),
             system = column_sum(rows, &StepRow::system_cpu_ns), ticks = column_sum(rows, &StepRow::steal_ticks);
  if (wait && user && system && *wait + *user + *system > 0) block.runqueue = *wait / (*wait + *user + *system);
  if (!cores || !(*cores * block.seconds > 0)) return;
  if (ticks) block.steal = *ticks / kStealTicksPerSecond / (*cores * block.seconds);
  if (rows.back().foreign_ns)
    block.foreign = 1e-9 * static_cast<double>(*rows.back().foreign_ns) / (*cores * block.seconds);
  if (block.runqueue && block.foreign) block.runqueue = std::min(*block.runqueue, *block.foreign);
}

}  // namespace

std::vector<CoreRates> steady_rates(std::span<const StepRow> rows) {
  std::vector<double> fma, read;
  for (const StepRow& row : rows)
    if (probed(row)) {
      fma.push_back(static_cast<double>(row.fma_flop_rate.value_or(0)));
      read.push_back(static_cast<double>(row.read_byte_rate.value_or(0)));
    }
  fma = running_medians(fma);
  read = running_medians(read);
  std::vector<CoreRates> rates(rows.size());
  for (size_t i = 0, probe = 0; i < rows.size(); ++i)
    if (probed(rows[i])) {
      rates[i] = {fma[probe], read[probe]};
      ++probe;
    }
  return rates;
}

CoreRates best_rates(std::span<const Launch> launches) {
  CoreRates best;
  for (const Launch& launch : launches)
    for (const CoreRates& rates : steady_rates(launch.steps)) {
      best.fma_flop_rate = std::max(best.fma_flop_rate, rates.fma_flop_rate);
      best.read_byte_rate = std::max(best.read_byte_rate, rates.read_byte_rate);
    }
  return best;
}

bool Block::judged() const { return runqueue || steal || foreign || fma_loss || read_loss; }

std::vector<std::string> Block::reasons() const {
  std::vector<std::string> out;
  for (const BlockCause& cause : kCauses)
    if ((this->*cause.share).value_or(0) > cause.most)
      out.push_back(cat(cause.what, " ", format_percent(*(this->*cause.share))));
  return out;
}

std::span<const BlockCause> block_causes() { return kCauses; }

double most_undisturbed(std::optional<double> Block::*share) {
  return std::ranges::find(kCauses, share, &BlockCause::share)->most;
}

std::vector<Block> step_blocks(const StepStretch& steps, std::optional<double> cores, const CoreRates& best) {
  std::vector<Block> blocks;
  const std::span<const StepRow> rows = steps.rows;
  const bool by_probe = std::ranges::any_of(rows, probed);
  CoreRates begin = steps.before;
  Block block;
  for (size_t i = 0; i < rows.size(); ++i) {
    block.seconds += steps.times[i];
    block.units += rows[i].units;
    const bool full = by_probe ? probed(rows[i]) : block.seconds >= kBlockSeconds;
    if (!full && i + 1 < rows.size()) continue;
    block.end = i + 1;
    add_kernel_evidence(block, rows.subspan(block.begin, block.end - block.begin), cores);
    const CoreRates& end = steps.rates[i];
    block.fma_loss = loss(begin.fma_flop_rate, end.fma_flop_rate, best.fma_flop_rate);
    block.read_loss = loss(begin.read_byte_rate, end.read_byte_rate, best.read_byte_rate);
    blocks.push_back(block);
    block = {.begin = i + 1};
    begin = end;
  }
  return blocks;
}

}  // namespace tbd
