// A cell made ready: its program lowered, its defaults filled in, its record begun on paper.
#pragma once
#include "graph/program.h"
#include "measure/threading.h"
#include "record/record.h"
#include "runner/plan.h"
#include "runner/settings.h"

namespace tbd {

struct PreparedCell {
  Workload cell;    // defaults filled in
  Program program;  // after its passes
  Bindings bindings;
  ThreadPlan threads;                        // of each worker; its cores are those of the first
  std::vector<std::vector<int>> rank_cores;  // of each of several workers, none shared; empty: there is one
  const WorkerEntry* worker = nullptr;       // in the settings; nullptr: refused
  std::optional<Outcome> refused;            // known before any launch: no such worker or allocator, not enough memory
  RunInfo run;
  int64_t parameters = 0;
};

// Rows of the op table: each node with its costs in one step of the whole program, of all workers together.
std::vector<OpRow> op_rows(const Program& program, const Bindings& bindings, int64_t workers = 1);

// Throws Error(usage, not_found or io) for an unknown framework, a data folder that is not there or cannot be read, and
// several workers that this machine or the program cannot let train together.
void require_startable(const Workload& cell, const RunnerSettings& settings);

// A batch that is to be found is the least that the network takes. Throws Error(usage, not_found or invalid) when the
// cell makes no sense whatever the machine.
PreparedCell prepare(const Workload& cell, Effort effort, const RunnerSettings& settings);

// The program as the cell's worker gets it: after the passes of its dropout and precision.
Program lowered_program(const Program& program, const Workload& cell);

// What a load request says of the cell.
protocol::Load load_request(const PreparedCell& prepared, bool capture);
// Where its batches come from and how they are fetched.
protocol::InputPlan input_plan(const PreparedCell& prepared);

// The environment of the cell's worker: what it inherits, and the variables of the thread plan and the allocator.
std::map<std::string, std::string> worker_environment(const PreparedCell& prepared, const RunnerSettings& settings);

}  // namespace tbd
