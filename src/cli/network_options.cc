#include "cli/network_options.h"

#include "base/error.h"
#include "cli/workload_options.h"
#include "models/model.h"

namespace tbd::cli {
namespace {

std::string network_judged_by(std::string_view judge) {
  for (const Model& model : all_models())
    if (model.configs.front().judge == judge) return model.name;
  fail(ErrorKind::internal, "no network has the judge '", judge, "'");
}

}  // namespace

void NetworkOptions::declare(Options& options, std::string_view judge) {
  const std::string usual = judge.empty() ? "" : network_judged_by(judge);
  workload_.model = usual;
  options.positional("MODEL", workload_.model,
                     cat("Model name or path of a program file [", usual.empty() ? "none: required" : usual, "]"));
  options.option("--config", workload_.config, "Configuration of the model [its first]");
  declare_axis(options, "framework", workload_.framework);
  declare_axis(options, "precision", workload_.precision);
  declare_axis(options, "device", workload_.device);
  declare_axis(options, "layout", workload_.layout);
  declare_axis(options, "mode", workload_.mode);
  options.option("--batch", batch_, "Batch size [the usual one of the network]");
  options.option("--threads", threads_, "Threads per op [one per usable core]");
  options.option("--seed", seed_, "Seed of all that is drawn", {.show_default = true});
}

Workload NetworkOptions::workload() const {
  if (workload_.model.empty()) fail(ErrorKind::usage, "which network? MODEL is missing");
  Workload out = workload_;
  if (batch_) out.batch = positive(*batch_, "--batch");
  if (threads_) out.threads = positive(*threads_, "--threads");
  out.seed = seed_from(seed_);
  return out;
}

}  // namespace tbd::cli
