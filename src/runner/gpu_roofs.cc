#include "runner/gpu_roofs.h"

#include <cmath>
#include <functional>

#include "base/files.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "measure/clock.h"
#include "measure/gpu/nvrtc.h"
#include "measure/gpu/visible_device.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr double kLook = 0.2;  // seconds between looks at the interrupt flag

std::vector<std::string> command_line(const Device& device, const PeakOptions& options, const fs::path& nvrtc,
                                      const RunnerSettings& settings) {
  std::vector<std::string> argv = {settings.program.string(), "gpu-peaks", "--json", "--device", device.text()};
  const auto add = [&](const char* option, const std::string& value) { argv.insert(argv.end(), {option, value}); };
  add("--samples", cat(options.samples));
  add("--sample-ms", cat(std::llround(1e3 * options.sample_seconds)));
  if (!options.kernels.empty()) add("--kernels", join(options.kernels, ","));
  if (options.array_bytes) add("--array-bytes", cat(*options.array_bytes));
  if (!nvrtc.empty()) add("--nvrtc", nvrtc.string());
  return argv;
}

// The sentence with which the process ended, else how it ended.
std::string last_words(const fs::path& log, const ExitStatus& status) {
  constexpr std::string_view kPrefix = "tbd: error: ";
  std::string last;
  if (is_file(log))
    for (const std::string& line : split(read_file(log), '\n'))
      if (!trim(line).empty()) last = trim(line);
  if (last.starts_with(kPrefix)) return last.substr(kPrefix.size());
  return cat("the process that measures the GPU ", status.words(), last.empty() ? "" : ": ", last);
}

class Measurement {
 public:
  Measurement(const SpawnOptions& spawn, const RunnerSettings& settings) : process_(spawn), settings_(settings) {
    process_.close_input();
  }

  // Its line; nullopt where it was cancelled.
  std::optional<std::string> line(const std::function<bool()>& cancelled, const fs::path& log) {
    const double most = settings_.deadlines.gpu_peaks, until = now_seconds() + most;
    std::string text;
    for (;;) {
      const Subprocess::Read read = process_.read_line(text, kLook);
      if (read == Subprocess::Read::line) return text;
      if (read == Subprocess::Read::end) fail(ErrorKind::unsupported, last_words(log, end()));
      if (cancelled()) {
        end();
        return std::nullopt;
      }
      if (now_seconds() < until) continue;
      process_.terminate(settings_.deadlines.grace);
      fail(ErrorKind::unsupported, "the process that measures the GPU took more than ", format_seconds(most));
    }
  }

 private:
  ExitStatus end() {
    if (const auto status = process_.wait(kLook)) return *status;
    return process_.terminate(settings_.deadlines.grace);
  }

  Subprocess process_;
  const RunnerSettings& settings_;
};

}  // namespace

fs::path nvrtc_of_workers(const WorkerEntry* first, const RunnerSettings& settings) {
  std::vector<fs::path> folders;
  const auto add = [&](const WorkerEntry& worker) { folders.insert(folders.end(), {worker.root, worker.gpu_root()}); };
  if (first) add(*first);
  for (const WorkerEntry& worker : settings.workers) add(worker);
  return find_nvrtc(folders);
}

Json gpu_identity(const Device& device, const RunnerSettings& settings) {
  const Nvml nvml(settings.gpu_library);
  const auto gpu = nvml_device(nvml, device, in_driver_order(settings.environment));
  if (!gpu) return nullptr;
  const auto name = gpu->name(), uuid = gpu->uuid(), driver = nvml.driver_version();
  if (!name || !uuid || !driver) return nullptr;
  return {{"gpu", *name}, {"uuid", *uuid}, {"driver", *driver}};
}

std::optional<Peaks> gpu_peaks_of_process(const Device& device, const PeakOptions& options, const fs::path& nvrtc,
                                          const RunnerSettings& settings) {
  if (settings.program.empty()) fail(ErrorKind::unsupported, "no program is known that measures a GPU");
  const TemporaryFolder scratch;
  const fs::path log = scratch.path() / "log";
  try {
    Measurement measurement({.argv = command_line(device, options, nvrtc, settings),
                             .environment = in_driver_order(settings.environment),
                             .stderr_file = log,
                             .cpus = {}},
                            settings);
    const std::optional<std::string> line = measurement.line(options.cancelled, log);
    if (!line) return std::nullopt;
    return peaks_from_json(parse_json(*line, "tbd gpu-peaks"));
  } catch (const Error& e) {
    fail(ErrorKind::unsupported, e.what());
  }
}

}  // namespace tbd
