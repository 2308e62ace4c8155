#include "runner/step.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "graph/passes.h"
#include "models/model.h"
#include "record/safetensors.h"
#include "runner/data_source.h"
#include "runner/prepare.h"
#include "runner/team.h"
#include "runner/weights_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// Batch and dropout mode that a file of inputs asks for.
void take_from_inputs(const fs::path& file, const Program& program, Workload& cell) {
  const TensorMap inputs = read_safetensors(file);
  for (const auto& [name, tensor] : inputs)
    if (name.find("mask/") != std::string::npos) cell.dropout = DropoutMode::kMask;
  if (cell.batch != 0) return;
  for (const StepInput& input : step_inputs(program)) {
    const auto found = inputs.find(input.name);
    if (found == inputs.end() || input.spec->shape.empty() || input.spec->shape[0].symbol != "N") continue;
    if (found->second.shape().rank() > 0) cell.batch = found->second.shape()[0];
    return;
  }
}

Workload completed(const StepOptions& options) {
  Workload cell = options.cell;
  require_known(cell.precision);
  cell.dropout = DropoutMode::kOff;
  if (options.inputs) take_from_inputs(*options.inputs, load_program(cell.model, cell.config).program, cell);
  if (cell.batch == 0) cell.batch = 2;
  return cell;
}

// What the name of the folder begins with where workers and this program meet: on hosts beside the results, which all
// see.
std::string meeting_folder(const StepOptions& options, const RunnerSettings& settings) {
  if (run_on_one_machine(settings, options.workers)) return "tbd";
  return (fs::absolute(options.out).parent_path() / "step").string();
}

class StepLaunch {
 public:
  StepLaunch(const StepOptions& options, const PreparedCell& prepared, const RunnerSettings& settings)
      : options_(options),
        prepared_(prepared),
        settings_(settings),
        scratch_(meeting_folder(options, settings)),
        team_(prepared, settings, {.world = options.workers, .folder = scratch_.path()}) {}

  StepResult run() {
    team_.hello();
    team_.load(load_request(prepared_, true));
    if (options_.weights)
      team_.ask<protocol::WriteReply>(
          protocol::Write{with_current_names(*options_.weights, prepared_.program, scratch_.path())}, "taking weights",
          settings_.deadlines.other);
    if (options_.save_weights) save_weights(*options_.save_weights);
    StepResult result;
    const auto train_saving = [&](const std::optional<fs::path>& save) { result.losses = train(save); };
    if (options_.save_inputs)
      replace_file(absolute(*options_.save_inputs), train_saving);
    else
      train_saving({});
    replace_file(absolute(options_.out), [&](const fs::path& file) { result.tensors = read_results(file); });
    team_.bye();
    return result;
  }

 private:
  static std::string absolute(const fs::path& path) { return fs::absolute(path).string(); }

  template <class Reply>
  Reply ask(const protocol::Request& request, std::string_view doing, double seconds = 0) {
    return team_.rank(0).ask<Reply>(request, doing, seconds > 0 ? seconds : settings_.deadlines.other);
  }

  int64_t read_results(const fs::path& file) {
    const protocol::Read all{{"loss", "term/", "output/", "grad/", "param/", "buffer/", "state/"}, file};
    return ask<protocol::ReadReply>(all, "writing the results").tensors;
  }

  void save_weights(const fs::path& to) {
    const fs::path file = scratch_.path() / "weights";
    ask<protocol::ReadReply>(protocol::Read{{"param/", "buffer/"}, file}, "reading the weights");
    write_public_weights(file, to);
  }

  std::map<std::string, double> train(const std::optional<fs::path>& save) {
    protocol::Run request{
        .steps = options_.steps, .at_step = options_.at_step, .lr = options_.lr, .phase = options_.phase};
    const Workload& cell = prepared_.cell;
    if (options_.inputs) {
      request.input.file = absolute(*options_.inputs);
    } else {
      *request.input.source = data_source(prepared_.program, cell.seed);  // its kind is what the program reads
      if (!cell.data.empty()) request.input.source["path"] = absolute(cell.data);
    }
    if (save) request.input.save = *save;
    const auto replies = team_.each([&](WorkerProcess& worker, int64_t rank) {
      protocol::Run own = request;
      if (rank > 0) own.input.save.clear();
      return worker.run(own, [](std::span<const StepRow>) { return false; });
    });
    if (settings_.interrupted()) fail(ErrorKind::io, "interrupted: nothing was written to ", options_.out.string());
    return replies[0].losses;
  }

  const StepOptions& options_;
  const PreparedCell& prepared_;
  const RunnerSettings& settings_;
  TemporaryFolder scratch_;
  Team team_;
};

}  // namespace

StepResult run_step(const StepOptions& options, const RunnerSettings& settings) {
  if (options.steps < 1) fail(ErrorKind::usage, "steps must be 1 or more, got ", options.steps);
  if (options.workers > 1 && options.inputs)
    fail(ErrorKind::usage, "a file of inputs holds one batch: ", options.workers, " workers read made data or a set");
  const PreparedCell prepared = prepare(completed(options), Effort::smoke, settings);
  if (prepared.refused) fail(ErrorKind::not_found, prepared.refused->reason);
  if (options.phase) (void)prepared.program.phase(*options.phase);  // names the nearest when there is none
  if (options.weights) check_weights(*options.weights, prepared.program, prepared.run.workload.model);
  const fs::path folder = fs::absolute(options.out).parent_path();
  if (!fs::is_directory(folder))
    fail(ErrorKind::not_found, "cannot write ", options.out.string(), ": no folder ", folder.string());
  try {
    return StepLaunch(options, prepared, settings).run();
  } catch (const WorkerFault& fault) {
    throw Error(fault.error(), fault.what());
  }
}

}  // namespace tbd
