// Where a training can go on: RECORD/checkpoints/step-N.safetensors (parameters, buffers, optimizer slots, averages,
// counts of updates, by the names of a step's files) and last.json, which names the last whole one.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace tbd {

inline constexpr const char* kLastCheckpoint = "checkpoints/last.json";

struct Checkpoint {
  int64_t step = 0;             // that was finished
  double training_seconds = 0;  // until then, over all launches
  std::optional<double> training_joules;
  std::filesystem::path file;
};

// `fill` writes the tensors to the path that it is given. The file is on the disk before last.json names it, and the
// one before is removed after. Throws Error(io), and what `fill` throws; the last whole one stays then.
void write_checkpoint(const std::filesystem::path& record, const Checkpoint& at,
                      const std::function<void(const std::filesystem::path&)>& fill);
// Throws Error(not_found) where there is none, Error(invalid) where the file is not what was written.
Checkpoint last_checkpoint(const std::filesystem::path& record);

}  // namespace tbd
