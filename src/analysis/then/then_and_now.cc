#include "analysis/then/then_and_now.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "analysis/memory/memory_report.h"
#include "analysis/metric_parts.h"
#include "analysis/profile/profile.h"
#include "base/json.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

const MeasuredWorkload& workload(const ThenCell& cell) { return cell.record->run.workload; }

double distance(int64_t batch, int64_t wanted) {
  if (wanted <= 0 || batch <= 0) return 0;
  return std::abs(std::log2(static_cast<double>(batch) / static_cast<double>(wanted)));
}

// Of the printed value's network, the one that fits best first.
std::vector<ThenCell> fitting(const PrintedValue& printed, std::span<const ThenCell> cells) {
  std::vector<ThenCell> found;
  for (const ThenCell& cell : cells)
    if (printed.model.empty() || workload(cell).model == printed.model) found.push_back(cell);
  const auto rank = [&](const ThenCell& cell) {
    const MeasuredWorkload& w = workload(cell);
    return std::tuple(w.workers, !printed.config.empty() && w.config != printed.config,
                      !printed.framework.empty() && w.framework != printed.framework, w.precision != Precision::kFp32,
                      distance(w.batch, printed.batch));
  };
  std::ranges::stable_sort(found, [&](const ThenCell& a, const ThenCell& b) { return rank(a) < rank(b); });
  return found;
}

std::optional<double> measured_throughput(const ThenCell& cell) { return (*cell.result)["throughput"].value; }

// Alike but for the batch, which is twice as large.
std::optional<double> gain_of_doubling(const ThenCell& cell, std::span<const ThenCell> cells) {
  for (const ThenCell& other : cells) {
    if (workload(other).batch != 2 * workload(cell).batch) continue;
    if (!alike_but({"batch"}, workload(other), workload(cell))) continue;
    const auto small = measured_throughput(cell), large = measured_throughput(other);
    if (small && large && *small > 0) return *large / *small - 1;
  }
  return std::nullopt;
}

std::optional<double> feature_map_share(const ThenCell& cell) try {
  const std::optional<MemoryReport> report = memory_report(*cell.record);
  if (!report || report->log.evidence == MemoryEvidence::plan) return std::nullopt;
  const int64_t all = sum(report->study.peak.requested);
  const int64_t maps = report->study.peak.requested[static_cast<size_t>(MemoryClass::feature_map)];
  return all > 0 ? std::optional(static_cast<double>(maps) / static_cast<double>(all)) : std::nullopt;
} catch (const Error&) {
  return std::nullopt;  // the memory page says why
}

std::optional<double> longest_below(const ThenCell& cell) try {
  const std::optional<Profile> profile = profile_of(*cell.record);
  if (!profile) return std::nullopt;
  int64_t all = 0;
  const std::vector<RankedWork> ranked = profile->ranked();  // longest first
  for (const RankedWork& work : ranked) all += work.total_ns;
  for (const RankedWork& work : ranked)
    if (all > 0 && work.utilization.value_or(0) < profile->mean_utilization())
      return static_cast<double>(work.total_ns) / static_cast<double>(all);
  return std::nullopt;
} catch (const Error&) {
  return std::nullopt;  // the profile page says why
}

std::optional<double> peak_rate(const Json& peaks, const char* roof, const char* type) {
  const std::optional<Json> rates = maybe<Json>(peaks, roof);
  return rates && rates->is_object() ? maybe<double>(*rates, type) : std::nullopt;
}

std::optional<double> memory_of(const Json& environment) {
  const std::optional<Json> limits = maybe<Json>(environment, "limits");
  return limits && limits->is_object() ? maybe<double>(*limits, "memory_bytes") : std::nullopt;
}

std::optional<double> value_of(Counterpart counterpart, const ThenCell& cell, std::span<const ThenCell> cells) {
  const RunInfo& run = cell.record->run;
  switch (counterpart) {
    case Counterpart::layers:
      return run.card.layers > 0 ? std::optional(static_cast<double>(run.card.layers)) : std::nullopt;
    case Counterpart::throughput:
      return (*cell.result)["samples_per_second"].value;
    case Counterpart::gain_of_doubling:
      return gain_of_doubling(cell, cells);
    case Counterpart::feature_map_share:
      return feature_map_share(cell);
    case Counterpart::longest_below:
      return longest_below(cell);
    case Counterpart::peak_fp32:
      return peak_rate(run.peaks, "isa", "fp32");
    case Counterpart::bandwidth:
      return maybe<double>(run.peaks, "bandwidth");
    case Counterpart::memory:
      return on_gpu(run.workload) ? std::nullopt : memory_of(run.environment);  // a record has no size of a GPU's
    default:
      return std::nullopt;
  }
}

std::optional<double> count_of(Counterpart counterpart, std::span<const ThenCell> cells) {
  std::set<std::string> names;
  for (const ThenCell& cell : cells) {
    if (counterpart == Counterpart::model_count) names.insert(workload(cell).model);
    if (counterpart == Counterpart::domain_count) names.insert(cell.record->run.card.domain);
    if (counterpart == Counterpart::framework_count) names.insert(workload(cell).framework);
  }
  names.erase("");
  return names.empty() ? std::nullopt : std::optional(static_cast<double>(names.size()));
}

bool is_of_machine(Counterpart counterpart) {
  return counterpart == Counterpart::peak_fp32 || counterpart == Counterpart::bandwidth ||
         counterpart == Counterpart::memory;
}

std::string cell_text(Counterpart counterpart, const MeasuredWorkload& w) {
  if (counterpart == Counterpart::layers) return cat(w.model, " ", w.config);
  if (is_of_machine(counterpart) && on_gpu(w)) return cat(w.device, " of this machine");
  if (is_of_machine(counterpart)) return cat("this machine, ", w.threads, w.threads == 1 ? " thread" : " threads");
  std::string batch = cat("batch ", w.batch);
  if (counterpart == Counterpart::gain_of_doubling) batch += cat(" to ", 2 * w.batch);
  return cat(w.framework, " ", w.framework_version, ", ", batch, ", ", w.precision, ", ", w.input_mode, ", ", w.device);
}

std::string missing(const PrintedValue& printed) {
  if (printed.counterpart == Counterpart::none) return "not measured here";
  if (printed.model.empty()) return "the records do not say";
  const std::string run = cat("tbd run ", printed.model);
  switch (printed.counterpart) {
    case Counterpart::gain_of_doubling:
      return "needs two batches, one twice the other";
    case Counterpart::feature_map_share:
      return cat(run, " --passes clean,memory");
    case Counterpart::longest_below:
      return cat(run, " --passes clean,trace");
    default:
      return run;
  }
}

std::string printed_text(double value, const PrintedValue& printed) {
  if (printed.unit == Unit::bytes && printed.unit_text == "/s") return cat(format_rate(value), "B/s");
  if (printed.unit_text.empty()) return human(value, printed.unit);
  return cat(human(value, printed.unit), " ", printed.unit_text);
}

std::string of_text(const PrintedValue& printed) {
  std::vector<std::string> parts;
  for (const std::string_view part : {printed.model, printed.config, printed.framework})
    if (!part.empty()) parts.emplace_back(part);
  if (printed.batch > 0) parts.push_back(cat("batch ", printed.batch));
  return join(parts, ", ");
}

}  // namespace

std::optional<double> ThenNow::ratio() const {
  if (!now || printed->relation != Relation::equal || printed->value == 0) return std::nullopt;
  return *now / printed->value;
}

std::vector<ThenNow> then_and_now(std::span<const ThenCell> cells) {
  std::vector<ThenNow> values;
  for (const PrintedValue& printed : printed_values()) {
    ThenNow value{.printed = &printed};
    value.now = count_of(printed.counterpart, cells);
    const std::vector<ThenCell> fit = value.now ? std::vector<ThenCell>() : fitting(printed, cells);
    for (const ThenCell& cell : fit) {
      value.now = value_of(printed.counterpart, cell, cells);
      if (!value.now) continue;
      value.cell = cell_text(printed.counterpart, workload(cell));
      break;
    }
    if (!value.now) value.reason = missing(printed);
    values.push_back(std::move(value));
  }
  return values;
}

Table then_table(std::span<const ThenNow> values) {
  Table table{.title = "Then and now"};
  table.columns = {{"what", "what"},          {"of", "of"},
                   {"then", "then"},          {"now", "now"},
                   {"ratio", "now to then"},  {"confidence", "confidence"},
                   {"device", "device then"}, {"cell", "now measured on"},
                   {"source", "source"},      {"differs", "what differs"}};
  for (const ThenNow& value : values) {
    const PrintedValue& printed = *value.printed;
    table.rows.push_back(
        {std::string(printed.what), of_text(printed),
         cat(printed.relation == Relation::below ? "below " : "", printed_text(printed.value, printed)),
         value.now ? TableCell(printed_text(*value.now, printed)) : TableCell(), cell(value.ratio()),
         std::string(name(printed.confidence)), std::string(printed.device), value.now ? value.cell : value.reason,
         cat(printed.source, ", ", printed.where), std::string(printed.differs)});
  }
  for (const Confidence confidence : {Confidence::read, Confidence::secondary, Confidence::unconfirmed})
    table.notes.push_back(cat("Confidence ", name(confidence), ": ", meaning(confidence), "."));
  table.notes.emplace_back(
      "The paper shows its curves and bars as charts without printed numbers: nothing was read off them.");
  return table;
}

}  // namespace tbd
