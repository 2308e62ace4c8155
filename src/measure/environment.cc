#include "measure/environment.h"

#include <pwd.h>
#include <sys/utsname.h>

#include <algorithm>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_value.h"
#include "base/text.h"
#include "measure/core_clock.h"
#include "measure/proc_text.h"
#include "measure/system_file.h"

namespace tbd {
namespace {

constexpr std::string_view kPrefixes[] = {
    "OMP_",  "MKL_",  "DNNL_", "ONEDNN_", "OPENBLAS_", "TF_",   "XLA_",           "MXNET_",    "TORCH_",   "PYTORCH_",
    "CUDA_", "NCCL_", "LD_",   "MALLOC_", "KMP_",      "GOMP_", "GLIBC_TUNABLES", "MIMALLOC_", "TCMALLOC_"};

constexpr std::string_view kEnds = "/:;, ";  // what follows a folder's name

// "/data/ann/lib:/data/annex" -> "~/lib:/data/annex" where the home is /data/ann.
void hide(std::string& text, std::string home) {
  while (home.ends_with('/')) home.pop_back();
  if (home.empty()) return;
  for (size_t at = text.find(home); at != std::string::npos; at = text.find(home, at + 1)) {
    const size_t end = at + home.size();
    if (end < text.size() && kEnds.find(text[end]) == std::string_view::npos) continue;
    text[at] = '~';
    text.erase(at + 1, home.size() - 1);
  }
}

// The administrator's, which lies beside those of others.
std::string roots_home() {
  const passwd* root = getpwuid(0);
  return root && root->pw_dir ? root->pw_dir : "";
}

// "/home/ann/lib:/home/bob/x" -> "~/lib:~/x".
std::string without_homes(std::string text, const std::string& home) {
  hide(text, home);
  for (size_t at = text.find("/home/"); at != std::string::npos; at = text.find("/home/", at + 1)) {
    const size_t end = std::min(text.find_first_of(kEnds, at + 6), text.size());
    text[at] = '~';
    text.erase(at + 1, end - at - 1);
  }
  hide(text, roots_home());
  return text;
}

}  // namespace

bool shapes_speed(std::string_view variable) {
  return std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

Environment allowed_variables(const Environment& variables) {
  const auto home = variables.find("HOME");
  Environment kept;
  for (const auto& [name, value] : variables)
    if (shapes_speed(name)) kept[name] = without_homes(value, home == variables.end() ? "" : home->second);
  return kept;
}

std::string environment_hash(const Json& environment) {
  Json identity = Json::object();
  for (const char* group : {"cpu", "limits", "software", "variables"})
    if (environment.contains(group)) identity[group] = environment[group];
  return sha256_hex(identity.dump());
}

Json capture_load() {
  Json load = Json::object();
  const auto text = read_system_line("/proc/loadavg");
  const auto words = split(text.value_or(""), ' ');
  load["load_average"] = words.size() < 3 ? Json(nullptr) : Json(parse_double(words[0]).value_or(0));
  const auto memory = parse_colon_lines(read_system_file("/proc/meminfo").value_or(""));
  load["memory_available_bytes"] = or_null(bytes_of_line(memory, "MemAvailable"));
  load["core_clock_hz"] = or_null(measure_core_clock());
  load["tsc_hz"] = or_null(measure_tsc_rate());
  return load;
}

Json capture_software() {
  utsname kernel{};
  uname(&kernel);  // the node name is left out
  Json software{{"kernel", cat(kernel.sysname, " ", kernel.release)}, {"machine", kernel.machine}};
#if defined(__clang__)
  software["compiler"] = cat("clang ", __clang_version__);
#else
  software["compiler"] = cat("gcc ", __VERSION__);
#endif
#ifdef __OPTIMIZE__
  software["optimized"] = true;
#else
  software["optimized"] = false;
#endif
  for (const std::string& line : split(read_system_file("/etc/os-release").value_or(""), '\n'))
    if (line.starts_with("PRETTY_NAME=")) {
      std::string name = line.substr(12);
      std::erase(name, '"');
      software["system"] = name;
    }
  return software;
}

Json capture_environment(const Environment& variables) {
  Json environment{{"cpu", capture_cpu()},
                   {"limits", capture_limits()},
                   {"load", capture_load()},
                   {"software", capture_software()},
                   {"variables", allowed_variables(variables)}};
  environment["hash"] = environment_hash(environment);
  return environment;
}

JsonValue captured_environment(const Environment& variables) { return capture_environment(variables); }

}  // namespace tbd
