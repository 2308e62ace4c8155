// The rows that a worker sends, judged as they come: what no training can have left is the worker's fault, and must not
// reach the record, whose readers would refuse it. Of several workers, one a rank, each one's rows are kept, and rows
// of the world are made of them.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "record/writer.h"

namespace tbd {

class ReportedRows {
 public:
  // Rows that follow those taken before; the worker's process is at most `age_ns` old. Throws Error(invalid) that names
  // the step where steps are not numbered without gaps from 1, where one ends no later than the one before or later
  // than now, and where a value is none that steps.csv can hold.
  void take(std::span<const StepRow> rows, int64_t age_ns);

 private:
  StepRow last_;
};

class WorldRows {
 public:
  // Makes the folders rank-0, rank-1, ... in that of the launch, unless there is one rank. Throws Error(io).
  WorldRows(const std::filesystem::path& launch_folder, int64_t world);

  std::vector<std::filesystem::path> logs() const;  // of the workers, by rank; empty where there is one
  // Further rows of a rank, judged (ReportedRows) and kept; the rows of the world that they complete. Not for two
  // threads at once.
  std::vector<StepRow> take(int64_t rank, std::span<const StepRow> rows, int64_t age_ns);
  void describe(int64_t rank, const LaunchInfo& launch);  // writes a rank's launch.json
  void close();                                           // no more rows come; those of each rank are on the disk then

 private:
  struct Rank {
    std::filesystem::path folder;
    std::unique_ptr<StepsFile> file;
    ReportedRows judge;
    std::vector<StepRow> waiting;  // for those of the other ranks
  };
  std::vector<Rank> ranks_;
};

// A step of all ranks: with the stamps of rank 0, of what each used, read and trained on the sum, of waits the longest
// and of speeds the lowest. Unknown where it is of one rank.
StepRow row_of_world(std::span<const StepRow> ranks);

}  // namespace tbd
