// Writes a record while a run goes on. At every instant the folder is readable and says how far the run got:
// run.json and launch.json are replaced atomically, step rows reach the file in one write per batch. A launch's steps
// are on the disk before launch.json says that it ended, and launch.json before run.json says that the run did.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "record/record.h"

namespace tbd {

// A steps.csv that grows. Rows reach it in one write per batch, the disk when it is closed.
class StepsFile {
 public:
  explicit StepsFile(const std::filesystem::path& file);  // new; throws Error(io)
  ~StepsFile();
  StepsFile(const StepsFile&) = delete;
  StepsFile& operator=(const StepsFile&) = delete;
  void append(std::span<const StepRow> rows);  // throws Error(io) on a full disk
  void close();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

class RecordWriter {
 public:
  // Creates `folder` with run.json in state `running`. Throws Error(io), or Error(usage) when a record is there
  // already.
  RecordWriter(std::filesystem::path folder, const RunInfo& run);
  // Goes on with the record that is there: run.json anew, state `running`; its launches stay. Throws Error(io).
  static std::unique_ptr<RecordWriter> reopen(std::filesystem::path folder, const RunInfo& run);
  // A launch without end stays as it is: the reader calls it interrupted.

  const std::filesystem::path& folder() const { return folder_; }
  // Starts launches/<pass>-<n>, which must not exist; returns it, for a worker's own files.
  std::filesystem::path begin_launch(const LaunchInfo& launch);
  void append(std::span<const StepRow> rows);  // to the launch begun last; throws Error(io) on a full disk
  void end_launch(const LaunchInfo& launch);   // its final facts and outcome, and the seal of its files (seal.h)
  void update(const RunInfo& run);             // run.json anew, state `running`
  // The end: state `complete`, or `interrupted` when the outcome is.
  void finish(RunInfo run, const Outcome& outcome);

 private:
  explicit RecordWriter(std::filesystem::path folder) : folder_(std::move(folder)) {}
  std::filesystem::path launch_folder(const LaunchInfo& launch) const;

  std::filesystem::path folder_;
  std::unique_ptr<StepsFile> steps_;  // of the launch begun last
};

}  // namespace tbd
