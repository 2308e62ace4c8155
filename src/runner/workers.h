// The workers that this machine has (workers.json, docs/setup.md), and what each can do, cached by the identity of its
// library, so that a list of capabilities loads no framework.
#pragma once
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "worker/protocol.h"

namespace tbd {

struct WorkerEntry {
  std::string key;                 // as --framework names it: "pytorch", "pytorch@2.11.0"
  std::string framework, version;  // "pytorch", "2.15.0"
  std::filesystem::path worker, root, library;
  bool pinned = false;  // an unpacked section of the lock file
  int64_t library_bytes = 0, library_mtime_ns = 0;
  std::string library_sha256;

  // Where the set-up puts what GPUs need besides, whether it is there or not.
  std::filesystem::path gpu_root() const { return root.string() + "-cuda"; }
};

// The entries of a workers.json in the order of their keys; empty when there is no such file.
// Throws Error(invalid) on malformed content, Error(unsupported) on another version of the format.
std::vector<WorkerEntry> read_workers(const std::filesystem::path& workers_json);
// Several files; a key that stands in an earlier one wins.
std::vector<WorkerEntry> read_workers(const std::vector<std::filesystem::path>& workers_json);

// By key; "pytorch@2.11" also finds "pytorch@2.11.0", and "pytorch@DIR" the entry whose root is DIR.
// Throws Error(not_found) that offers the nearest names, or says that no worker is built.
const WorkerEntry& find_worker(const std::vector<WorkerEntry>& workers, const std::string& framework);

// The identity of a worker: of its framework's library, of what the set-up put beside that for GPUs, and of its
// executable.
std::string capability_key(const WorkerEntry& entry);
// Where capabilities are kept, and under which driver and GPUs (seen_gpus() of runner/settings.h).
struct CapabilityCache {
  std::filesystem::path folder;  // empty: nothing is kept
  std::string gpus;
};
// Without starting anything; nullopt when they were never asked for, or the framework's library, the worker executable
// or the GPUs are others now.
std::optional<protocol::HelloReply> cached_capabilities(const WorkerEntry& entry, const CapabilityCache& cache);
void store_capabilities(const WorkerEntry& entry, const protocol::HelloReply& reply, const CapabilityCache& cache);

// Why no worker of the framework `name` is built: what the set-up left in BUILD_FOLDER/absent/NAME, else how to build
// one.
std::string absence_reason(std::string_view name, const std::filesystem::path& build_folder);

}  // namespace tbd
