#include "runner/checkpoint.h"

#include "base/error.h"
#include "base/file_hash.h"
#include "base/files.h"
#include "base/json.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

fs::path folder_of(const fs::path& record) { return record / "checkpoints"; }
fs::path last_of(const fs::path& record) { return record / kLastCheckpoint; }

std::string kept_file(const fs::path& record) {
  const fs::path last = last_of(record);
  return is_file(last) ? at<std::string>(parse_json(read_file(last), last.string()), "file") : "";
}

}  // namespace

void write_checkpoint(const fs::path& record, const Checkpoint& at, const std::function<void(const fs::path&)>& fill) {
  make_folder(folder_of(record));
  const std::string before = kept_file(record), name = cat("step-", at.step, ".safetensors");
  const fs::path file = folder_of(record) / name;
  replace_file(file, fill);
  Json last = {
      {"step", at.step}, {"training_seconds", at.training_seconds}, {"file", name}, {"sha256", sha256_of_file(file)}};
  if (at.training_joules) last["training_joules"] = *at.training_joules;
  write_file_atomic(last_of(record), last.dump(1) + "\n");
  if (!before.empty() && before != name) fs::remove(folder_of(record) / before);
}

Checkpoint last_checkpoint(const fs::path& record) {
  const fs::path last = last_of(record);
  if (!is_file(last)) fail(ErrorKind::not_found, record.string(), " has no checkpoint to go on from");
  const Json json = parse_json(read_file(last), last.string());
  Checkpoint out{.step = at<int64_t>(json, "step"),
                 .training_seconds = at<double>(json, "training_seconds"),
                 .training_joules = maybe<double>(json, "training_joules"),
                 .file = folder_of(record) / at<std::string>(json, "file")};
  require(is_file(out.file), out.file.string(), " is missing, though ", last.string(), " names it");
  require(sha256_of_file(out.file) == at<std::string>(json, "sha256"), out.file.string(),
          " is not what was written: its SHA-256 differs from that in ", last.string());
  return out;
}

}  // namespace tbd
