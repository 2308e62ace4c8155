#include "analysis/compare/measured_row.h"

#include <algorithm>
#include <cmath>

#include "analysis/evidence.h"
#include "analysis/sweep/sweep.h"
#include "analysis/throughput.h"
#include "base/codec.h"
#include "record/axes.h"
#include "record/environment_fields.h"
#include "stats/effort.h"

namespace tbd {

using codec::Is;
constexpr codec::JsonForm kBaselineForm = codec::JsonForm::message;

template <Is<StepCounter> T>
void fields(T& counter, auto visit) {
  visit("name", counter.name);
  visit("values", counter.values);
}
template <Is<MeasuredRow> T>
void fields(T& row, auto visit) {
  visit("created", row.created);
  visit("tool", row.tool);
  visit("machine", row.machine);
  visit("settings", row.settings);
  visit("total", row.total);
  visit("undisturbed", row.undisturbed);
  visit("clocks_mhz", codec::Later{row.clocks_mhz});
  visit("grade", row.grade);
  visit("disturbance", row.disturbance);
  visit("withheld", row.withheld);
  visit("verified", row.verified);
  visit("counters", row.counters);
}

namespace {

// What people, updates and hosts change between two runs. The load changes by itself, what the worker's process held
// follows from the libraries, and the processor is the machine's.
bool is_setting(std::string_view field) {
  constexpr std::string_view kGroups[] = {"limits.", "software.", "variables.", "framework.", "threads.environment."};
  constexpr std::string_view kOfProcessor[] = {"cpu.microcode", "cpu.smt", "cpu.governor", "cpu.frequency_driver",
                                               "cpu.boost"};
  if (field == "limits.memory_bytes") return false;  // differs by some pages from boot to boot
  return std::ranges::any_of(kGroups, [&](std::string_view group) { return field.starts_with(group); }) ||
         std::ranges::find(kOfProcessor, field) != std::end(kOfProcessor);
}

std::vector<double> total_rates(const RunView& run) {
  std::vector<double> rates;
  for (const Throughput& launch : cell_throughput(run, Basis::total).launches) rates.push_back(launch.value);
  return rates;
}

struct Timed {
  const Record* record;
  RunView run;
  CellResult cell;
};

MeasuredRow row_of(const Timed& timed) {
  const RunInfo& run = timed.record->run;
  MeasuredRow row{.workload = run.workload,
                  .created = run.created,
                  .tool = run.tool,
                  .record = timed.record->folder.string(),
                  .machine = machine_of(*timed.record),
                  .grade = timed.cell.judgement.grade,
                  .verified = timed.cell.verified};
  for (const auto& [field, value] : environment_fields(run.environment))
    if (is_setting(field)) row.settings[field] = value;
  if (row.grade == name(Grade::disturbed)) row.disturbance = timed.cell.judgement.grade_reason;
  if (const Measured& throughput = timed.cell["throughput"]; !throughput.value) {
    const Outcome& outcome = timed.cell.judgement.outcome;
    row.withheld = outcome.kind == OutcomeKind::ok ? throughput.reason : cat(name(outcome.kind), ": ", outcome.reason);
    return row;
  }
  row.total = total_rates(timed.run);
  if (timed.run.basis == Basis::undisturbed) row.undisturbed = timed.cell.timed.rates;
  row.clocks_mhz = timed.cell.timed.clocks;
  return row;
}

Timed timed(const Record& record) {
  Timed out{&record, view(record), {}};
  out.cell = summarize(out.run);
  return out;
}

void require_whole(const MeasuredRow& row) {
  for (const std::vector<double>* rates : {&row.total, &row.undisturbed})
    for (const double rate : *rates)
      require(std::isfinite(rate) && rate > 0, "a launch has ", rate, " units/s: a rate is positive");
  require(row.total.empty() != row.withheld.empty(), "a row has launches, or says why it has none");
  require(row.undisturbed.empty() || !row.total.empty(), "'undisturbed' needs 'total'");
  for (const StepCounter& counter : row.counters) require(!counter.values.empty(), counter.name, " has no value");
}

}  // namespace

MeasuredRow measured_row(const Record& record) { return row_of(timed(record)); }

std::vector<MeasuredRow> measured_rows(std::span<const Record> records) {
  std::vector<Timed> all, best;
  for (const Record& record : records) all.push_back(timed(record));
  std::vector<std::vector<StepCounter>> counters;
  for (Timed& each : all) {
    auto found = std::ranges::find_if(best, [&](const Timed& other) {
      return alike_but({}, other.record->run.workload, each.record->run.workload) &&
             machine_of(*other.record) == machine_of(*each.record);
    });
    const bool is_new = found == best.end();
    const auto at = static_cast<size_t>(found - best.begin());
    if (is_new) counters.emplace_back();
    for (StepCounter& counter : step_counters(*each.record))
      if (std::ranges::find(counters[at], counter.name, &StepCounter::name) == counters[at].end())
        counters[at].push_back(std::move(counter));
    if (is_new)
      best.push_back(std::move(each));
    else if (better({each.record, &each.cell}, {found->record, &found->cell}))
      *found = std::move(each);
  }
  std::vector<MeasuredRow> rows;
  for (size_t i = 0; i < best.size(); ++i) {
    rows.push_back(row_of(best[i]));
    rows.back().counters = std::move(counters[i]);
  }
  return rows;
}

std::string baseline_text(std::span<const MeasuredRow> rows) {
  std::string text = cat("{\"version\": ", kBaselineVersion, ", \"rows\": [");
  for (const MeasuredRow& row : rows) {
    MeasuredWorkload workload = row.workload;
    workload.repro.clear();  // may name folders
    Json json = {{"workload", to_json(workload)}};
    json.update(codec::write_fields<kBaselineForm>(row));
    text += cat(&row == rows.data() ? "\n" : ",\n", json.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return text + "\n]}\n";
}

std::vector<MeasuredRow> rows_of_baseline(std::string_view text, const std::string& where) try {
  const Json json = parse_json(text, "baseline");
  const int version = at<int>(json, "version");
  require(version == kBaselineVersion, "the baseline has version ", version, ", this tbd reads ", kBaselineVersion,
          ": save it anew");
  const Json rows = at<Json>(json, "rows");
  require(rows.is_array(), "'rows' is no list");
  std::vector<MeasuredRow> out;
  for (const Json& each : rows) {
    MeasuredRow row{.workload = workload_from_json(at<Json>(each, "workload")), .record = where};
    codec::read_fields<kBaselineForm>(each, row);
    require_whole(row);
    out.push_back(std::move(row));
  }
  return out;
} catch (const Error& error) {
  throw error.within(where);
}

}  // namespace tbd
