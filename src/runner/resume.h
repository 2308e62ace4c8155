// What is on the disk of a cell that an earlier run began, and what of it counts (docs/record.md, "Going on").
#pragma once
#include <map>
#include <set>

#include "record/record.h"
#include "runner/prepare.h"

namespace tbd {

struct RunOptions;

// What a run finds of a cell in its result set.
struct Begun {
  enum class State {
    none,      // nothing: measure
    complete,  // nothing more to measure
    partial,   // goes on: some launches are missing
    replaced,  // measured anew; the record that is there is moved aside when the first launch begins
  };
  State state = State::none;
  RunInfo run;                                // of the record; none: empty
  std::vector<LaunchInfo> launches;           // whole ones, of the wanted passes, by pass as wanted, by number
  std::map<Pass, std::set<int64_t>> numbers;  // of those, by pass
  std::vector<std::filesystem::path> cut;     // folders of launches that were cut
  std::string elsewhere;                      // why no further launch may lie beside these; empty: it may
};

// Looks at `folder` without changing anything. `launches` is wanted of pass clean, one of each other pass.
// A record that was moved aside ("<folder>.old") stands in where `folder` holds none.
// Throws Error(usage) when the record holds another cell, or launches that were measured on another machine, with other
// settings or another build of the framework than a further one would be: each names what differs.
// Throws Error(invalid) on a malformed record.
Begun look_at(const std::filesystem::path& folder, const PreparedCell& prepared, const RunOptions& options,
              int64_t launches, const Json& environment);

// Removes what a kill left of a record: launches that were cut, files half written, the record aside where its
// successor is complete; puts a record aside back where it has no successor. Throws Error(io).
void clear_remains(const std::filesystem::path& folder, const Begun& begun);

// Moves the record to "<folder>.old", where it stays until its successor is complete. Throws Error(io).
void move_aside(const std::filesystem::path& folder);
void remove_aside(const std::filesystem::path& folder);  // nothing happens when there is none

// What the wanted cell and the record's disagree on, "batch 8 there, 16 wanted"; empty: the same cell.
std::string difference(const MeasuredWorkload& there, const MeasuredWorkload& wanted, bool mode_is_wanted);

}  // namespace tbd
