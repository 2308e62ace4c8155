#include "runner/workers.h"

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr int kRegistryVersion = 1;

WorkerEntry entry_from(const std::string& key, const Json& json) {
  return {.key = key,
          .framework = at<std::string>(json, "framework"),
          .version = at<std::string>(json, "framework_version"),
          .worker = at<std::string>(json, "worker"),
          .root = maybe<std::string>(json, "root").value_or(""),
          .library = maybe<std::string>(json, "library").value_or(""),
          .pinned = maybe<bool>(json, "pinned").value_or(false),
          .library_bytes = maybe<int64_t>(json, "library_bytes").value_or(0),
          .library_mtime_ns = maybe<int64_t>(json, "library_mtime_ns").value_or(0),
          .library_sha256 = maybe<std::string>(json, "library_sha256").value_or("")};
}

// Size and time of last change; "absent" where there is no such file.
std::string file_identity(const fs::path& path) {
  std::error_code failed;
  const auto size = fs::file_size(path, failed);
  if (failed) return "absent";
  const auto changed = fs::last_write_time(path, failed).time_since_epoch().count();
  return failed ? "absent" : cat(size, "@", changed);
}

fs::path capability_file(const WorkerEntry& entry, const fs::path& cache) {
  return cache / "capabilities" / (sha256_hex(entry.worker.string()).substr(0, 16) + ".json");
}

std::string key_under(const WorkerEntry& entry, const std::string& gpus) {
  return gpus.empty() ? capability_key(entry) : cat(capability_key(entry), " ", gpus);
}

bool same_folder(const fs::path& a, const fs::path& b) {
  std::error_code failed;
  return fs::weakly_canonical(a, failed) == fs::weakly_canonical(b, failed) && !failed;
}

}  // namespace

std::vector<WorkerEntry> read_workers(const fs::path& workers_json) {
  if (!fs::exists(workers_json)) return {};
  const std::string where = workers_json.string();
  const Json book = parse_json(read_file(workers_json), where);
  try {
    const int version = at<int>(book, "version");
    if (version != kRegistryVersion)
      fail(ErrorKind::unsupported, "the list of workers has version ", version, ", this tbd reads ", kRegistryVersion);
    const Json workers = at<Json>(book, "workers");
    require(workers.is_object(), "'workers' is not an object");
    std::vector<WorkerEntry> entries;
    for (const auto& [key, json] : workers.items()) entries.push_back(entry_from(key, json));
    std::ranges::sort(entries, {}, &WorkerEntry::key);
    return entries;
  } catch (const Error& e) {
    throw e.within(where);
  }
}

std::vector<WorkerEntry> read_workers(const std::vector<fs::path>& workers_json) {
  std::vector<WorkerEntry> all;
  std::set<std::string> seen;
  for (const fs::path& file : workers_json)
    for (WorkerEntry& entry : read_workers(file))
      if (seen.insert(entry.key).second) all.push_back(std::move(entry));
  return all;
}

const WorkerEntry& find_worker(const std::vector<WorkerEntry>& workers, const std::string& framework) {
  std::vector<std::string> known;
  for (const WorkerEntry& entry : workers) {
    if (entry.key == framework) return entry;
    known.push_back(entry.key);
  }
  const size_t mark = framework.find('@');
  const std::string base = framework.substr(0, mark);
  const std::string build = mark == std::string::npos ? "" : framework.substr(mark + 1);
  for (const WorkerEntry& entry : workers) {
    if (entry.framework != base || build.empty()) continue;
    if (entry.version == build || entry.version.starts_with(build + ".")) return entry;
    if (build.find('/') != std::string::npos && same_folder(entry.root, build)) return entry;
  }
  if (std::ranges::find(workers, base, &WorkerEntry::framework) == workers.end())
    fail(ErrorKind::not_found, "no worker of ", base, " is built here: './tbd setup --frameworks ", framework,
         "' builds it; 'tbd list' says what is");
  fail(ErrorKind::not_found, unknown_name("framework", framework, known));
}

std::string capability_key(const WorkerEntry& entry) {
  return cat(entry.worker.string(), " ", file_identity(entry.worker), " ", entry.library.string(), " ",
             file_identity(entry.library), " ", file_identity(entry.gpu_root() / ".tbd-manifest"));
}

std::optional<protocol::HelloReply> cached_capabilities(const WorkerEntry& entry, const CapabilityCache& cache) {
  const fs::path file = capability_file(entry, cache.folder);
  if (!fs::exists(file)) return std::nullopt;
  try {
    const Json kept = parse_json(read_file(file), file.string());
    if (at<std::string>(kept, "key") != key_under(entry, cache.gpus)) return std::nullopt;
    const protocol::Message message = protocol::message_from(at<std::string>(kept, "hello"));
    if (const auto* reply = std::get_if<protocol::HelloReply>(&message)) return *reply;
  } catch (const Error&) {  // a cache that cannot be read is no cache
  }
  return std::nullopt;
}

void store_capabilities(const WorkerEntry& entry, const protocol::HelloReply& reply, const CapabilityCache& cache) {
  if (cache.folder.empty()) return;
  const fs::path file = capability_file(entry, cache.folder);
  make_folder(file.parent_path());
  const Json kept = {{"key", key_under(entry, cache.gpus)}, {"hello", protocol::to_line(protocol::Message(reply))}};
  write_file_atomic(file, kept.dump(1) + "\n");
}

std::string absence_reason(std::string_view name, const fs::path& build_folder) {
  const fs::path left = build_folder / "absent" / name;
  if (fs::exists(left))
    if (const std::string reason(trim(read_file(left))); !reason.empty()) return reason;
  return cat("not built here; './tbd setup --frameworks ", name, "' fetches and builds it");
}

}  // namespace tbd
