// The messages between runner and worker: JSON objects, one a line, on the worker's stdin and stdout; docs/protocol.md.
// Tensors travel in safetensors files named in messages. Chatter of frameworks goes to stderr.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/json_value.h"
#include "base/workload_words.h"
#include "graph/program.h"
#include "worker/place.h"

namespace tbd::protocol {

inline constexpr int kVersion = 1;

// Runner to worker. The worker answers each with one Reply of the same name, or an Error; `run` sends Steps before.
struct Hello {
  int version = kVersion;
};
struct Check {
  Program program;
};
struct Load {
  Program program;
  Bindings bindings;
  Device device = Device::kCpu;
  ImageLayout layout = ImageLayout::kNchw;
  Precision precision = Precision::kFp32;
  DropoutMode dropout = DropoutMode::kFramework;
  Mode mode;  // empty: the worker's usual one
  int64_t threads = 1;
  int64_t interop = 1;
  uint64_t seed = 0;
  bool capture = false;
  Pass pass = Pass::kClean;  // what the process is to measure, of HelloReply's passes
  // That the framework may take of the device's memory. A worker that limits it says so in LoadReply's settings.
  std::optional<int64_t> device_memory_bytes;
  std::optional<World> world;  // of several ranks, each a worker of its own
};
inline constexpr const char* kDeviceMemorySetting = "device_memory_bytes";
struct Write {  // tensors by the names of a step's files
  std::string file;
};
struct Read {  // tensors whose names start with one of the prefixes
  std::vector<std::string> prefixes;
  std::string file;
};
// Where a run's batches come from. resident: the batch of step 1 (or the file) is staged once and reused;
// pipeline: each step's batch comes from the real loader.
struct InputPlan {
  InputMode mode = InputMode::kResident;
  std::string file;  // safetensors with the step's inputs; resident only
  JsonValue source;  // data::SourceSpec; empty with a file
  std::string save;  // when set, the first step's inputs are written there (safetensors)
};
struct Run {
  int64_t steps = 1;               // at most
  double seconds = 0;              // no step begins later than this after the first step ended; 0: no limit
  int64_t first_step = 1;          // number of the first step: a resumed run goes on
  std::optional<int64_t> at_step;  // schedules are taken as of this step
  std::optional<double> lr;
  std::optional<std::string> phase;  // run that phase alone
  InputPlan input;
  // Of pass trace: these steps are traced. A worker writes one trace, to the folder of its first traced run.
  bool traced = false;
  // Folder for what the pass leaves: trace.tbdt (trace/file.h), counters.csv (record/counter_log.h),
  // memory.safetensors (record/memory_log.h).
  std::string files;
};
struct Evaluate {  // one pass over held-out data by a phase that no step entry names
  std::string phase;
  JsonValue source;       // data::SourceSpec; its split is `val` unless it says otherwise
  std::string judge;      // of the answers (worker/judge.h); empty: by the phase's loss
  int64_t samples = 0;    // in the order of the set, up to a whole batch; 0: all
  int64_t pictures = 0;   // of the first samples with what was found in them, into `files`, where the judge draws
  std::string files;      // record that pictures belong to
  bool averaged = false;  // by the averages of weights that the network keeps, where it keeps some
};
struct Answer {  // a phase that no step entry names, on one batch
  std::string phase;
  std::string file;  // its inputs by name (safetensors)
  std::string to;    // its outputs by name are written there
};
struct Survey {      // what a data set has for the loaded program
  JsonValue source;  // data::SourceSpec, without a split
};
struct Gemm {  // measure the framework's matrix product
  Precision precision = Precision::kFp32;
  double seconds = 0.2;
};
struct Link {  // time all-reduces by the engine that sums over the ranks, alone; sent to all ranks
  DType dtype = DType::f32;
  int64_t bytes = 0;        // of each, a whole number of elements
  int64_t repetitions = 1;  // at most
  double seconds = 0;       // none begins later than this after the first where 5 are done; 0: no limit
};
struct Stop {};  // at any time: the run in progress ends after its current step
struct Ping {};  // at any time: a worker that is one of several answers at once, within a step too
struct Bye {};

using Request =
    std::variant<Hello, Check, Load, Write, Read, Run, Evaluate, Answer, Survey, Gemm, Link, Stop, Ping, Bye>;

// Worker to runner.
struct HelloReply {
  int version = kVersion;
  std::string framework, framework_version;
  std::vector<Mode> modes;  // the first is the usual one
  std::vector<Device> devices;
  std::vector<Precision> precisions;
  std::vector<ImageLayout> layouts;
  std::vector<Pass> passes = {Pass::kClean};
  bool pipeline = false;                              // can feed itself from a data source
  std::optional<std::vector<std::string>> exchanges;  // engines that sum over ranks; absent or empty: it trains alone
  std::map<std::string, std::string> build;
};
struct NodeRow {
  std::string phase, node, kind, level, detail;  // level: native, composed, unsupported
};
struct CheckReply {
  std::vector<NodeRow> nodes;
};
struct LoadReply {
  int64_t batch = 0, parameters = 0, threads = 0;  // as the worker sees them
  std::map<std::string, std::string> settings;     // what was set: OMP_NUM_THREADS, affinity, ...
  double seconds = 0;
};
struct WriteReply {
  int64_t tensors = 0;
};
struct ReadReply {
  int64_t tensors = 0;
};
// A batch of step rows (record/record.h StepRow as arrays, worker/protocol_rows.h), sent between steps.
struct Steps {
  JsonValue rows = JsonValue::array();
};
struct RunReply {
  int64_t steps = 0;
  std::string ended;                     // steps, seconds, stop, nonfinite
  std::string nonfinite;                 // name of the first non-finite tensor
  std::map<std::string, double> losses;  // of the last step, by phase
  JsonValue launch;                      // launch.json fields the worker knows: peaks, host differences, faults of data
};
struct EvaluateReply {
  int64_t samples = 0;
  double seconds = 0;                     // in the network, data and judging aside
  double judging_seconds = 0;             // by the judge, its own questions to the network included
  double wall_seconds = 0;                // altogether
  std::map<std::string, double> metrics;  // by name: "loss", "box_ap"; what has no value is absent
  JsonValue data;                         // as in launch.json's host
};
struct AnswerReply {
  double seconds = 0;  // in the network, files aside
};
struct SurveyReply {
  int64_t samples = 0, held_out = 0;  // to train on; to evaluate
  int64_t steps_per_epoch = 1;        // of training; a last partial batch is dropped
  std::optional<std::string> hash;    // of its content, where it says so
};
struct GemmReply {
  std::optional<double> flop_rate;
};
// By repetition, of this rank, on the clock of now_ns(): when it entered the all-reduce, and when it had the sum.
struct LinkReply {
  std::vector<int64_t> began_ns, ended_ns;
  // In which the rank's processors were not idle, summed over them, from the first begin to the last end: the votes
  // between are in it. Absent: the system does not say (measure/busy_time.h).
  std::optional<int64_t> busy_ns = {};
};
struct PingReply {
  int64_t step = 0;  // that it is in; 0: in none
};
struct ByeReply {};
struct Failure {     // the request could not be done; the worker lives on unless it says fatal
  std::string kind;  // an ErrorKind name, "oom" or "nonfinite"
  std::string sentence;
  bool fatal = false;
  std::optional<int64_t> step;  // that it was in
};

using Message = std::variant<HelloReply, CheckReply, LoadReply, WriteReply, ReadReply, Steps, RunReply, EvaluateReply,
                             AnswerReply, SurveyReply, GemmReply, LinkReply, PingReply, ByeReply, Failure>;

// One line without the newline. from: Error(invalid) that says what is wrong with the line.
std::string to_line(const Request& request);
std::string to_line(const Message& message);
Request request_from(std::string_view line);
Message message_from(std::string_view line);

}  // namespace tbd::protocol
