// tbd gtp: a search with a network's weights that any Go program can play against.
#include "go/gtp_server.h"

#include <iostream>

#include "cli/commands.h"
#include "cli/locations.h"
#include "cli/network_options.h"
#include "cli/workload_options.h"
#include "runner/weights_file.h"
#include "selfplay/worker_network.h"

namespace tbd::cli {
namespace {

class Gtp final : public Command {
 public:
  std::string name() const override { return "gtp"; }
  std::string summary() const override { return "Play Go by the Go Text Protocol with a network's weights"; }

  void declare(Options& options) override {
    network_.declare(options, "moves");
    options.option("--weights", weights_, "Weights by parameter and buffer name (safetensors)", {.required = true});
    options.option("--readouts", readouts_, "Visits that a search adds for each move", {.show_default = true});
    options.option("--resign-below", resign_below_, "Resign a position worth less to the player, -1 to 1 [never]");
  }

  int run(Context& context) override {
    const RunnerSettings settings = runner_settings(context);
    Workload workload = network_.workload();
    if (workload.batch == 0) workload.batch = kLeaves;
    const Trainable cell = answering(workload, {}, settings);
    check_weights(weights_, cell.prepared.program, cell.prepared.run.workload.model);
    go::GtpServerOptions options{.version = settings.tool,
                                 .size = board_of(cell),
                                 .search = {.readouts = static_cast<int>(positive(readouts_, "--readouts")),
                                            .leaves = static_cast<int>(workload.batch)}};
    if (resign_below_) {
      options.resign_below = parse_double(*resign_below_);
      if (!options.resign_below) fail(ErrorKind::usage, "--resign-below needs a number, got '", *resign_below_, "'");
    }
    const TemporaryFolder scratch;
    try {
      TrainingWorker worker(cell, settings, scratch.path() / "worker.log");
      worker.write_weights(weights_);
      WorkerNetwork network(worker, cell);
      go::GtpServer server(network, options);
      go::serve_gtp(server, std::cin, context.out);
      worker.bye();
    } catch (const WorkerFault& fault) {
      throw Error(fault.error(), fault.what());
    }
    return kDone;
  }

 private:
  static constexpr int64_t kLeaves = 8;

  NetworkOptions network_;
  std::string weights_, readouts_ = "200";
  std::optional<std::string> resign_below_;
};

}  // namespace

std::unique_ptr<Command> make_gtp() { return std::make_unique<Gtp>(); }

}  // namespace tbd::cli
