#include "runner/equivalence/check.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "graph/memory.h"
#include "measure/clock.h"
#include "models/model.h"
#include "record/frameworks.h"
#include "runner/device_choice.h"
#include "runner/device_memory.h"
#include "runner/equivalence/verified.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

constexpr int64_t kSmallStep = int64_t{1} << 28;  // bytes

int64_t usual_batch(const Program& program) {
  return predict_memory(program, {{"N", 4}}).peak().value < kSmallStep ? 4 : 2;
}

// Bytes that the gates take for each byte that a step is predicted to need: every value and gradient in float64 and a
// few times over, in two processes. Seen with ResNet-50 at batch 4.
constexpr int64_t kBytesForEach = 32;

void require_memory(const Program& program, int64_t batch) {
  const int64_t needed = kBytesForEach * predict_memory(program, {{"N", batch}}).peak().value;
  const std::optional<int64_t> free = free_memory();
  if (free && needed > *free)
    fail(ErrorKind::usage, "to check ", program.model, " ", program.config, " at batch ", batch, " takes about ",
         format_bytes(needed), " of memory, ", format_bytes(*free), " are free");
}

const WorkerEntry& reference_worker(const RunnerSettings& settings) {
  for (const WorkerEntry& entry : settings.workers)
    if (entry.framework == "pytorch" && entry.pinned) return entry;
  return find_worker(settings.workers, "pytorch");
}

const WorkerEntry* worker_of(const Workload& cell, const RunnerSettings& settings) {
  try {
    return &find_worker(settings.workers, cell.framework);
  } catch (const Error&) {
    return nullptr;
  }
}

VerdictKey key_of(const Workload& cell, const std::string& config, const WorkerEntry& entry) {
  return {.model_hash = program_hash(load_program(cell.model, config).program),
          .layout = cell.layout.empty() ? usual_layout(entry.framework) : cell.layout,
          .mode = cell.mode,
          .device = cell.device};
}

// What one call of check_model can judge: model, config, layout, mode and device as the cells name them.
using Question = std::tuple<std::string, std::string, ImageLayout, Mode, Device>;
using Missing = std::map<Question, std::vector<std::string>>;  // frameworks without a verdict

// By model, config and device: the frameworks that train it.
std::map<std::tuple<std::string, std::string, Device>, std::set<std::string>> rivals(std::span<const Workload> cells) {
  std::map<std::tuple<std::string, std::string, Device>, std::set<std::string>> out;
  for (const Workload& cell : cells) out[{cell.model, cell.config, cell.device}].insert(cell.framework);
  return out;
}

Missing missing_verdicts(std::span<const Workload> cells, const RunnerSettings& settings) {
  const auto trained_by = rivals(cells);
  Missing missing;
  for (const Workload& cell : cells) {
    const WorkerEntry* entry = worker_of(cell, settings);
    if (!entry || trained_by.at({cell.model, cell.config, cell.device}).size() < 2) continue;
    if (verified(cell, settings)) continue;
    const ImageLayout layout = cell.layout == usual_layout(entry->framework) ? ImageLayout() : cell.layout;
    std::vector<std::string>& frameworks =
        missing[{cell.model, tiny_config_of(cell.model, cell.config), layout, cell.mode, cell.device}];
    if (std::ranges::count(frameworks, entry->key) == 0) frameworks.push_back(entry->key);
  }
  return missing;
}

double seconds_since(int64_t began_ns) { return static_cast<double>(now_ns() - began_ns) * 1e-9; }

// What a reference that failed leaves of a configuration.
CheckResult without_reference(const CheckOptions& options, const RunnerSettings& settings, const WorkerFault& fault) {
  const Program program = load_program(options.model, options.config).program;
  CheckResult result{.model = program.model, .config = program.config, .model_hash = program_hash(program)};
  result.batch = options.batch > 0 ? options.batch : usual_batch(program);
  for (const WorkerEntry* entry : checked_workers(options, settings))
    result.verdicts.push_back(
        {.framework = entry->key, .version = entry->version, .fault = cat("the reference: ", fault.what())});
  return result;
}

void say(const FrameworkVerdict& verdict, std::vector<std::string>& sentences) {
  if (!verdict.fault.empty()) sentences.push_back(cat(verdict.framework, " could not be checked: ", verdict.fault));
  if (const Finding* guilty = verdict.guilty())
    sentences.push_back(cat(verdict.framework, " differs: ", sentence(*guilty)));
}

// What differs, and why what could not be checked could not. Throws WorkerFault for an interrupt.
std::vector<std::string> ask(const CheckOptions& options, const RunnerSettings& settings) {
  std::vector<std::string> sentences;
  try {
    for (const FrameworkVerdict& verdict : check_model(options, settings).verdicts) say(verdict, sentences);
  } catch (const WorkerFault& fault) {
    if (fault.outcome().kind == OutcomeKind::interrupted) throw;
    sentences.push_back(cat(options.model, " could not be checked: ", fault.what()));
  } catch (const Error& e) {
    sentences.push_back(cat(options.model, " could not be checked: ", e.what()));
  }
  return sentences;
}

}  // namespace

std::vector<const WorkerEntry*> checked_workers(const CheckOptions& options, const RunnerSettings& settings) {
  std::vector<const WorkerEntry*> entries;
  for (const std::string& framework : options.frameworks) entries.push_back(&find_worker(settings.workers, framework));
  if (options.frameworks.empty())
    for (const WorkerEntry& entry : settings.workers) entries.push_back(&entry);
  return entries;
}

CheckResult check_model(const CheckOptions& options, const RunnerSettings& settings) {
  const std::string config = options.config.empty() ? tiny_config_of(options.model, "") : options.config;
  const LoadedProgram loaded = load_program(options.model, config);
  const std::vector<const WorkerEntry*> entries = checked_workers(options, settings);
  const WorkerEntry& reference = reference_worker(settings);
  CheckResult result{.model = loaded.program.model, .config = loaded.program.config};
  result.model_hash = program_hash(loaded.program);
  result.batch = options.batch > 0 ? options.batch : usual_batch(loaded.program);
  require_memory(loaded.program, result.batch);

  const auto tell = [&](const std::string& doing) {
    if (options.progress) options.progress(doing);
  };
  tell("the reference: pytorch in float64, and its float32 spread");
  int64_t began = now_ns();
  const Equivalence equivalence(loaded.program,
                                {.batch = result.batch, .seed = options.seed, .precision = options.precision},
                                worker_stepper(reference, settings));
  result.reference_seconds = seconds_since(began);
  for (const WorkerEntry* entry : entries) {
    tell(entry->key);
    const ImageLayout layout = options.layout.empty() ? usual_layout(entry->framework) : options.layout;
    const Device device = with_devices({{.framework = entry->key, .device = options.device}}, settings).front().device;
    const Subject subject{entry->key, entry->version, worker_stepper(*entry, settings, device),
                          layout,     options.mode,   device != Device::kCpu};
    began = now_ns();
    result.verdicts.push_back(equivalence.judge(subject, options.reproduction));
    result.verdicts.back().seconds = seconds_since(began);
    store_verdict({result.model_hash, options.precision, layout, options.mode, device}, *entry, result.verdicts.back(),
                  settings);
  }
  return result;
}

std::string tiny_config_of(const std::string& model, const std::string& config) {
  const auto known = std::ranges::find(all_models(), model, &Model::name);
  if (known == all_models().end()) return config;
  if (config.empty()) return known->configs.front().tiny;
  const auto found = std::ranges::find(known->configs, config, &Config::name);
  return found == known->configs.end() ? config : found->tiny;
}

std::vector<TinyConfig> tiny_configs() {
  std::vector<TinyConfig> out;
  for (const Model& model : all_models())
    for (const Config& config : model.configs)
      if (config.tiny == config.name) out.push_back({model.name, config.name});
  return out;
}

void check_all(CheckOptions options, const RunnerSettings& settings,
               const std::function<void(const CheckResult&)>& done) {
  const std::function<void(const std::string&)> tell = options.progress;
  const std::filesystem::path folder = options.reproduction;
  for (const auto& [model, config] : tiny_configs()) {
    options.model = model;
    options.config = config;
    if (!folder.empty()) options.reproduction = folder / cat(model, "-", config);
    if (tell) options.progress = [&](const std::string& doing) { tell(cat(model, " ", config, ": ", doing)); };
    try {
      done(check_model(options, settings));
    } catch (const WorkerFault& fault) {
      if (fault.outcome().kind == OutcomeKind::interrupted) throw;
      done(without_reference(options, settings, fault));
    }
  }
}

std::optional<bool> verified(const Workload& cell, const RunnerSettings& settings) {
  const WorkerEntry* entry = worker_of(cell, settings);
  if (!entry) return std::nullopt;
  try {
    const std::optional<bool> own = verified(key_of(cell, cell.config, *entry), *entry, settings);
    return own ? own : verified(key_of(cell, tiny_config_of(cell.model, cell.config), *entry), *entry, settings);
  } catch (const Error&) {  // a model that is not there any more
    return std::nullopt;
  }
}

std::string gate_refusal(const Workload& cell, const RunnerSettings& settings,
                         const std::function<void(const std::string& doing)>& progress) {
  if (verified(cell, settings).value_or(false)) return "";
  const CheckOptions options{.model = cell.model,
                             .config = tiny_config_of(cell.model, cell.config),
                             .frameworks = {cell.framework},
                             .layout = cell.layout,
                             .mode = cell.mode,
                             .device = cell.device,
                             .progress = progress};
  return join(ask(options, settings), "; ");
}

std::vector<std::string> check_missing(std::span<const Workload> cells, const RunnerSettings& settings,
                                       const std::function<void(const std::string& doing)>& progress) {
  std::vector<std::string> sentences;
  for (const auto& [what, frameworks] : missing_verdicts(cells, settings)) {
    const auto& [model, config, layout, mode, device] = what;
    const CheckOptions options{.model = model,
                               .config = config,
                               .frameworks = frameworks,
                               .layout = layout,
                               .mode = mode,
                               .device = device,
                               .progress = progress};
    std::ranges::move(ask(options, settings), std::back_inserter(sentences));
  }
  return sentences;
}

size_t count_missing(std::span<const Workload> cells, const RunnerSettings& settings) {
  size_t count = 0;
  for (const auto& [question, frameworks] : missing_verdicts(cells, settings)) count += 1 + frameworks.size();
  return count;
}

}  // namespace tbd
