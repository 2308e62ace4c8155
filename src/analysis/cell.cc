#include "analysis/cell.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "analysis/metric_parts.h"
#include "analysis/throughput.h"
#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "record/shown_axes.h"
#include "stats/effort.h"

namespace tbd {
namespace {

Measured computed(const Metric& metric, const RunView& run) {
  try {
    return metric.compute(run);
  } catch (const Error& error) {
    return absent(error.what());
  }
}

Measured gated_value(const Metric& metric, const RunView& run, const Judgement& judgement) {
  if (judgement.withheld && metric.gate != MetricGate::none) return absent(*judgement.withheld);
  if (judgement.utilization_withheld && metric.gate == MetricGate::share_of_peak)
    return absent(*judgement.utilization_withheld);
  return computed(metric, run);
}

// Counts and bytes print as whole numbers.
Json number_json(const std::optional<double>& value, Unit unit) {
  if (!value || !std::isfinite(*value)) return nullptr;
  if ((unit == Unit::count || unit == Unit::bytes) && std::abs(*value) < 9e15) return std::llround(*value);
  return *value;
}

Json field_json(const Field& field, const MeasuredWorkload& w) {
  return std::visit(
      [&](auto member) {
        if constexpr (requires { (w.*member).has_value(); })
          return or_null(w.*member);
        else
          return Json(w.*member);
      },
      field.member);
}

constexpr std::string_view kFirstKeys[] = {"model",      "config", "model_hash", "framework", "framework_version",
                                           "mode",       "device", "threads",    "precision", "layout",
                                           "input_mode", "batch",  "unit"};
// Those that have followed the numbers since the first version; fields that came later follow them.
constexpr std::string_view kFurtherKeys[] = {
    "lowered_hash", "allocator", "optimizer", "dropout",  "synchronisation",
    "effort",       "seed",      "data_hash", "unpinned", "memory_budget_bytes"};
constexpr std::string_view kLeftOut[] = {"samples_per_step", "repro"};  // the latter comes last

Json workload_json(const MeasuredWorkload& w, std::span<const std::string_view> keys) {
  Json json = Json::object();
  for (const std::string_view key : keys)
    json[std::string(key)] = field_json(*std::ranges::find(fields(), key, &Field::key), w);
  return json;
}

// The keys that every row has before any other metric.
Json named_numbers(const CellResult& cell) {
  const auto value = [&](std::string_view id) { return number_json(cell[id].value, metric(id).unit); };
  const Measured& throughput = cell["throughput"];
  Json json;
  json["throughput"] = value("throughput");
  json["throughput_low"] = number_json(throughput.low, Unit::per_second);
  json["throughput_high"] = number_json(throughput.high, Unit::per_second);
  json["basis"] = cell["throughput"].value ? Json(name(cell.basis)) : Json(nullptr);
  json["grade"] = cell.judgement.grade.empty() ? Json(nullptr) : Json(cell.judgement.grade);
  json["step_time_median"] = value("step_time_median");
  json["step_time_p95"] = value("step_time_p95");
  json["stable_from_step"] = value("stable_from_step");
  json["steps"] = cell.steps;
  json["launches"] = cell.launches;
  for (const char* id : {"cpu_utilization", "peak_rss_bytes", "flop_rate"}) json[id] = value(id);
  return json;
}

Json further_keys(const CellResult& cell) {
  const MeasuredWorkload& w = cell.workload;
  Json json = workload_json(w, kFurtherKeys);
  for (const Field& field : fields())
    if (!std::ranges::count(kFirstKeys, field.key) && !std::ranges::count(kLeftOut, field.key))
      json[std::string(field.key)] = field_json(field, w);
  json["verified"] = or_null(cell.verified);
  json["grade_reason"] = cell.judgement.grade_reason;
  json["steps_total"] = cell.steps_total;
  json["record_hash"] = cell.record_hash;
  json["repro"] = w.repro;
  return json;
}

Json reasons_json(const CellResult& cell) {
  Json reasons = Json::object();
  for (size_t i = 0; i < cell.values.size(); ++i)
    if (!cell.values[i].value) reasons[std::string(metrics()[i].id)] = cell.values[i].reason;
  if (cell["throughput"].value && !cell["throughput"].low)
    reasons["throughput_low"] = reasons["throughput_high"] = "too few steps for an interval";
  if (!cell["throughput"].value) reasons["basis"] = cell["throughput"].reason;
  if (cell.judgement.grade.empty()) reasons["grade"] = cell.judgement.withheld.value_or("");
  if (!cell.workload.data_hash) reasons["data_hash"] = "the input is no data set";
  if (!cell.workload.bucket_bytes) reasons["bucket_bytes"] = "none were asked for: the usual ones, or one worker";
  if (!cell.workload.memory_budget_bytes) reasons["memory_budget_bytes"] = "no budget was enforced";
  if (!cell.verified) reasons["verified"] = "never checked against the reference";
  return reasons;
}

TableCell cell_of(const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX) return value.dump();
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number()) return value.get<double>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return {};
  if (!value.is_array()) return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::vector<std::string> parts;
  for (const Json& part : value) parts.push_back(part.is_string() ? part.get<std::string>() : part.dump());
  return join(parts, ";");
}

bool units_differ(std::span<const CellResult> cells) {
  return std::ranges::any_of(cells, [&](const auto& c) { return c.workload.unit != cells.front().workload.unit; });
}

std::string rate_unit(std::span<const CellResult> cells) {
  if (cells.empty() || cells.front().workload.unit.empty() || units_differ(cells)) return "units/s";
  return cells.front().workload.unit + "/s";
}

void insert(Table& table, ptrdiff_t at, const Column& column, std::span<const TableCell> values) {
  table.columns.insert(table.columns.begin() + at, column);
  for (size_t i = 0; i < values.size(); ++i) table.rows[i].insert(table.rows[i].begin() + at, values[i]);
}

// Unlike units get a column of their own.
void add_units(Table& table, std::span<const CellResult> cells) {
  if (!units_differ(cells)) return;
  const auto at = std::ranges::find(table.columns, "throughput", &Column::key) - table.columns.begin() + 1;
  std::vector<TableCell> units;
  for (const CellResult& each : cells) units.emplace_back(each.workload.unit);
  insert(table, at, {"unit", "unit"}, units);
}

// A number where the axis has one. How several workers go together is said where a row departs from the usual.
TableCell axis_cell(const Axis& axis, const Workload& workload) {
  if (const auto* count = std::get_if<int64_t Workload::*>(&axis.member)) return TableCell(workload.**count);
  return TableCell(axis.of_several ? axis.print(workload) : axis.value(workload));
}

// Axes that tell these rows apart and have no column, behind the batch.
void add_axes(Table& table, std::span<const CellResult> cells) {
  constexpr std::string_view kHas[] = {"model", "config", "framework", "mode", "precision", "input", "batch"};
  std::vector<const Workload*> workloads;
  for (const CellResult& each : cells) workloads.push_back(&each.workload);
  ptrdiff_t at = std::ranges::find(table.columns, "batch", &Column::key) - table.columns.begin() + 1;
  for (const Axis* axis : axes_to_show(workloads, kHas)) {
    const bool is_count = std::holds_alternative<int64_t Workload::*>(axis->member);
    std::vector<TableCell> values;
    for (const Workload* each : workloads) values.push_back(axis_cell(*axis, *each));
    insert(table, at++, {std::string(axis->key), std::string(axis->name), is_count ? Unit::count : Unit::none}, values);
  }
}

// A column of a metric that only some devices have, after the column named; nothing where no cell has it.
void add_where_known(Table& table, std::span<const CellResult> cells, std::string_view after, std::string_view id) {
  if (std::ranges::none_of(cells, [&](const CellResult& each) { return each[id].value.has_value(); })) return;
  const Metric& shown = metric(id);
  const auto at = std::ranges::find(table.columns, after, &Column::key) - table.columns.begin() + 1;
  std::vector<TableCell> values;
  for (const CellResult& each : cells) values.push_back(tbd::cell(each[id].value));
  insert(table, at, {std::string(id), std::string(shown.title), shown.unit}, values);
}

// What a narrow terminal shows of the results: which row it is and how fast, then the rest as far as there is room.
int drop_of(std::string_view key) {
  constexpr std::string_view kStay[] = {"model",      "framework",      "precision",       "input_mode", "batch",
                                        "throughput", "throughput_low", "throughput_high", "grade",      "outcome"};
  constexpr std::string_view kFirst[] = {"step_time_p95", "stable_from_step", "flop_rate"};
  if (std::ranges::count(kStay, key) > 0) return 0;
  return std::ranges::count(kFirst, key) > 0 ? 2 : 1;
}

// What is to be said of rows, each remark once with the rows that it is of; in the order of the first of them.
struct Remarks {
  std::vector<std::pair<std::string, std::vector<std::string>>> all;  // text, rows
  std::map<std::string, size_t> places;                               // of the texts
  void add(const std::string& row, const std::string& text) {
    const auto [place, is_new] = places.try_emplace(text, all.size());
    if (is_new) all.push_back({text, {}});
    all[place->second].second.push_back(row);
  }
};

// "resnet50 pytorch fp32 resident batch 8", "3 of 8 rows (...; ...; ...)", "all 3 rows".
std::string who_said(const std::vector<std::string>& rows, size_t of) {
  constexpr size_t kNamed = 3;
  if (rows.size() == 1) return rows.front();
  if (rows.size() == of) return of == 2 ? "both rows" : cat("all ", of, " rows");
  const size_t named = std::min(rows.size(), kNamed);
  const std::string more = named < rows.size() ? cat("; and ", rows.size() - named, " more") : "";
  return cat(rows.size(), " of ", of, " rows (", join(std::span(rows).first(named), "; "), more, ")");
}

// A program of someone else's says nothing of its batch.
TableCell batch_cell(const MeasuredWorkload& w) { return w.batch == 0 ? TableCell() : TableCell(w.batch); }

void add_remarks(Remarks& remarks, const CellResult& cell) {
  const MeasuredWorkload& w = cell.workload;
  const std::string workers =
      w.workers == 1 ? "" : cat(", ", w.workers, " workers", w.link.empty() ? "" : cat(" over ", w.link));
  const std::string who = w.mode == Mode::kExternal ? cat(w.model, " ", w.framework)
                                                    : cat(w.model, " ", w.framework, " ", w.precision, " ",
                                                          w.input_mode, " batch ", w.batch, workers);
  const auto say = [&](const auto&... parts) { remarks.add(who, cat(parts...)); };
  const Outcome& outcome = cell.judgement.outcome;
  if (outcome.kind != OutcomeKind::ok) say(name(outcome.kind), ": ", outcome.reason);
  if (!cell.judgement.grade_reason.empty()) say(cell.judgement.grade, ", ", cell.judgement.grade_reason);
  const std::string padded = w.unit == "seconds of audio" ? "frame" : "token";
  if (cell["padded_per_second"].value)
    say(significant(*cell["valid_per_second"].value, 4), " ", padded, "s/s in ",
        significant(*cell["padded_per_second"].value, 4), " ", padded, " slots/s, ",
        significant(*cell["samples_per_second"].value, 4), " samples/s");
  if (const auto share = cell["undisturbed_share"].value; share && *share < 0.995 && cell["throughput"].value)
    say(format_percent(*share), " of the time was undisturbed; in total ",
        significant(cell["throughput_total"].value.value_or(0), 4), " ", w.unit, "/s");
  if (!cell.judgement.flags.empty()) say("flags ", join(cell.judgement.flags, ", "));
}

void add_notes(Table& table, std::span<const CellResult> cells) {
  Remarks remarks;
  for (const CellResult& cell : cells) add_remarks(remarks, cell);
  for (const auto& [text, rows] : remarks.all) table.notes.push_back(cat(who_said(rows, cells.size()), ": ", text));
}

// Of launches that have one.
std::vector<double> launch_clocks(const RunView& run) {
  std::vector<double> clocks;
  for (const LaunchView& launch : run.launches) {
    const Json* use = gpu_use_of(launch.launch->info);
    const std::optional<Json> clock = use ? maybe<Json>(*use, "sm_clock_mhz") : std::nullopt;
    const std::optional<double> mean = clock ? maybe<double>(*clock, "mean") : std::nullopt;
    if (mean && *mean > 0) clocks.push_back(*mean);
  }
  return clocks;
}

// The pairs that compare_launches() goes by; nullopt where it sets two groups of launches against each other.
std::optional<LaunchPairs> pairs_to_compare(const CellResult& a, const CellResult& b, bool alike) {
  if (!a.timed.clocks.empty() && !b.timed.clocks.empty()) return std::nullopt;
  const auto shared_cores = [](const CellResult& cell) {  // workers in turns on a core are no less so in every launch
    return std::ranges::count(cell.judgement.flags, "oversubscribed") > 0;
  };
  if (!alike)
    return shared_cores(a) || shared_cores(b) ? std::nullopt : launches_in_turns(a.whole, b.whole, kFewestLaunches);
  std::optional<LaunchPairs> pairs = launches_in_turns(a.timed, b.timed);
  const size_t most = std::max(a.timed.rates.size(), b.timed.rates.size());
  return pairs && 5 * pairs->a.size() >= 4 * most ? pairs : std::nullopt;
}

// What a clean launch took from its start to its last step.
std::optional<double> mean_launch_seconds(const RunView& run) {
  double sum = 0;
  int64_t launches = 0;
  for (const Launch& launch : run.record->launches) {
    if (launch.info.pass != Pass::kClean || launch.steps.empty()) continue;
    sum += 1e-9 * static_cast<double>(launch.steps.back().completed_ns);
    ++launches;
  }
  return launches == 0 ? std::nullopt : std::optional(sum / static_cast<double>(launches));
}

}  // namespace

const Measured& CellResult::operator[](std::string_view metric_id) const {
  return values.at(static_cast<size_t>(&metric(metric_id) - metrics().data()));
}
Measured& CellResult::operator[](std::string_view metric_id) {
  return values.at(static_cast<size_t>(&metric(metric_id) - metrics().data()));
}

std::string unlike_evidence(const CellResult& a, const CellResult& b) {
  for (const CellResult* each : {&a, &b})
    if (each->judgement.grade == name(Grade::disturbed))
      return cat(each->workload.framework, " was disturbed (", each->judgement.grade_reason,
                 "): measure both again in turns (tbd ab), which a busy machine bears, or on a quieter one");
  if (a.basis == b.basis) return "";
  const CellResult& whole = a.basis == Basis::total ? a : b;
  return cat("nothing tells disturbed steps of ", whole.workload.framework,
             " from others, so its total stands against an undisturbed level: measure both again in one run");
}

LaunchRates launch_rates(const RunView& run, Basis basis) {
  LaunchRates out;
  const CellThroughput throughput = cell_throughput(run, basis);
  out.numbers = throughput.numbers;
  for (const Throughput& launch : throughput.launches) out.rates.push_back(launch.value);
  for (const int64_t number : throughput.numbers) {
    const auto launch =
        std::ranges::find(run.launches, number, [](const LaunchView& each) { return each.launch->info.number; });
    out.starts.push_back(launch->launch->info.start);
  }
  out.clocks = launch_clocks(run);
  if (out.clocks.size() != out.rates.size()) out.clocks.clear();
  return out;
}

std::optional<LaunchPairs> launches_in_turns(const LaunchRates& a, const LaunchRates& b, size_t fewest) {
  LaunchPairs pairs;
  std::string last_began;  // of the pair before
  for (size_t i = 0; i < a.numbers.size(); ++i) {
    const auto same = std::ranges::find(b.numbers, a.numbers[i]);
    if (same == b.numbers.end()) continue;
    const auto j = static_cast<size_t>(same - b.numbers.begin());
    if (!pairs.a.empty() && last_began >= std::min(a.starts[i], b.starts[j])) continue;
    last_began = std::max(a.starts[i], b.starts[j]);
    pairs.a.push_back(a.rates[i]);
    pairs.b.push_back(b.rates[j]);
  }
  return pairs.a.size() < fewest ? std::nullopt : std::optional(pairs);
}

std::string why_no_ratio(const CellResult& a, const CellResult& b) {
  std::string unlike = unlike_evidence(a, b);
  return unlike.empty() || pairs_to_compare(a, b, /*alike=*/false) ? "" : unlike;
}

std::optional<Comparison> compare_launches(const CellResult& a, const CellResult& b) {
  const LaunchRates &one = a.timed, &other = b.timed;
  if (const auto pairs = pairs_to_compare(a, b, unlike_evidence(a, b).empty()))
    return compare_pairs(pairs->a, pairs->b);
  if (one.rates.empty() || other.rates.empty()) return std::nullopt;
  return compare({one.rates, one.clocks}, {other.rates, other.clocks});
}

Quotient quotient(const Measured& numerator, const Measured& denominator) {
  const Measured &n = numerator, &d = denominator;
  Quotient out;
  if (!n.value || !d.value || !(*d.value > 0)) return out;
  out.value = *n.value / *d.value;
  if (!n.low || !n.high || !d.low || !d.high || !(*n.low > 0) || !(*d.low > 0)) return out;
  const double half = std::hypot(std::log(*n.high / *n.low), std::log(*d.high / *d.low)) / 2;
  out.low = *out.value * std::exp(-half);
  out.high = *out.value * std::exp(half);
  return out;
}

Quotient speed_ratio(const CellResult& a, const CellResult& b) { return speed_ratio(a, b, compare_launches(a, b)); }

Quotient speed_ratio(const CellResult& a, const CellResult& b, const std::optional<Comparison>& launches) {
  if (!launches || !launches->ratio.interval) return quotient(a["throughput"], b["throughput"]);
  return {launches->ratio.value, launches->ratio.interval->low, launches->ratio.interval->high};
}

CellResult summarize(const RunView& run) {
  CellResult cell{.workload = run.workload(), .judgement = judge(run)};
  for (const Metric& metric : metrics()) cell.values.push_back(gated_value(metric, run, cell.judgement));
  cell.verified = run.record->run.verified;
  cell.basis = run.basis;
  cell.steps = run.stable_steps();
  for (const Launch& launch : run.record->launches)
    if (launch.info.pass == Pass::kClean) {
      ++cell.launches;
      cell.steps_total += static_cast<int64_t>(launch.steps.size());
    }
  cell.timed = launch_rates(run, run.basis);
  cell.whole = launch_rates(run, Basis::total);
  cell.launch_seconds = mean_launch_seconds(run);
  cell.record = run.record->folder.string();
  cell.record_hash = run.record->hash;
  return cell;
}

CellResult summarize(const Record& record) { return summarize(view(record)); }

Json to_json(const CellResult& cell) {
  Json json = workload_json(cell.workload, kFirstKeys);
  json.update(named_numbers(cell));
  json["outcome"] = name(cell.judgement.outcome.kind);
  json["reason"] = cell.judgement.outcome.reason;
  json["flags"] = cell.judgement.flags;
  json["record"] = cell.record;
  for (size_t i = 0; i < cell.values.size(); ++i) {
    const std::string id(metrics()[i].id);
    if (!json.contains(id)) json[id] = number_json(cell.values[i].value, metrics()[i].unit);
  }
  json.update(further_keys(cell));
  json["reasons"] = reasons_json(cell);
  return json;
}

std::string to_json_line(const CellResult& cell) {
  return to_json(cell).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Table machine_table(std::span<const CellResult> cells) {
  Table table;
  for (const CellResult& cell : cells) {
    const Json json = to_json(cell);
    std::vector<TableCell> row;
    for (const auto& [key, value] : json.items()) {
      if (key == "reasons") continue;
      if (table.rows.empty()) table.columns.push_back({key, key, Unit::none});
      row.push_back(cell_of(value));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table results_table(std::span<const CellResult> cells) {
  Table table;
  table.columns = {{"model", "model"},
                   {"framework", "framework"},
                   {"mode", "mode"},
                   {"precision", "precision"},
                   {"input_mode", "input"},
                   {"batch", "batch", Unit::count},
                   {"throughput", rate_unit(cells), Unit::per_second},
                   {"throughput_low", "95 % from", Unit::per_second},
                   {"throughput_high", "to", Unit::per_second},
                   {"step_time_median", "step median", Unit::seconds},
                   {"step_time_p95", "step p95", Unit::seconds},
                   {"stable_from_step", "stable from", Unit::count},
                   {"cpu_utilization", "CPU", Unit::fraction},
                   {"peak_rss_bytes", "peak memory", Unit::bytes},
                   {"flop_rate", "FLOP rate", Unit::flop_rate},
                   {"mfu", "of peak", Unit::fraction},
                   {"grade", "grade"},
                   {"outcome", "outcome"}};
  for (const CellResult& c : cells) {
    const MeasuredWorkload& w = c.workload;
    const auto value = [&](std::string_view id) { return tbd::cell(c[id].value); };
    table.rows.push_back({w.config.empty() || w.config == "default" ? w.model : cat(w.model, " ", w.config),
                          cat(w.framework, " ", w.framework_version), w.mode.text(), w.precision.text(),
                          w.input_mode.text(), batch_cell(w), value("throughput"), tbd::cell(c["throughput"].low),
                          tbd::cell(c["throughput"].high), value("step_time_median"), value("step_time_p95"),
                          value("stable_from_step"), value("cpu_utilization"), value("peak_rss_bytes"),
                          value("flop_rate"), value("mfu"),
                          c.judgement.grade.empty() ? TableCell() : TableCell(c.judgement.grade),
                          std::string(name(c.judgement.outcome.kind))});
  }
  for (Column& column : table.columns) column.drop = drop_of(column.key);
  add_axes(table, cells);
  add_units(table, cells);
  add_where_known(table, cells, "cpu_utilization", "gpu_utilization");
  add_where_known(table, cells, "peak_rss_bytes", "gpu_memory_bytes");
  add_notes(table, cells);
  return table;
}

std::string print_cells(std::span<const CellResult> cells, Format format, size_t width) {
  if (format == Format::text) return to_text(results_table(cells), width);
  if (format == Format::markdown) return to_markdown(results_table(cells));
  if (format == Format::csv) return to_csv(machine_table(cells));
  std::string out;
  for (const CellResult& cell : cells) out += to_json_line(cell);
  return out;
}

}  // namespace tbd
