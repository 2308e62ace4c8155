#include "cli/pass_options.h"

#include <ostream>

#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "record/reader.h"

namespace tbd::cli {
namespace {

std::vector<Record> records_named(const PassOptions& options) {
  std::vector<Record> records;
  for (const std::string& name : options.cells.models) {
    if (!std::filesystem::is_directory(name)) return {};
    for (const std::filesystem::path& path : find_records(name)) records.push_back(read_record(path));
  }
  return records;
}

}  // namespace

void PassOptions::declare(CLI::App& app) {
  cells.declare(app);
  app.add_option("--effort", effort, "smoke, quick or publish: how many steps [quick]");
  app.add_option("--limit", limit, "Seconds for a launch after its first step [the effort's]");
  app.add_option("--out", out, "Folder of the result set [results/<time>-<model>-<hash>]");
  output.declare(app);
}

PassRecords pass_records(Context& context, const PassOptions& options, const std::vector<std::string>& passes) {
  if (options.cells.models.empty()) fail(ErrorKind::usage, "a model or a record is needed");
  if (std::vector<Record> records = records_named(options); !records.empty()) return {.records = std::move(records)};
  const std::vector<Cell> wanted = tbd::cells(options.cells.axes());
  RunOptions run{.effort = options.effort ? effort_of(*options.effort) : Effort::quick};
  run.passes = passes;
  run.peaks = passes != std::vector<std::string>{"memory"};
  if (options.limit) run.limit_seconds = static_cast<double>(positive(*options.limit, "--limit"));
  run.out = options.out.empty() ? default_out("results", wanted, utc_label()) : std::filesystem::path(options.out);
  note_interrupts();
  ProgressPrinter progress(context, options.output.quiet);
  const std::vector<CellRun> runs =
      run_cells(wanted, run, runner_settings(context), [&](const Progress& p) { progress(p); });
  progress.clear();
  PassRecords out{.exit_code = exit_code(runs)};
  for (const CellRun& cell : runs) {
    out.records.push_back(read_record(cell.record));
    if (cell.outcome.kind != OutcomeKind::ok)
      context.err << cell_name(cell.cell) << ": " << name(cell.outcome.kind) << ": " << cell.outcome.reason << "\n";
  }
  if (!options.output.quiet) context.err << "records: " << run.out.string() << "\n";
  return out;
}

std::string heading(const Record& record) {
  const Workload& w = record.run.workload;
  return cat(w.model, " (", w.config, "), ", w.framework, " ", w.framework_version, ", ", w.mode, ", ", w.device, ", ",
             w.threads, w.threads == 1 ? " thread, " : " threads, ", w.precision, ", batch ", w.batch);
}

void print_tables(Context& context, const std::vector<Table>& tables, Format format) {
  for (const Table& table : tables) {
    if (&table != &tables.front()) context.out << "\n";
    if (format == Format::csv) context.out << "# " << table.title << "\n";
    context.out << print(table, format);
  }
}

}  // namespace tbd::cli
