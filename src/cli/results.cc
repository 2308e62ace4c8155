#include "cli/results.h"

#include <ctime>
#include <ostream>

#include "analysis/answers.h"
#include "analysis/cell.h"
#include "analysis/framework_groups.h"
#include "analysis/gpu_tables.h"
#include "analysis/input_verdict.h"
#include "analysis/scaling.h"
#include "analysis/sweep/largest_batch.h"
#include "base/error.h"
#include "base/text.h"
#include "record/reader.h"
#include "runner/settings.h"

namespace tbd::cli {

namespace {

// A pass that cannot be read is as one that was not measured: tbd profile and tbd memory say why.
template <class Read>
auto readable(const Record& record, Read read) -> decltype(read(record)) try {
  return read(record);
} catch (const Error&) {
  return std::nullopt;
}

// What was measured, with the profiles of those that were traced.
struct Rows {
  std::vector<Record> records;
  std::vector<CellResult> cells;
  std::vector<std::optional<Profile>> profiles;
};

Rows rows_of(const std::vector<CellRun>& runs) {
  Rows rows;
  for (const CellRun& run : runs) rows.records.push_back(read_record(run.record));
  for (const Record& record : rows.records) {
    rows.cells.push_back(summarize(record));
    rows.profiles.push_back(readable(record, profile_of));
  }
  return rows;
}

// Above the tables: what they say.
void print_answers(Context& context, const Rows& rows, Format format) {
  std::vector<AnswerRow> answered;
  for (size_t i = 0; i < rows.cells.size(); ++i)
    answered.push_back({&rows.cells[i], rows.profiles[i] ? &*rows.profiles[i] : nullptr});
  context.out << print(answers(answered), format, context.width) << "\n";
}

void print_gpu_tables(Context& context, const Rows& rows, Format format) {
  const std::vector<Record>& records = rows.records;
  std::vector<std::optional<MemoryReport>> memories;
  for (const Record& record : records) {
    const bool gpu = record.run.workload.device != Device::kCpu;
    memories.push_back(gpu ? readable(record, memory_report) : std::nullopt);
  }
  std::vector<GpuRow> on_gpu;
  for (size_t i = 0; i < records.size(); ++i) {
    const MeasuredWorkload& w = records[i].run.workload;
    if (w.device == Device::kCpu) continue;
    const std::string precision = w.precision == Precision() ? "" : cat(" ", w.precision);  // of a foreign program
    const std::string batch = w.batch > 0 ? cat(" batch ", w.batch) : "";
    on_gpu.push_back({cat(w.model, " ", w.framework, precision, batch), rows.cells[i],
                      rows.profiles[i] ? &*rows.profiles[i] : nullptr, memories[i] ? &*memories[i] : nullptr});
  }
  if (on_gpu.empty()) return;
  for (const Table& table : {gpu_table(on_gpu), gpu_memory_table(on_gpu)})
    if (!table.rows.empty()) context.out << "\n" << print(table, format, context.width);
}

}  // namespace

SetLock result_set(const std::filesystem::path& out, const std::vector<Workload>& cells) {
  return out.empty() ? SetLock::of_new_folder(default_out("results", cells, utc_label())) : SetLock(out);
}

int code_of_runs(const std::vector<CellRun>& runs, const RunnerSettings& settings) {
  return settings.interrupted() ? kCellFailed : exit_code(runs);
}

void print_runs(Context& context, const std::vector<CellRun>& runs, Format format) {
  const Rows measured = rows_of(runs);
  const std::vector<CellResult>& rows = measured.cells;
  const bool for_people = format == Format::text || format == Format::markdown;
  if (for_people && !rows.empty()) print_answers(context, measured, format);
  context.out << print_cells(rows, format, context.width);
  if (!for_people) return;
  std::vector<const Record*> each;
  for (const Record& record : measured.records) each.push_back(&record);
  const std::vector<InputPair> pairs = input_pairs(rows);
  if (!pairs.empty()) context.out << "\n" << print(input_table(pairs), format, context.width);
  const std::vector<FrameworkGroup> groups = framework_groups(rows);
  for (const Table& table :
       {comparison_table(groups), apart_table(groups), scaling_table(scalings(rows)), largest_batch_table(each)})
    if (!table.rows.empty()) context.out << "\n" << print(table, format, context.width);
  print_gpu_tables(context, measured, format);
  for (const CellRun& run : runs) {
    if (run.outcome.kind == OutcomeKind::ok) continue;
    context.err << folder_name(run.cell) << ": " << name(run.outcome.kind) << ": " << run.outcome.reason << "\n";
    if (!run.outcome.repro.empty()) context.err << "  again: " << run.outcome.repro << "\n";
  }
}

std::string utc_label() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text;
}

}  // namespace tbd::cli
