#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/trace/trace_tables.h"
#include "base/text.h"
#include "base/units.h"

namespace tbd {
namespace {

constexpr size_t kMost = 20;  // kernels

std::optional<double> change_of(int64_t base, int64_t next) {
  if (base <= 0) return std::nullopt;
  return static_cast<double>(next) / static_cast<double>(base);
}

using RankPair = std::pair<const RankAnalysis*, const RankAnalysis*>;

std::vector<RankPair> rank_pairs(std::span<const RankAnalysis> base, std::span<const RankAnalysis> next) {
  std::vector<RankPair> out;
  for (const RankAnalysis& a : base) {
    const auto found = std::ranges::find(next, a.rank, &RankAnalysis::rank);
    if (found != next.end()) out.push_back({&a, &*found});
  }
  return out;
}

std::vector<std::pair<std::string, int64_t>> totals(const RankAnalysis& r) {
  std::vector<std::pair<std::string, int64_t>> out = {
      {"window", r.window.length()},
      {"busy", r.masks.busy()},
      {"compute", r.masks.busy(kComputeBits)},
      {"communication", r.masks.busy(bit(DeviceClass::comm))},
      {"overlap of the two", r.masks.overlap(kComputeBits, bit(DeviceClass::comm))},
      {"copy", r.masks.busy(bit(DeviceClass::copy))},
      {"idle", r.masks.idle()}};
  for (size_t i = 0; i < kIdleCauses; ++i)
    out.emplace_back(cat("idle: ", name(static_cast<IdleCause>(i))), r.causes[i]);
  return out;
}

std::vector<Column> compared(std::string key, std::string title) {
  return {{"rank", "rank"},
          {std::move(key), std::move(title)},
          {"base_s", "base", Unit::seconds},
          {"next_s", "next", Unit::seconds},
          {"change_s", "change", Unit::seconds},
          {"ratio", "ratio"}};
}

void add_row(Table& table, int32_t rank, const std::string& what, int64_t base, int64_t next) {
  table.rows.push_back(
      {int64_t{rank}, what, seconds_of(base), seconds_of(next), seconds_of(next - base), cell(change_of(base, next))});
}

Table totals_table(std::span<const RankPair> pairs) {
  Table table{.title = "Compared: totals", .columns = compared("what", "what")};
  for (const auto& [base, next] : pairs) {
    const auto a = totals(*base), b = totals(*next);
    for (size_t i = 0; i < a.size(); ++i)
      if (a[i].second != 0 || b[i].second != 0) add_row(table, base->rank, a[i].first, a[i].second, b[i].second);
  }
  return table;
}

Table kernels_table(std::span<const RankPair> pairs) {
  Table table{.title = "Compared: kernels and ops by change of time", .columns = compared("name", "name")};
  table.columns[1].short_form = short_kernel_name;
  for (const auto& [base, next] : pairs) {
    std::map<std::string, std::pair<int64_t, int64_t>> times;
    for (const KernelGroup& kernel : kernels_by_name(base->kernels)) times[kernel.name].first += kernel.total_ns;
    for (const KernelGroup& kernel : kernels_by_name(next->kernels)) times[kernel.name].second += kernel.total_ns;
    std::vector<std::pair<std::string, std::pair<int64_t, int64_t>>> rows(times.begin(), times.end());
    const auto change = [](const auto& row) { return -std::abs(row.second.second - row.second.first); };
    std::ranges::stable_sort(rows, {}, change);
    rows.resize(std::min(rows.size(), kMost));
    for (const auto& [kernel, pair] : rows) add_row(table, base->rank, kernel, pair.first, pair.second);
  }
  return table;
}

}  // namespace

std::vector<Table> comparison_tables(std::span<const RankAnalysis> base, std::span<const RankAnalysis> next) {
  const std::vector<RankPair> pairs = rank_pairs(base, next);
  return {totals_table(pairs), kernels_table(pairs)};
}

}  // namespace tbd
