#include "record/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "record/seal.h"
#include "record/steps.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// So that a name outlasts a power failure. A file system that cannot sync a folder keeps what it keeps.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

void write_json(const fs::path& path, const Json& json) {
  write_file_atomic(path, json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
  sync_folder(path.parent_path());
}

// All of `text`, or Error(io): rows behind a half-written one would be misread.
void write_all(int descriptor, std::string_view text, const fs::path& file) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail(ErrorKind::io, "cannot append to the record ", file.string(), ": ", std::strerror(errno));
    text.remove_prefix(static_cast<size_t>(count));
  }
}

}  // namespace

StepsFile::StepsFile(const fs::path& file)
    : file_(file), descriptor_(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666)) {
  if (descriptor_ < 0) fail(ErrorKind::io, "cannot write ", file.string(), ": ", std::strerror(errno));
  write_all(descriptor_, steps_header(), file_);
}

StepsFile::~StepsFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void StepsFile::append(std::span<const StepRow> rows) { write_all(descriptor_, format_steps(rows), file_); }

void StepsFile::close() {
  ::fsync(descriptor_);
  ::close(std::exchange(descriptor_, -1));
}

RecordWriter::RecordWriter(fs::path folder, const RunInfo& run) : folder_(std::move(folder)) {
  if (fs::exists(folder_ / "run.json"))
    fail(ErrorKind::usage, folder_.string(), " already holds a record: choose another folder");
  make_folder(folder_ / "launches");
  update(run);
  sync_folder(folder_.parent_path());
}

std::unique_ptr<RecordWriter> RecordWriter::reopen(fs::path folder, const RunInfo& run) {
  std::unique_ptr<RecordWriter> writer(new RecordWriter(std::move(folder)));  // its constructor is private
  writer->update(run);
  return writer;
}

fs::path RecordWriter::launch_folder(const LaunchInfo& launch) const {
  return folder_ / "launches" / launch.folder_name();
}

fs::path RecordWriter::begin_launch(const LaunchInfo& launch) {
  const fs::path folder = launch_folder(launch);
  if (fs::exists(folder)) fail(ErrorKind::internal, folder.string(), " exists already");
  make_folder(folder);
  LaunchInfo begun = launch;
  begun.outcome = {.kind = OutcomeKind::interrupted, .reason = "the launch's end was never written", .repro = ""};
  write_json(folder / "launch.json", to_json(begun));
  steps_ = std::make_unique<StepsFile>(folder / "steps.csv");
  return folder;
}

void RecordWriter::append(std::span<const StepRow> rows) {
  if (!steps_) fail(ErrorKind::internal, "steps without a launch");
  steps_->append(rows);
}

void RecordWriter::end_launch(const LaunchInfo& launch) {
  if (steps_) steps_->close();
  steps_.reset();
  const fs::path folder = launch_folder(launch);
  Json facts = to_json(launch);
  facts["files"] = to_json(seal_of(folder));
  write_json(folder / "launch.json", facts);
}

void RecordWriter::update(const RunInfo& run) {
  RunInfo now = run;
  now.state = RunState::running;
  write_json(folder_ / "run.json", to_json(now));
}

void RecordWriter::finish(RunInfo run, const Outcome& outcome) {
  run.outcome = outcome;
  run.state = outcome.kind == OutcomeKind::interrupted ? RunState::interrupted : RunState::complete;
  write_json(folder_ / "run.json", to_json(run));
}

}  // namespace tbd
