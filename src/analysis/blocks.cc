#include "analysis/blocks.h"

#include <algorithm>

#include "base/text.h"

namespace tbd {
namespace {

double loss(double rate, double best) { return std::max(0.0, 1 - rate / best); }

// The worse of both ends' losses; absent where neither is known.
std::optional<double> worse(std::optional<int64_t> begin, std::optional<int64_t> end, double best) {
  std::optional<double> most;
  if (!(best > 0)) return most;
  for (const std::optional<int64_t>& rate : {begin, end})
    if (rate) most = std::max(most.value_or(0), loss(static_cast<double>(*rate), best));
  return most;
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
}

}  // namespace

BestSpeed best_speed(std::span<const Launch> launches) {
  BestSpeed best;
  for (const Launch& launch : launches)
    for (const StepRow& row : launch.steps) {
      best.fma_flop_rate = std::max(best.fma_flop_rate, static_cast<double>(row.fma_flop_rate.value_or(0)));
      best.read_byte_rate = std::max(best.read_byte_rate, static_cast<double>(row.read_byte_rate.value_or(0)));
    }
  return best;
}

bool Block::judged() const { return runqueue || steal || foreign || fma_loss || read_loss; }

std::vector<std::string> Block::reasons() const {
  std::vector<std::string> out;
  const auto add = [&](const std::optional<double>& value, double most, const char* what) {
    if (value.value_or(0) > most) out.push_back(cat(what, " ", format_percent(*value)));
  };
  add(runqueue, kMostRunqueueWait, "run-queue wait");
  add(steal, kMostSteal, "steal");
  add(foreign, kMostForeign, "other work");
  add(fma_loss, kMostFmaLoss, "cores slower by");
  add(read_loss, kMostReadLoss, "memory slower by");
  return out;
}

std::vector<Block> step_blocks(std::span<const StepRow> rows, std::span<const double> times, const StepRow* before,
                               std::optional<double> cores, const BestSpeed& best) {
  std::vector<Block> blocks;
  const bool by_probe = std::ranges::any_of(rows, probed);
  const StepRow* last_probe = before && probed(*before) ? before : nullptr;
  Block block;
  for (size_t i = 0; i < rows.size(); ++i) {
    block.seconds += times[i], block.units += rows[i].units;
    const bool full = by_probe ? probed(rows[i]) : block.seconds >= kBlockSeconds;
    if (!full && i + 1 < rows.size()) continue;
    block.end = i + 1;
    add_kernel_evidence(block, rows.subspan(block.begin, block.end - block.begin), cores);
    const StepRow* here = probed(rows[i]) ? &rows[i] : nullptr;
    const auto at = [](const StepRow* row, std::optional<int64_t> StepRow::*column) {
      return row ? row->*column : std::nullopt;
    };
    block.fma_loss =
        worse(at(last_probe, &StepRow::fma_flop_rate), at(here, &StepRow::fma_flop_rate), best.fma_flop_rate);
    block.read_loss =
        worse(at(last_probe, &StepRow::read_byte_rate), at(here, &StepRow::read_byte_rate), best.read_byte_rate);
    blocks.push_back(block);
    block = {.begin = i + 1};
    last_probe = here;
  }
  return blocks;
}

}  // namespace tbd
