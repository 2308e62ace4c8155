// tbd check: do frameworks train the same network? A verdict each, the guilty node where not.
#include <ostream>

#include "cli/cell_options.h"
#include "cli/commands.h"
#include "cli/locations.h"
#include "runner/equivalence/check.h"
#include "runner/worker_process.h"

namespace tbd::cli {
namespace {

constexpr size_t kShown = 5;  // differences of a gate, for people

Table table_of(const CheckResult& result) {
  Table table{.title = cat("Equivalence of ", result.model, " ", result.config, ", batch ", result.batch,
                           ", against PyTorch in float64"),
              .columns = {{"framework", "framework"},
                          {"version", "version"},
                          {"gate", "gate"},
                          {"verdict", "verdict"},
                          {"compared", "compared", Unit::count},
                          {"failed", "failed", Unit::count},
                          {"worst", "nearest to its bound"},
                          {"error", "error"},
                          {"bound", "bound"},
                          {"bound_from", "bound from"}},
              .rows = {},
              .notes = {}};
  for (const FrameworkVerdict& verdict : result.verdicts) {
    if (!verdict.fault.empty())
      table.rows.push_back({verdict.framework,
                            verdict.version,
                            std::string("-"),
                            std::string("not checked"),
                            {},
                            {},
                            {},
                            {},
                            {},
                            verdict.fault});
    for (const GateResult& gate : verdict.gates) {
      const Finding worst = gate.worst.value_or(Finding{});
      table.rows.push_back({verdict.framework, verdict.version, std::string(name(gate.gate)),
                            std::string(gate.failed.empty() ? "equal" : "different"), gate.compared,
                            static_cast<int64_t>(gate.failed.size()), cat(worst.where, ", ", worst.what), worst.error,
                            worst.bound, worst.source});
    }
  }
  return table;
}

void explain(const FrameworkVerdict& verdict, std::ostream& out) {
  if (!verdict.fault.empty()) out << verdict.framework << ": not checked: " << verdict.fault << "\n";
  const Finding* guilty = verdict.guilty();
  if (!guilty) return;
  out << verdict.framework << ": guilty: " << guilty->where << " (" << guilty->phase << ")\n";
  for (const GateResult& gate : verdict.gates) {
    for (size_t i = 0; i < gate.failed.size() && i < kShown; ++i)
      out << "  " << name(gate.gate) << ": " << sentence(gate.failed[i]) << "\n";
    if (gate.failed.size() > kShown) out << "  and " << gate.failed.size() - kShown << " more\n";
  }
  if (!verdict.reproduction.empty()) out << "  repeat it: " << verdict.reproduction << "\n";
}

class Check final : public Command {
 public:
  std::string name() const override { return "check"; }
  std::string summary() const override { return "Do frameworks train the same network? The guilty node where not"; }

  void declare(CLI::App& app) override {
    app.add_option("MODEL", options_.model, "Model name, or path of a program file")->required();
    app.add_option("--config", options_.config,
                   "Configuration of the model [tiny, where it has one: all its ops, small]");
    app.add_option("--framework", options_.frameworks, "pytorch, tensorflow@VERSION, mxnet@DIR [all that are built]")
        ->delimiter(',')
        ->allow_extra_args(false);
    app.add_option("--batch", batch_, "Samples [4 where a step takes less than 256 MiB, else 2]");
    app.add_option("--precision", options_.precision, "fp32, fp64")->capture_default_str();
    app.add_option("--layout", options_.layout, "nchw, nhwc [the framework's usual one]");
    app.add_option("--mode", options_.mode, "eager, graph, xla [the framework's usual one]");
    app.add_option("--seed", seed_, "Seed of weights and inputs")->capture_default_str();
    app.add_option("--out", out_, "Where folders that repeat a difference are written")->capture_default_str();
    output_.declare(app);
  }

  int run(Context& context) override {
    const Format format = output_.table_format();
    if (batch_) options_.batch = positive(*batch_, "--batch");
    options_.seed = seed_from(seed_);
    options_.reproduction = out_;
    if (!output_.quiet)
      options_.progress = [&](const std::string& doing) { context.err << "check: " << doing << "\n"; };
    CheckResult result;
    try {
      result = check_model(options_, runner_settings(context));
    } catch (const WorkerFault& fault) {
      context.err << "tbd: error: the reference: " << fault.what() << "\n";
      return kCellFailed;
    }
    if (output_.is_json())
      for (const FrameworkVerdict& verdict : result.verdicts) print_json(result, verdict, context.out);
    else
      context.out << print(table_of(result), format);
    bool failed = false, fault = false;
    for (const FrameworkVerdict& verdict : result.verdicts) {
      explain(verdict, context.err);
      failed = failed || (verdict.fault.empty() && !verdict.passed());
      fault = fault || !verdict.fault.empty();
    }
    return fault ? kCellFailed : failed ? kVerdictFailed : kDone;
  }

 private:
  static void print_json(const CheckResult& result, const FrameworkVerdict& verdict, std::ostream& out) {
    Json json = {
        {"model", result.model}, {"config", result.config}, {"model_hash", result.model_hash}, {"batch", result.batch}};
    json.update(to_json(verdict));
    out << json.dump() << "\n";
  }

  CheckOptions options_;
  std::optional<std::string> batch_;
  std::string seed_ = "0", out_ = "results/differences";
  OutputOptions output_;
};

}  // namespace

std::unique_ptr<Command> make_check() { return std::make_unique<Check>(); }

}  // namespace tbd::cli
