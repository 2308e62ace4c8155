// `tbd check`: one model, several frameworks, a verdict each.
#pragma once
#include "runner/equivalence/equivalence.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {

struct CheckOptions {
  std::string model;
  std::string config;                   // empty: tiny where the model has it
  std::vector<std::string> frameworks;  // empty: every worker that is built
  Precision precision = Precision::kFp32;
  ImageLayout layout;  // empty: each framework's usual one
  Mode mode;           // empty: each framework's usual one
  Device device;       // of the frameworks, as with_devices takes it; the reference runs on the CPU
  ExchangeMode exchange = ExchangeMode::kAllReduce;  // of several workers (ranks.h)
  int64_t batch = 0;                                 // 0: 4 where a step is small, else 2
  uint64_t seed = 0;
  std::filesystem::path reproduction;                      // where folders of differences go; empty: none
  std::function<void(const std::string& doing)> progress;  // may be empty
};

struct CheckResult {
  std::string model, config, model_hash;
  int64_t batch = 0;
  std::string against = "PyTorch in float64";
  double reference_seconds = 0;            // that the reference took, for all frameworks
  std::vector<FrameworkVerdict> verdicts;  // in the order of the frameworks
};

// The workers that a question is about. Throws Error(not_found) with the nearest names.
std::vector<const WorkerEntry*> checked_workers(const CheckOptions& options, const RunnerSettings& settings);

// Verdicts are kept for `verified`. Throws Error(usage, not_found or invalid) when the question makes no sense,
// Error(usage) when memory is too short, WorkerFault when the reference fails; a framework that fails is a verdict with
// a fault.
CheckResult check_model(const CheckOptions& options, const RunnerSettings& settings);

// Of every model what stands for it: the configurations made for tests (Config::tiny).
struct TinyConfig {
  std::string model, config;
};
std::vector<TinyConfig> tiny_configs();
// The one that stands for a configuration, all its ops from the same builder, small (docs/conventions.md):
// "gnmt_v2_tiny" for gnmt_v2, "squad_tiny" for squad_base, "tiny" where none is nearer; the configuration itself where
// the model has none.
std::string tiny_config_of(const std::string& model, const std::string& config);

// check_model for each of them; model and config of `options` are not read. `done` gets each result when it is there.
// Folders that repeat a difference lie one deeper, under <model>-<config>.
// Where a reference fails, every framework's verdict is that fault, and the next configuration follows. Throws as
// check_model does, and WorkerFault for an interrupt.
void check_all(CheckOptions options, const RunnerSettings& settings,
               const std::function<void(const CheckResult&)>& done);

// What is known of a cell's network in its framework: the verdict on its configuration, else on the tiny one of it,
// which has all its ops from the same builder. A verdict in float32 stands for every precision, as casts are a pass
// over the same program. nullopt: never checked, or no such worker is built.
std::optional<bool> verified(const Workload& cell, const RunnerSettings& settings);

// Why the cell's network is not to be run in its framework, layout and mode: the first node that differs, or why it
// could not be checked; empty where it passes. Asks anew unless a passing verdict is kept. Throws WorkerFault for an
// interrupt.
std::string gate_refusal(const Workload& cell, const RunnerSettings& settings,
                         const std::function<void(const std::string& doing)>& progress = {});

// Checks what no verdict is kept of where cells put frameworks side by side: cells whose model and configuration two
// frameworks train on one device. A reference that fails leaves its cells unchecked and is named in the sentences that
// come back, as are differences.
std::vector<std::string> check_missing(std::span<const Workload> cells, const RunnerSettings& settings,
                                       const std::function<void(const std::string& doing)>& progress = {});
// How often that calls `progress` at most: for each question once for the reference, once for each framework.
size_t count_missing(std::span<const Workload> cells, const RunnerSettings& settings);

}  // namespace tbd
