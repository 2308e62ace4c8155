// tbd profile: where time goes, from clean and traced launches of one cell, or of a program of someone's own. Of that
// nobody knows what its ops need: what computes is no loss, and ops go by their names.
#include <algorithm>
#include <fstream>
#include <ostream>
#include <utility>

#include "analysis/cell.h"
#include "analysis/profile/parts.h"
#include "analysis/profile/profile_tables.h"
#include "analysis/trace/queue_tables.h"
#include "analysis/trace/trace_tables.h"
#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "cli/commands.h"
#include "cli/exec.h"
#include "cli/ncu_check.h"
#include "cli/pass_options.h"
#include "cli/step_events.h"
#include "record/reader.h"
#include "trace/export/chrome.h"
#include "trace/file.h"
#include "trace/import/import.h"

namespace tbd::cli {
namespace {

std::string strip(const Timeline& timeline) {
  return cat("\n", timeline.step, ", ", human(1e-9 * static_cast<double>(timeline.duration_ns), Unit::seconds),
             ": forward, backward, update, input, x: off-CPU; below, how busy\n", to_text(timeline));
}

std::optional<PassView> profile_view(const Record& record) {
  const std::optional<Profile> profile = profile_of(record);
  if (!profile) return std::nullopt;
  return PassView{.object = to_json(*profile, record.run),
                  .tables = profile_tables(*profile, record.run),
                  .below = strip(profile->timeline),
                  .verdict = time_answers(*profile, record.run.workload)};
}

bool is_foreign(const Record& record) { return record.run.workload.mode == Mode::kExternal; }

std::vector<Record> without_foreign(std::vector<Record> records) {
  std::erase_if(records, is_foreign);
  return records;
}

Table foreign_utilization_table(const Profile& profile) {
  Table table = utilization_table(profile, {});
  std::erase_if(table.rows, [](const auto& row) { return std::holds_alternative<std::monostate>(row[1]); });
  table.notes.clear();
  return table;
}

Table foreign_loss_table(const Profile& profile) {
  Table table = loss_table(profile);
  table.notes.front() =
      "Compute: an op computed; what it needs at the machine's peaks is not known of a foreign program. The parts add "
      "up to the time exactly.";
  return table;
}

// Ops or kernels by name, over the steps that are looked at.
RankAnalysis named_ops(const TracedSteps& steps) {
  RankAnalysis out{.on_device = steps.rank.on_device,
                   .window = {steps.windows.front().begin, steps.windows.back().end}};
  out.kernels = kernel_groups(steps.rank, steps.rank.activities, out.window);
  out.dispatch = kernels_by_name(kernel_groups(steps.rank, steps.rank.dispatch, out.window));
  return out;
}

Json named_ops_json(const RankAnalysis& ops) {
  Json all = Json::array();
  for (const KernelGroup& group : ops.kernels)
    all.push_back({{"name", group.name},
                   {"detail", group.detail},
                   {"class", name(group.cls)},
                   {"count", group.count},
                   {"total_ns", group.total_ns}});
  return all;
}

// "python train.py": the words behind `--` of the command that measured the program.
std::string program_line(const Record& record) {
  const std::string& repro = record.run.workload.repro;
  const size_t mark = repro.find(" -- ");
  return mark == std::string::npos ? record.run.workload.model : repro.substr(mark + 4);
}

std::vector<Answer> foreign_verdict(const Profile& profile, const Record& record) {
  std::string time;
  if (const auto median = summarize(record)["step_time_median"].value)
    time = cat("A step takes ", human(*median, Unit::seconds), " without the trace. ");
  const std::string computing = format_percent(profile.compute_utilization());
  std::vector<Answer> out = time_answers(profile, record.run.workload);
  if (out.empty()) return {{.text = cat(time, "In ", computing, " of a step ops compute."), .command = {}}};
  out[0].text = cat(time, "In ", computing, " of a step ops compute. ", out[0].text);
  out[1].command = cat("tbd profile ", shell_word(record.folder.string()), " --trace timeline.json");
  out[1].text += " The timeline of the traced steps shows where, for ui.perfetto.dev.";
  out.push_back({.text = "Whether a change makes it faster, launches of both in turns say.",
                 .command = cat("tbd ab --exec ", shell_word(program_line(record)), " --exec 'the changed command'")});
  return out;
}

std::optional<PassView> foreign_view(const Record& record) {
  const std::optional<Profile> found = profile_of(record);
  if (!found) return std::nullopt;
  const Profile& profile = *found;
  const RankAnalysis ops = named_ops(*traced_steps(record));
  PassView view{.object = to_json(profile, record.run), .below = strip(profile.timeline)};
  view.object["named_ops"] = named_ops_json(ops);
  view.tables = {foreign_utilization_table(profile), foreign_loss_table(profile)};
  if (profile.queue) {
    const QueueRow queue{.use = *profile.queue, .window_ns = profile.window_ns, .steps = profile.steps};
    view.tables.push_back(gap_table(std::span(&queue, 1)));
    view.tables.push_back(queue_table(std::span(&queue, 1)));
  }
  view.tables.push_back(kernel_table(ops));
  if (!ops.dispatch.empty()) view.tables.push_back(dispatch_table(ops));
  view.tables.push_back(overhead_table(profile));
  view.verdict = foreign_verdict(profile, record);
  return view;
}

// "train.py, pytorch 2.15.0, cpu"
std::string foreign_heading(const Record& record) {
  const MeasuredWorkload& w = record.run.workload;
  return cat(w.model, ", ", w.framework, w.framework_version.empty() ? "" : " ", w.framework_version, ", ", w.device);
}

void print_foreign_view(Context& context, const Record& record, PassView view, Format format) {
  if (format == Format::json) {
    view.object["workload"] = to_json(record.run)["workload"];
    context.out << view.object->dump(-1, ' ', false, Json::error_handler_t::replace) << "\n";
    return;
  }
  if (format != Format::csv)
    context.out << (format == Format::markdown ? "# " : "") << foreign_heading(record) << "\n\n";
  print_tables(context, view.tables, format);
  if (format == Format::text) context.out << view.below;
  if (format != Format::csv) context.out << "\n" << print(view.verdict, format, context.width);
}

// Of each foreign program its view, or on stderr why its trace is not there. Whether any had one.
bool print_foreign_views(Context& context, const std::vector<Record>& records, Format format) {
  bool any = false;
  for (const Record& record : records) {
    if (!is_foreign(record)) continue;
    if (std::optional<PassView> view = foreign_view(record)) {
      if (any && format != Format::json) context.out << "\n";
      print_foreign_view(context, record, std::move(*view), format);
      any = true;
      continue;
    }
    const Launch* launch = last_launch(record, Pass::kTrace);
    const std::string reason = launch ? launch->info.outcome.reason : "";
    context.err << foreign_heading(record) << ": no trace" << (reason.empty() ? "" : ": ") << reason << "\n";
  }
  return any;
}

void keep_trace(const WrittenTrace& written, const std::filesystem::path& folder) {
  Trace trace;
  import_trace(written.file, trace);
  TraceWriter writer(folder / "trace.tbdt");
  copy_with_steps(trace, written.steps, written.before, writer.trace());
  writer.finish();
}

class ProfileCommand final : public Command {
 public:
  std::string name() const override { return "profile"; }
  std::string summary() const override {
    return "Show where time goes, in a workload or (--exec) any training program: ops, causes of lost time";
  }
  void declare(Options& options) override {
    options_.declare(options);
    options.flag("--exec", exec_,
                 "In place of a model: any training program, as --exec 'python train.py' or --exec -- python train.py "
                 "(docs/exec.md). The options below are of this");
    options.option("--profile-steps", profile_steps_,
                   cat("Steps of it whose trace is looked at [", TraceWish().steps, "]"));
    options.option("--profile-from", profile_from_,
                   "The first of its steps that is traced [once enough steps are measured without a trace]");
    program_.declare(options);
    options.option("--trace", trace_, "Write the trace to this file for ui.perfetto.dev (Chrome JSON)");
    options.flag("--ncu", ncu_,
                 "On a GPU, count a step's fp32 instructions by NVIDIA's ncu, beside the computed FLOPs");
  }

  int run(Context& context) override {
    const Format format = options_.output.table_format();
    if (exec_) return profile_program(context, format);
    if (program_.any() || profile_from_ || profile_steps_)
      fail(ErrorKind::usage,
           "--profile-steps, --profile-from, --steps, --seconds, --launches, --units, --unit and "
           "--timeout are of --exec");
    return with_pass_records(context, options_, {Pass::kClean, Pass::kTrace},
                             [&](const PassRecords& measured) { return show(context, measured, format); });
  }

 private:
  int show(Context& context, const PassRecords& measured, Format format) const {
    if (!trace_.empty() && measured.records.size() != 1)
      fail(ErrorKind::usage, "--trace writes one trace, but there are ", measured.records.size(), " records");
    const bool any_foreign = print_foreign_views(context, measured.records, format);
    const PassRecords ours{without_foreign(measured.records), measured.exit_code};
    int code = any_foreign ? measured.exit_code : kCellFailed;
    if (!ours.records.empty())
      code = print_views(context, ours, Pass::kTrace, "trace", format,
                         [&](const Record& record) { return view(context, record); });
    if (!trace_.empty()) write_trace(measured.records.front());
    return code;
  }

  // The command line of a program behind --, else MODEL in its place.
  std::vector<std::string> command(const Context& context) const {
    for (const auto& [axis, values] : options_.cells.set().lists)
      if (axis != "model") fail(ErrorKind::usage, "--", axis, " is of a model, and --exec measures a program as it is");
    if (ncu_ || options_.limit) fail(ErrorKind::usage, "--ncu and --limit are of a model, not of --exec");
    if (const auto words = words_behind_mark(context)) return *words;
    const std::vector<std::string>& given = options_.cells.models();
    const std::vector<std::string> words = given.size() == 1 ? command_words(given[0]) : given;
    if (words.empty()) fail(ErrorKind::usage, "--exec needs a command, such as: tbd profile --exec -- python train.py");
    return words;
  }

  ExecOptions exec_options(const Context& context) const {
    const std::string effort = options_.effort.value_or("quick");
    ExecOptions options = program_.exec_options(command(context), effort);
    if (!program_.names_launches()) options.wants.launches = 1;  // one run of the program
    TraceWish wish{.import = keep_trace};
    if (profile_steps_) wish.steps = positive(*profile_steps_, "--profile-steps");
    if (profile_from_) wish.from = positive(*profile_from_, "--profile-from");
    if (wish.from && *wish.from < wish.least_from())
      fail(ErrorKind::usage, "--profile-from needs at least ", wish.least_from(), " for ", wish.steps,
           " traced steps: as many are measured without a trace before them");
    options.repro =
        cat("tbd profile --exec", option_words("--effort", effort == "quick" ? "" : effort), program_.words(),
            option_words("--profile-steps", profile_steps_.value_or("")),
            option_words("--profile-from", profile_from_.value_or("")), " -- ", shell_line(options.command));
    options.trace = std::move(wish);
    return options;
  }

  int profile_program(Context& context, Format format) const {
    const auto& [run, exit_code] =
        measured_program(context, exec_options(context), options_.out, options_.output.quiet);
    if (run.outcome.kind != OutcomeKind::ok) {
      context.err << run.record.filename().string() << ": " << tbd::name(run.outcome.kind) << ": " << run.outcome.reason
                  << "\n";
      return exit_code;
    }
    const Record record = read_record(run.record);
    const bool has_view = print_foreign_views(context, {record}, format);
    if (!trace_.empty()) write_trace(record);
    return has_view ? kDone : kCellFailed;
  }

  std::optional<PassView> view(const Context& context, const Record& record) const {
    std::optional<PassView> view = profile_view(record);
    if (!ncu_ || !view) return view;
    const NcuCheck check = ncu_check(context, record);
    view->object["ncu"] = to_json(check);
    view->tables.push_back(ncu_table(check));
    return view;
  }

  void write_trace(const Record& record) const {
    const std::unique_ptr<TracedSteps> steps = traced_steps(record);
    if (!steps) return;
    replace_file(trace_, [&](const std::filesystem::path& path) {
      std::ofstream out(path, std::ios::binary);
      write_chrome(steps->trace, 0, {}, out);
      out.close();
      if (!out) fail(ErrorKind::io, "cannot write ", trace_);
    });
  }

  PassOptions options_;
  ProgramOptions program_;
  std::string trace_;
  std::optional<std::string> profile_steps_, profile_from_;
  bool ncu_ = false, exec_ = false;
};

}  // namespace

std::unique_ptr<Command> make_profile() { return std::make_unique<ProfileCommand>(); }

}  // namespace tbd::cli
