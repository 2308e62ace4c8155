#include "cli/pass_options.h"

#include <ostream>

#include "base/json.h"
#include "cli/data_fit.h"
#include "cli/locations.h"
#include "cli/progress.h"
#include "cli/results.h"
#include "cli/small_sets.h"
#include "record/reader.h"
#include "runner/device_choice.h"

namespace tbd::cli {
namespace {

std::vector<Record> records_named(const PassOptions& options) {
  std::vector<Record> records;
  for (const std::string& name : options.cells.models()) {
    if (!std::filesystem::is_directory(name)) return {};
    for (const std::filesystem::path& path : find_records(name)) records.push_back(read_record(path));
  }
  return records;
}

// "resnet50 (imagenet), pytorch 2.15.0, eager, cpu, 2 threads, fp32, batch 8"
std::string heading(const Record& record) {
  const MeasuredWorkload& w = record.run.workload;
  return cat(w.model, " (", w.config, "), ", w.framework, " ", w.framework_version, ", ", w.mode, ", ", w.device, ", ",
             w.threads, w.threads == 1 ? " thread, " : " threads, ", w.precision, ", batch ", w.batch);
}

void print_view(Context& context, const Record& record, PassView view, Format format, bool again) {
  if (format == Format::json) {
    view.object["workload"] = to_json(record.run)["workload"];
    context.out << view.object->dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    return;
  }
  if (again) context.out << "\n";
  if (format != Format::csv) context.out << (format == Format::markdown ? "# " : "") << heading(record) << "\n\n";
  print_tables(context, view.tables, format);
  if (format == Format::text) context.out << view.below;
  if (format != Format::csv && !view.verdict.empty()) context.out << "\n" << print(view.verdict, format, context.width);
}

PassRecords measured_records(Context& context, const PassOptions& options, const std::vector<Pass>& passes,
                             const RunnerSettings& settings) {
  std::vector<Workload> wanted =
      with_devices(tbd::cells(with_launched_workers(options.cells.set(), settings)), settings);
  take_places(wanted, settings);
  find_data(context, wanted);
  require_classes_fit(wanted);
  RunOptions run{.effort = options.effort ? effort_of(*options.effort) : Effort::quick};
  run.passes = passes;
  run.peaks = passes != std::vector<Pass>{Pass::kMemory};
  if (options.limit) run.limit_seconds = static_cast<double>(positive(*options.limit, "--limit"));
  note_interrupts();
  const SetLock set = result_set(options.out, wanted);
  run.out = set.set();
  ProgressPrinter progress(context, options.output.quiet);
  const std::vector<CellRun> runs = run_cells(wanted, run, settings, [&](const Progress& p) { progress(p); });
  progress.clear();
  PassRecords out{.exit_code = code_of_runs(runs, settings)};
  for (const CellRun& cell : runs) {
    out.records.push_back(read_record(cell.record));
    if (cell.outcome.kind != OutcomeKind::ok)
      context.err << folder_name(cell.cell) << ": " << name(cell.outcome.kind) << ": " << cell.outcome.reason << "\n";
  }
  if (!options.output.quiet) context.err << "records: " << run.out.string() << "\n";
  return out;
}

}  // namespace

void PassOptions::declare(Options& options) {
  cells.declare(options);
  options.option("--effort", effort, "Number of steps: smoke, quick or publish [quick]");
  options.option("--limit", limit, "Time limit of a launch after its first step, in seconds [the effort's]");
  options.option("--out", out, "Folder of the result set [results/<time>-<model>-<hash>]");
  places.declare(options);
  places.declare_sharing(options);
  output.declare(options);
}

int with_pass_records(Context& context, const PassOptions& options, const std::vector<Pass>& passes,
                      const std::function<int(const PassRecords&)>& show) {
  if (options.cells.models().empty()) fail(ErrorKind::usage, "give a model or a record");
  if (std::vector<Record> records = records_named(options); !records.empty())
    return show({.records = std::move(records)});
  return at_places(context, options.places, [&](const RunnerSettings& settings) {
    return show(measured_records(context, options, passes, settings));
  });
}

int print_views(Context& context, const PassRecords& measured, const Pass& pass, std::string_view what, Format format,
                const std::function<std::optional<PassView>(const Record&)>& view) {
  bool any = false;
  for (const Record& record : measured.records) {
    if (std::optional<PassView> seen = view(record)) {
      print_view(context, record, std::move(*seen), format, any);
      any = true;
      continue;
    }
    const Launch* launch = last_launch(record, pass);
    const std::string reason = launch ? launch->info.outcome.reason : "";
    context.err << heading(record) << ": no " << what << (reason.empty() ? "" : ": ") << reason << "\n";
  }
  return any || measured.exit_code != kDone ? measured.exit_code : kCellFailed;
}

}  // namespace tbd::cli
