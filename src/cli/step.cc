// tbd step: a few training steps on given weights and batch, outputs and gradients out.
#include <ostream>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/workload_options.h"
#include "runner/step.h"

namespace tbd::cli {
namespace {

class Step final : public Command {
 public:
  std::string name() const override { return "step"; }
  std::string summary() const override {
    return "Run one step on given weights and inputs; write outputs, gradients and state";
  }

  void declare(Options& options) override {
    options.positional("MODEL", cell_.model, "Model name or path of a program file", {.required = true});
    declare_axis(options, "framework", cell_.framework);
    options.option("--config", cell_.config, "Configuration of the model [its first]");
    options.option("--precision", cell_.precision, "fp64, fp32, tf32, bf16, fp16", {.show_default = true});
    declare_axis(options, "device", cell_.device);
    declare_axis(options, "layout", cell_.layout);
    declare_axis(options, "mode", cell_.mode);
    options.option("--threads", threads_, "Threads per op [one per usable core]");
    options.option("--batch", batch_, "Batch size [from the inputs, else 2]");
    options.option("--seed", seed_, "Seed for weights and synthetic inputs", {.show_default = true});
    options.option("--weights", weights_,
                   "Read weights from safetensors keyed by parameter and buffer name [drawn from the seed]");
    options.option("--inputs", inputs_, "Read inputs from safetensors keyed by input name [synthetic]");
    options.option("--steps", steps_, "Number of steps on the same batch", {.show_default = true});
    options.option("--workers", workers_,
                   "Workers that take the step together, --batch each [1; all that a launcher started]");
    places_.declare(options);
    options.option("--at-step", at_step_, "Step number for schedule and bias correction [1]");
    options.option("--lr", lr_, "Learning rate that replaces the schedule's");
    options.option("--phase", phase_, "Run only this phase, once");
    options.option("--save-weights", save_weights_, "Write the weights before the first step to this file");
    options.option("--save-inputs", save_inputs_, "Write the inputs to this file");
    options.option("--out", out_, "Write loss, output/, grad/, param/, buffer/ and state/ to this safetensors file",
                   {.required = true});
    output_.declare(options);
  }

  int run(Context& context) override {
    return at_places(context, places_, [&](const RunnerSettings& settings) { return run_with(context, settings); });
  }

 private:
  int run_with(Context& context, const RunnerSettings& settings) {
    (void)output_.table_format();
    const StepOptions asked = options(settings);
    take_places({Workload{.workers = asked.workers}}, settings);
    const StepResult result = run_step(asked, settings);
    if (output_.is_json()) {
      context.out << Json{{"losses", result.losses}, {"tensors", result.tensors}, {"out", out_}}.dump() << "\n";
    } else {
      for (const auto& [phase, loss] : result.losses) context.out << "loss of " << phase << ": " << exact(loss) << "\n";
      if (!output_.quiet) context.err << result.tensors << " tensors in " << out_ << "\n";
    }
    return kDone;
  }

  StepOptions options(const RunnerSettings& settings) {
    if (batch_) cell_.batch = positive(*batch_, "--batch");
    if (threads_) cell_.threads = positive(*threads_, "--threads");
    cell_.seed = seed_from(seed_);
    StepOptions out{.cell = cell_};
    out.out = out_;
    out.steps = positive(steps_, "--steps");
    if (workers_)
      out.workers = positive(*workers_, "--workers");
    else
      out.workers = launched_workers(settings).value_or(1);
    if (at_step_) out.at_step = positive(*at_step_, "--at-step");
    if (lr_) {
      out.lr = parse_double(*lr_);
      if (!out.lr) fail(ErrorKind::usage, "--lr needs a number, got '", *lr_, "'");
    }
    out.phase = phase_;
    if (weights_) out.weights = *weights_;
    if (inputs_) out.inputs = *inputs_;
    if (save_weights_) out.save_weights = *save_weights_;
    if (save_inputs_) out.save_inputs = *save_inputs_;
    return out;
  }

  Workload cell_{.device = {}};
  std::optional<std::string> batch_, threads_, workers_, weights_, inputs_, save_weights_, save_inputs_, at_step_, lr_,
      phase_;
  std::string seed_ = "0", steps_ = "1", out_;
  WorkerPlaces places_;
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_step() { return std::make_unique<Step>(); }

}  // namespace tbd::cli
