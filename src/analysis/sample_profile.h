// A record with a traced launch and one of pass memory, made by hand for tests: known numbers, files in a folder.
#pragma once
#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "record/memory_log.h"
#include "record/record.h"
#include "trace/file.h"
#include "trace/names.h"

namespace tbd::sample {

inline constexpr int64_t kStep = 1'000'000;  // ns

struct Made {
  TemporaryFolder folder;
  Record record;
};

inline void add_op(Trace& trace, TrackId track, int64_t begin, int64_t length, const char* name, const char* node,
                   EventPhase phase) {
  const uint32_t detail = trace.detail(OpDetail{.node = trace.string(node), .shapes = trace.string("[[8]]")});
  trace.add({.begin = begin,
             .duration = length,
             .name = trace.string(name),
             .detail = detail,
             .track = track,
             .kind = phase == EventPhase::backward ? EventKind::backward_op : EventKind::op,
             .phase = phase});
}

// The parts of a step, one after the other, in ns.
struct SampleTimes {
  int64_t batch = 100'000, forward = 300'000, relu = 50'000, copy = 0, backward = 400'000, update = 100'000,
          rest = 50'000;
  int64_t lost = 0;  // switches of threads, no part of a step
  int64_t total() const { return batch + forward + relu + copy + backward + update + rest; }
};

// Steps that fetch a batch, run conv and relu, copy, run `grad`, update, and then do nothing.
inline void write_steps(const std::filesystem::path& file, int64_t count, const SampleTimes& times = {},
                        const char* grad = "conv_grad") {
  TraceWriter writer(file);
  Trace& trace = writer.trace();
  if (times.lost > 0) trace.fault(kSwitchesLost, {}, times.lost);
  const TrackId track = trace.track({.process = 1, .thread = 1});
  for (int64_t step = 1; step <= count; ++step) {
    int64_t at = step * times.total();
    trace.add({.begin = at,
               .duration = times.total(),
               .name = trace.string(cat("step ", step)),
               .track = track,
               .kind = EventKind::step});
    trace.add({.begin = at,
               .duration = times.batch,
               .name = trace.string("batch"),
               .track = track,
               .kind = EventKind::input});
    at += times.batch;
    add_op(trace, track, at, times.forward, "conv", "c1", EventPhase::forward);
    at += times.forward;
    add_op(trace, track, at, times.relu, "relu", "r1", EventPhase::forward);
    at += times.relu;
    if (times.copy > 0) add_op(trace, track, at, times.copy, "aten::copy_", "r1", EventPhase::forward);
    at += times.copy;
    add_op(trace, track, at, times.backward, grad, "c1", EventPhase::backward);
    at += times.backward;
    add_op(trace, track, at, times.update, "sgd", "", EventPhase::update);
  }
  writer.finish();
}

inline std::unique_ptr<Made> made() {
  auto made = std::make_unique<Made>();
  Record& record = made->record;
  record.hash = "5a3b1e";
  record.folder = made->folder.path();
  record.run.workload.precision = Precision::kFp32;
  record.run.ops = {{.node = "c1",
                     .op = "Conv2d",
                     .forward = {.flop_model = 100'000, .bytes = 10'000},
                     .backward = {.flop_model = 200'000, .bytes = 20'000}},
                    {.node = "r1", .op = "Relu", .forward = {.flop_simd = 1'000, .bytes = 8'000}, .backward = {}}};
  *record.run.peaks = {{"isa", {{"fp32", 1e9}}}, {"gemm", {{"fp32", 0.8e9}}}, {"bandwidth", 1e9}};
  Launch launch;
  launch.info.pass = Pass::kTrace;
  launch.info.cores = 2;
  launch.info.traced = {{{5, 8}}};
  int64_t now = 0;
  for (int64_t step = 1; step <= 12; ++step) {
    now += step >= 5 && step <= 8 ? kStep * 101 / 100 : kStep;
    launch.steps.push_back({.step = step,
                            .completed_ns = now,
                            .user_cpu_ns = kStep * 9 / 10,
                            .system_cpu_ns = kStep / 10,
                            .minor_faults = 40});
  }
  record.launches.push_back(launch);
  std::filesystem::create_directories(record.folder / "launches/trace-1");
  write_steps(record.folder / "launches/trace-1/trace.tbdt", 12);
  return made;
}

// The same network in a framework of this name, verified, with 60 clean steps of `clean_ns` before the traced launch.
inline std::unique_ptr<Made> rival(const char* framework, int64_t clean_ns) {
  auto made = sample::made();
  made->record.run.verified = true;
  MeasuredWorkload& w = made->record.run.workload;
  w.model = "net";
  w.model_hash = "m1";
  w.framework = framework;
  w.batch = 8;
  w.repro = "tbd run net --batch 8";
  Launch clean;
  clean.info.first_step_began_ns = 0;
  for (int64_t step = 1; step <= 60; ++step)
    clean.steps.push_back({.step = step, .completed_ns = step * clean_ns, .units = 8});
  made->record.launches.insert(made->record.launches.begin(), std::move(clean));
  return made;
}

// A weight of 100 bytes in 112, a feature map of 50 in step 1, a workspace of 30 beside it.
inline MemoryLog memory_log() {
  return {.blocks = {{100, 112, 0, kNeverFreed, -1, MemoryClass::weight, MemoryPhase::setup},
                     {50, 64, 1, 4, 0, MemoryClass::feature_map, MemoryPhase::forward},
                     {30, 32, 2, 3, 1, MemoryClass::workspace, MemoryPhase::forward}},
          .event_ns = {5, 20, 30, 40, 50},
          .marks = {{0, 4, 0, MemoryPhase::setup}, {1, 10, 1, MemoryPhase::forward}, {4, 45, 1, MemoryPhase::update}},
          .nodes = {"conv", "norm"}};
}

// Adds the launch memory-1.
inline void add_memory(Record& record) {
  Launch launch;
  launch.info.pass = Pass::kMemory;
  launch.info.allocator_peak_bytes = 208;
  launch.info.host["memory"] = {{"allocator_live_bytes", 112},  {"ledger_held_bytes", 112},
                                {"ledger_resident_bytes", 112}, {"runtime_bytes", 50 << 20},
                                {"file_bytes", 40 << 20},       {"heap_free_bytes", 1 << 20},
                                {"tool_bytes", 1000},           {"resident_bytes", (100 << 20) + 1112}};
  record.launches.push_back(launch);
  std::filesystem::create_directories(record.folder / "launches/memory-1");
  write_memory_log(record.folder / "launches/memory-1/memory.safetensors", memory_log());
}

}  // namespace tbd::sample
