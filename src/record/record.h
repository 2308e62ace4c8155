// What one cell (workload) left behind, as stored in a folder: docs/record.md. Everything right of the record is a
// pure function of it, so it carries all that analysis and reports need. Unknown is nullopt or an absent key, never 0.
#pragma once
#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json_value.h"
#include "record/workload.h"

namespace tbd {

constexpr int kRecordVersion = 1;

enum class OutcomeKind {
  ok,
  unsteady,  // in records of earlier versions alone: they withheld a series that drifted
  unsupported,
  unavailable,
  skipped,
  inconsistent,
  nonfinite,
  oom,
  timeout,
  failed,
  interrupted,
};
std::string_view name(OutcomeKind kind);
OutcomeKind outcome_from(std::string_view name);  // throws Error(invalid) on an unknown name

struct Outcome {
  OutcomeKind kind = OutcomeKind::ok;
  std::string reason;  // one sentence; empty when ok
  std::string repro;   // the command line that shows it again; may be empty
};

// FLOPs and bytes of one op in one direction for one step (docs/flops.md).
struct OpCost {
  int64_t flop_model = 0, flop_valid = 0, flop_simd = 0, trans = 0;
  int64_t bytes = 0;
};
// What one row adds to an op that works on as many rows as the data of a step has use for (StepRow::rows).
struct RowCost {
  int64_t most = 0;  // rows that the op's own counts contain
  OpCost forward, backward;
};
struct OpRow {
  std::string node, op;
  OpCost forward, backward;    // with all rows
  std::optional<RowCost> row;  // nullopt: the same work in every step
};

enum class RunState { running, complete, interrupted };
std::string_view name(RunState state);
RunState run_state_from(std::string_view name);  // throws Error(invalid) on an unknown name

// What people call the network, as tables of benchmarks print it. Empty or 0: not known (a program file).
struct ModelCard {
  std::string title;    // "ResNet-50 v1.5"
  std::string domain;   // "image classification"
  std::string dataset;  // that the network is trained on in its paper: "ImageNet-1k"
  int64_t layers = 0;   // as the network's paper counts them
};

// run.json without its launches.
struct RunInfo {
  RunState state = RunState::running;
  std::string created;  // label only: "2026-01-31T12:00:00Z"
  std::string tool;     // tbd's version and commit
  Workload request;     // whole, with its defaults filled in: what `--like` measures again
  MeasuredWorkload workload;
  ModelCard card;
  Outcome outcome;
  std::optional<int64_t> parameters;
  std::optional<int64_t> train_flops;  // per sample, forward + backward + update, flop_model
  std::vector<OpRow> ops;
  JsonValue environment;  // groups of docs/measurement-host.md: {"cpu": {"model": ...}, "limits": {...}, ...}
  // Rates measured with this cell's threads. {"isa": {"fp32": FLOP/s, "bf16": ...}, "gemm": {"fp32": FLOP/s, ...},
  //  "bandwidth": B/s, "threads": n, "drift": fraction between before and after}; an unknown rate is an absent key.
  JsonValue peaks;
  std::optional<bool> verified;    // a passing equivalence record exists; nullopt: never checked
  std::vector<std::string> flags;  // marks that the runner saw: "threads-over-cores", "loadavg-high"
};

inline constexpr double kStealTicksPerSecond = 100;

// One row of steps.csv. Amounts are those of this step alone; a value that could not be read is nullopt (empty cell).
struct StepRow {
  int64_t step = 0;                // from 1
  int64_t completed_ns = 0;        // completion stamp on a monotonic clock whose zero is the launch's process start
  double units = 0;                // of throughput, real (unpadded), that the step finished
  std::optional<int64_t> samples;  // rows of its batches
  // Tokens (frames, pixels) that are real, and places for them, where samples are padded.
  std::optional<int64_t> valid, padded;
  std::optional<int64_t> input_wait_ns;  // the step loop waited for a batch
  std::optional<int64_t> user_cpu_ns;    // of the worker, all threads
  std::optional<int64_t> system_cpu_ns;
  std::optional<int64_t> minor_faults, major_faults;
  std::optional<int64_t> runqueue_wait_ns;  // threads runnable without a CPU, summed
  std::optional<int64_t> steal_ticks;       // of the machine, all CPUs, in 1/100 s
  std::optional<int64_t> rss_bytes;         // at the end of the step
  std::optional<double> loss;               // may be NaN or infinite
  // Known at the last step of a block, after which the speed probe ran (measure/speed_probe.h).
  std::optional<int64_t> pause_ns;        // from this step's completion to the next one's beginning: part of neither
  std::optional<int64_t> fma_flop_rate;   // FLOP/s of the slowest core
  std::optional<int64_t> read_byte_rate;  // B/s of the slowest core, from memory
  std::optional<int64_t> foreign_ns;      // CPU time of other processes on the usable processors since the last block
  // On a GPU: from the first to the last work of the step on its stream, by the device's own clock.
  std::optional<int64_t> device_ns;
  // Rows that the data gave work to, where a program has ragged rows (docs/program.md): regions with a mask.
  std::optional<int64_t> rows;
};

// launches/<pass>-<n>/launch.json: what is known of one worker process besides its steps.
struct LaunchInfo {
  Pass pass = Pass::kClean;
  int64_t number = 1;                          // n, from 1 within the pass
  std::string start;                           // wall-clock label
  std::optional<int64_t> first_step_began_ns;  // c_0 on the clock of completed_ns
  std::optional<double> load_seconds;          // process start to program loaded
  std::optional<double> first_step_seconds;    // process start to first step completed
  std::optional<int64_t> peak_rss_bytes;
  std::optional<int64_t> allocator_peak_bytes;  // by the framework's own count
  std::optional<int64_t> threads;               // as the worker reports them
  std::optional<double> cores;                  // that the worker may use: min(affinity mask, cgroup quota)
  std::optional<int64_t> batch_seen;            // as the worker saw it; differing from the plan is `failed`
  std::optional<int64_t> parameters_seen;
  std::optional<double> energy_joules;      // over all steps, scope in `host`
  std::optional<int64_t> steady_from_step;  // earliest step that the worker's own events allow (autotuning, JIT)
  std::optional<std::vector<std::array<int64_t, 2>>> traced;  // of pass trace: first and last step of each window
  std::string environment_hash;
  // What the process tree and the machine used over the steps: {"delta": {amounts}, "use": {fractions}} with the keys
  // of measure/host_sample.h and host_use.h. Stands in where steps.csv lacks a column.
  JsonValue host;
  // What the driver said of the GPU over the steps: {"name", "driver", "use": measure/gpu/gpu_use.h, ...}, or
  // {"reason"}.
  std::optional<JsonValue> gpu;  // of a workload on a GPU
  Outcome outcome;
  std::string folder_name() const;  // "clean-1"
};

// Of a launch of several workers: rank-0, rank-1, ... hold the steps.csv and launch.json of each.
inline constexpr std::string_view kRankFolder = "rank-";

struct Launch {
  LaunchInfo info;
  std::vector<StepRow> steps;
  int64_t dropped_lines = 0;  // malformed lines at the end of steps.csv: a write that a kill or full disk cut
};

struct Record {
  std::filesystem::path folder;
  std::string hash;  // of all that was read; names this record in a report
  int version = kRecordVersion;
  RunInfo run;
  std::vector<Launch> launches;  // by pass, then number
};

// The last launch of this pass; nullptr without one. Its files lie in launch_folder.
const Launch* last_launch(const Record& record, const Pass& pass);
// Other work disturbed it so much that another launch was wanted, by the evidence of the kernel (`host.repeat`).
bool is_disturbed(const LaunchInfo& launch);
std::filesystem::path launch_folder(const Record& record, const Launch& launch);
// Where the worker left its own files: there or, one of several, in the folder of its rank.
std::filesystem::path worker_folder(const Record& record, const Launch& launch, int64_t rank = 0);

Json to_json(const MeasuredWorkload& workload);         // as run.json holds it
MeasuredWorkload workload_from_json(const Json& json);  // throws Error(invalid)
Json to_json(const RunInfo& run);                       // the content of run.json
RunInfo run_from_json(const Json& json);                // throws Error(invalid), also for another version
Json to_json(const LaunchInfo& launch);
LaunchInfo launch_from_json(const Json& json);

}  // namespace tbd
