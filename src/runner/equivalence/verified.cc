#include "runner/equivalence/verified.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"

namespace tbd {
namespace {

constexpr int kRules = 2;  // raised when the gates become stricter: older verdicts then say nothing

std::string verdict_identity(const VerdictKey& key, const WorkerEntry& entry) {
  const std::string device = key.device == Device::kCpu ? "" : cat(" ", key.device);
  return cat(kRules, " ", key.model_hash, " ", key.precision, " ", key.layout, " ", key.mode, " ", entry.library_sha256,
             " ", capability_key(entry), device);
}

std::filesystem::path file_of(const std::string& identity, const RunnerSettings& settings) {
  return settings.cache / "verdicts" / (sha256_hex(identity).substr(0, 32) + ".json");
}

}  // namespace

std::optional<bool> verified(const VerdictKey& key, const WorkerEntry& entry, const RunnerSettings& settings) {
  const std::string wanted = verdict_identity(key, entry);
  const std::filesystem::path file = file_of(wanted, settings);
  if (settings.cache.empty() || !std::filesystem::exists(file)) return std::nullopt;
  try {
    const Json kept = parse_json(read_file(file), file.string());
    if (at<std::string>(kept, "identity") == wanted) return at<bool>(kept, "passed");
  } catch (const Error&) {  // a cache that cannot be read is no cache
  }
  return std::nullopt;
}

void store_verdict(const VerdictKey& key, const WorkerEntry& entry, const FrameworkVerdict& verdict,
                   const RunnerSettings& settings) {
  if (settings.cache.empty() || !verdict.fault.empty()) return;
  const std::string about = verdict_identity(key, entry);
  const std::filesystem::path file = file_of(about, settings);
  make_folder(file.parent_path());
  const Json kept = {{"identity", about}, {"passed", verdict.passed()}, {"verdict", to_json(verdict)}};
  write_file_atomic(file, kept.dump(1) + "\n");
}

}  // namespace tbd
