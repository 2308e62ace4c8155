// tbd predict: the step of several workers, from a traced run of one and sweeps of links.
#include <algorithm>
#include <ostream>
#include <set>

#include "analysis/prediction.h"
#include "base/amounts.h"
#include "base/error.h"
#include "base/files.h"
#include "base/link_limits.h"
#include "cli/commands.h"
#include "cli/report_files.h"
#include "cli/workload_options.h"
#include "models/model.h"
#include "runner/prepare.h"

namespace tbd::cli {
namespace {

int64_t workers_from(const std::string& text) {
  const int64_t workers = positive(text, "--workers");
  if (workers < 2) fail(ErrorKind::usage, "--workers needs at least 2 that exchange, got ", text);
  return workers;
}

double alpha_from(const std::string& text) {
  const size_t at = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string unit = text.substr(at);
  const double scale = unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : unit == "s" ? 1 : 0;
  const std::optional<double> number = parse_double(text.substr(0, at));
  if (scale == 0 || !number) fail(ErrorKind::usage, "--alpha needs a time such as 50us or 1ms, got '", text, "'");
  return *number * scale;
}

// The phase that the record's step updates with its only update.
const Phase& trained_phase(const Program& program) {
  const Phase* trained = nullptr;
  int64_t updates = 0;
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    if (phase.wrt().empty()) continue;
    updates += entry.repeat;
    trained = &phase;
  }
  if (updates != 1)
    fail(ErrorKind::unsupported, "a step of ", program.model, " has ", updates,
         " updates; a prediction is of networks with one");
  return *trained;
}

std::vector<Gradient> gradients_of(const Program& program) {
  const Phase& phase = trained_phase(program);
  const std::string prefix = program.phases.size() > 1 ? cat(phase.name, "/") : "";
  std::vector<Gradient> gradients;
  for (const std::string& name : phase.wrt()) {
    const Parameter& parameter = *std::ranges::find(program.parameters, name, &Parameter::name);
    Gradient& gradient = gradients.emplace_back(
        Gradient{.parameter = name, .dtype = parameter.dtype, .elements = parameter.shape.elements(), .nodes = {}});
    for (const Node& node : phase.nodes)
      if (std::ranges::find(node.inputs, name) != node.inputs.end()) gradient.nodes.push_back(cat(prefix, node.name));
  }
  return gradients;
}

// Built anew from the name of the record's network.
Program program_of(const Record& record) {
  const Workload& request = record.run.request;
  const LoadedProgram loaded = load_program(request.model, request.config);
  const std::string hash = program_hash(loaded.program), &own = record.run.workload.model_hash;
  require(hash == own, record.folder.string(), ": its network has the hash ", own, ", that of this tbd for ",
          request.model, " has ", hash);
  return lowered_program(loaded.program, request);
}

std::vector<std::filesystem::path> sweeps_beside(std::span<const Record> records) {
  std::set<std::filesystem::path> found;
  for (const Record& record : records)
    for (const std::filesystem::path& folder :
         {record.folder, std::filesystem::absolute(record.folder).lexically_normal().parent_path()}) {
      if (!is_folder(folder)) continue;
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("link") && name.ends_with(".json")) found.insert(entry.path());
      }
    }
  return {found.begin(), found.end()};
}

NamedSweep read_sweep(const std::filesystem::path& file) {
  return {file.filename().string(), link_sweep_from(read_file(file), file.string())};
}

class Predict final : public Command {
 public:
  std::string name() const override { return "predict"; }
  std::string summary() const override {
    return "Predict the step of several workers from a traced run of one and a sweep of the link";
  }

  void declare(Options& options) override {
    options.positional("RECORD", paths_,
                       "Records of 'tbd profile' with one worker, and rows of several workers to compare with",
                       {.required = true});
    options.option("--workers", workers_, "Numbers of workers to predict, comma-separated [2,4,8]", {.separator = ','});
    options.option("--link", links_, "Links between them, comma-separated: 10Gbit, loopback [those that were swept]",
                   {.separator = ','});
    options.option("--sweep", sweeps_, "Files of 'tbd link --out' [link*.json in the record and its result set]",
                   {.one_argument = true});
    options.option("--alpha", alpha_, "Latency of one step of an exchange, such as 50us [what the sweep has]");
    declare_axis(options, "wire", wire_);
    declare_axis(options, "bucket", bucket_);
    output_.declare(options);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    read_wanted();
    std::vector<UnreadableRecord> unreadable;
    const std::vector<std::filesystem::path> paths(paths_.begin(), paths_.end());
    const std::vector<Record> records = readable_records(context, paths, output_.quiet, unreadable);
    const std::vector<const Record*> bases = records_of_one(records);
    const std::vector<NamedSweep> sweeps = read_sweeps(records, *bases.front());
    bool any = false;
    for (const Record* base : bases) {
      const OneWorker one = one_worker(*base, sweeps.front().sweep.engine, gradients_of(program_of(*base)));
      const PredictionReport report = report_of(one, records, sweeps);
      if (base != bases.front() && format != Format::json) context.out << "\n";
      print_tables(context, prediction_tables(one, report), format);
      any |= std::ranges::any_of(report.predictions, [](const Prediction& each) { return each.missing.empty(); });
    }
    return any ? kDone : kCellFailed;
  }

 private:
  void read_wanted() {
    for (const std::string& text : workers_) counts_.push_back(workers_from(text));
    if (counts_.empty()) counts_ = {2, 4, 8};
    for (const std::string& text : links_) wanted_links_.push_back(link_of(limits_of(Link(text))));
    if (!alpha_.empty()) alpha_seconds_ = alpha_from(alpha_);
    if (!bucket_.empty()) bucket_bytes_ = bytes_from(bucket_, "--bucket");
    if (!wire_.empty()) require_known(WireType(wire_));
  }

  static bool has_trace(const Record& record) { return last_launch(record, Pass::kTrace) != nullptr; }

  // Those with a trace, or the first of all, which says what it lacks.
  static std::vector<const Record*> records_of_one(const std::vector<Record>& records) {
    std::vector<const Record*> bases;
    const Record* first = nullptr;
    for (const Record& record : records) {
      if (record.run.workload.workers != 1) continue;
      if (!first) first = &record;
      if (has_trace(record)) bases.push_back(&record);
    }
    require(first != nullptr,
            "all records are of several workers: a prediction starts from a traced run of one, by "
            "'tbd profile MODEL --workers 1'");
    if (bases.empty()) bases.push_back(first);
    return bases;
  }

  std::vector<NamedSweep> read_sweeps(const std::vector<Record>& records, const Record& base) const {
    const std::string& framework = base.run.workload.framework;
    std::vector<NamedSweep> sweeps;
    for (const std::string& file : sweeps_) {
      sweeps.push_back(read_sweep(file));
      require(sweeps.back().sweep.framework == framework, file, ": a sweep of ", sweeps.back().sweep.framework,
              " says nothing of ", framework, ", which sums by an engine of its own");
    }
    if (sweeps_.empty())
      for (const std::filesystem::path& file : sweeps_beside(records))
        if (NamedSweep each = read_sweep(file); each.sweep.framework == framework) sweeps.push_back(std::move(each));
    if (sweeps.empty())
      fail(ErrorKind::not_found, "no sweep of a link is beside the record: 'tbd link --framework ", framework,
           " --out link.json' makes one, which --sweep names");
    return sweeps;
  }

  PredictionReport report_of(const OneWorker& one, const std::vector<Record>& records,
                             const std::vector<NamedSweep>& sweeps) const {
    PredictionReport report;
    for (const Together& each : wanted(sweeps)) report.predictions.push_back(predicted(one, each, sweeps));
    report.measured = validations(one, records, sweeps);
    return report;
  }

  std::vector<Together> wanted(const std::vector<NamedSweep>& sweeps) const {
    std::vector<Link> links = wanted_links_;
    if (links.empty())
      for (const NamedSweep& each : sweeps)
        if (std::ranges::find(links, Link(each.sweep.link)) == links.end()) links.emplace_back(each.sweep.link);
    std::vector<Together> out;
    for (const Link& link : links)
      for (const int64_t workers : counts_)
        out.push_back({.workers = workers,
                       .link = link,
                       .wire = wire_.empty() ? WireType::kSame : WireType(wire_),
                       .bucket_bytes = bucket_bytes_,
                       .alpha = alpha_seconds_});
    return out;
  }

  std::vector<std::string> paths_, workers_, links_, sweeps_;
  std::string alpha_, wire_, bucket_;
  std::vector<int64_t> counts_;
  std::vector<Link> wanted_links_;
  std::optional<double> alpha_seconds_;
  std::optional<int64_t> bucket_bytes_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_predict() { return std::make_unique<Predict>(); }

}  // namespace tbd::cli
