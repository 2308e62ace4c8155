#include "runner/settings.h"

#include "base/files.h"
#include "measure/environment.h"
#include "runner/allocators.h"
#include "runner/seats.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

// What a process needs to find its way, and what sanitizers, Kineto and the driver read.
constexpr std::string_view kNames[] = {"PATH", "HOME", "TMPDIR", "LANG", "TZ"};
constexpr std::string_view kPrefixes[] = {"LC_", "ASAN_", "TSAN_", "UBSAN_", "KINETO_", "NVIDIA_"};

bool allowed(std::string_view name) {
  for (const std::string_view known : kNames)
    if (name == known) return true;
  for (const std::string_view prefix : kPrefixes)
    if (name.starts_with(prefix)) return true;
  return shapes_speed(name);
}

}  // namespace

std::map<std::string, std::string> allowed_environment(const std::map<std::string, std::string>& all) {
  std::map<std::string, std::string> kept;
  for (const auto& [name, value] : all)
    if (allowed(name)) kept[name] = value;
  return kept;
}

std::string at_its_places(const std::string& line, const RunnerSettings& settings) {
  return cat(settings.launcher_words, settings.launcher_words.empty() ? "" : " ", line, settings.place_words);
}

std::vector<std::string> library_folders(const RunnerSettings& settings) {
  return library_folders(settings.environment, settings.cache.string());
}

bool run_on_one_machine(const RunnerSettings& settings, int64_t workers) {
  return settings.seats ? settings.seats->are_together(workers) : settings.hosts.empty();
}

std::string seen_gpus(const RunnerSettings& settings) {
  const Nvml nvml(settings.gpu_library);
  const auto driver = nvml.driver_version();
  if (!driver) return "";
  std::string seen = cat("driver ", *driver);
  if (const auto count = nvml.device_count()) seen += cat(" devices ", *count);
  const auto visible = settings.environment.find("CUDA_VISIBLE_DEVICES");
  return visible == settings.environment.end() ? seen : cat(seen, " visible ", visible->second);
}

CapabilityCache capability_cache(const RunnerSettings& settings) {
  return {.folder = settings.cache, .gpus = seen_gpus(settings)};
}

protocol::HelloReply probe_worker(const WorkerEntry& entry, const RunnerSettings& settings) {
  try {
    const TemporaryFolder scratch;  // the log, whose last line says why a worker did not start
    WorkerProcess worker(entry, settings, allowed_environment(settings.environment), {}, scratch.path() / "log");
    const protocol::HelloReply reply = worker.hello();
    worker.bye();
    store_capabilities(entry, reply, capability_cache(settings));
    return reply;
  } catch (const WorkerFault& fault) {
    fail(ErrorKind::unsupported, fault.what());
  }
}

protocol::HelloReply capabilities(const WorkerEntry& entry, const RunnerSettings& settings) {
  if (const auto cached = cached_capabilities(entry, capability_cache(settings))) return *cached;
  return probe_worker(entry, settings);
}

}  // namespace tbd
