// Result sets made by hand for tests of sweeps and of the rules over them: series of records with known throughputs,
// and the numbers that their traces and memory passes would give.
#pragma once
#include <algorithm>
#include <utility>

#include "analysis/observations/observations.h"
#include "analysis/sample_record.h"
#include "base/json.h"
#include "base/text.h"

namespace tbd::sample {

struct Series {
  std::string model = "resnet50", framework = "pytorch";
  Precision precision = Precision::kFp32;
  Device device = Device::kCpu;
  std::string machine = "Sample CPU", op = "conv2d", title, domain;
  InputMode input_mode = InputMode::kResident;
  std::vector<int64_t> batches;
  std::vector<double> throughput;         // by batch
  std::vector<double> u = {}, f = {};     // by batch, of traces; empty: not traced
  double spread = 0.005;                  // half the interval of u and f, over the value
  std::vector<int64_t> peaks = {};        // allocator's, MiB, by batch
  std::vector<double> feature_maps = {};  // share of an exact memory pass, by batch
  std::optional<int64_t> oom_at = {};     // a further batch that ended so
  std::optional<int64_t> budget = {};     // bytes
  std::optional<bool> verified = true;
  int64_t launches = 1, steps = 120;
  double noise = 0.002;
  double drift = 0;  // of step times from begin to end of a launch: up in the first, down in the second, and so on
  std::vector<double> rounds = {};  // of a launch each, a minute apart: their step times over what they are without
  std::string effort = "quick";
  std::optional<double> machine_use = {};  // busy share of the processors
  double peak = 1.2e12;                    // FLOP/s, of instructions
  int64_t workers = 1;
  std::string link = {};  // between them
};

inline void let_drift(Launch& launch, double drift) {
  const double steps = static_cast<double>(launch.steps.size());
  int64_t before = 0, now = 0;
  for (size_t i = 0; i < launch.steps.size(); ++i) {
    const int64_t step = launch.steps[i].completed_ns - std::exchange(before, launch.steps[i].completed_ns);
    now += i == 0
               ? step
               : static_cast<int64_t>(static_cast<double>(step) * (1 + drift * (static_cast<double>(i) / steps - 0.5)));
    launch.steps[i].completed_ns = now;
  }
}

// Other work takes the processor for this share of the launch's steps, the first ones, which take twice as long.
inline void hold_up(Launch& launch, double share) {
  int64_t before = launch.info.first_step_began_ns.value(), later = 0;
  for (size_t i = 0; i < launch.steps.size(); ++i) {
    StepRow& step = launch.steps[i];
    const int64_t length = step.completed_ns - std::exchange(before, step.completed_ns);
    if (static_cast<double>(i) < share * static_cast<double>(launch.steps.size())) {
      step.runqueue_wait_ns = length;
      later += length;
    }
    step.completed_ns += later;
  }
}

inline void put_in_round(Launch& launch, const std::vector<double>& rounds) {
  const auto round = static_cast<size_t>(launch.info.number - 1);
  launch.info.start = cat("2026-01-31T12:0", round, ":01Z");
  for (StepRow& row : launch.steps)
    row.completed_ns = static_cast<int64_t>(static_cast<double>(row.completed_ns) * rounds.at(round));
}

inline Record record_of(const Series& s, int64_t batch, double throughput) {
  Record record = sample_record({.steps = s.steps,
                                 .step_seconds = static_cast<double>(batch) / throughput,
                                 .noise = s.noise,
                                 .input_mode = s.input_mode,
                                 .precision = s.precision,
                                 .effort = s.effort,
                                 .launches = s.launches});
  MeasuredWorkload& w = record.run.workload;
  w.model = s.model;
  w.model_hash = "hash of " + s.model;
  w.framework = s.framework;
  w.device = s.device;
  w.batch = w.samples_per_step = batch;
  w.memory_budget_bytes = s.budget;
  w.workers = s.workers;
  w.link = Link(s.link);
  record.run.verified = s.verified;
  record.run.environment["cpu"]["model"] = s.machine;
  record.run.peaks["isa"] = {{s.precision, s.peak}};
  record.run.train_flops = 1'000'000;
  record.run.ops.front().op = s.op;
  record.run.card = {.title = s.title, .domain = s.domain, .dataset = {}, .layers = 0};
  double drift = s.drift;
  for (Launch& launch : record.launches) {
    if (drift != 0) let_drift(launch, std::exchange(drift, -drift));
    if (!s.rounds.empty()) put_in_round(launch, s.rounds);
    launch.info.batch_seen = batch;
    for (StepRow& row : launch.steps) row.units = static_cast<double>(batch);
    if (s.machine_use) launch.info.host["use"]["util_machine"] = *s.machine_use;
  }
  return record;
}

// What suggestions may name.
inline std::span<const KnownNetwork> networks() {
  static const std::vector<KnownNetwork> all = {{"seq2seq", {.lstm = true, .recurrent = true}, {4, 8, 16, 32, 64}},
                                                {"resnet50", {.convolutional = true}, {4, 8, 16, 32, 64}},
                                                {"inception_v3", {.convolutional = true}, {4, 8, 16, 32, 64}},
                                                {"transformer", {}, {5, 10, 20, 40, 81}},
                                                {"wgan_gp", {.convolutional = true}, {4, 8, 16, 32, 64}},
                                                {"deep_speech_2", {.lstm = true, .recurrent = true}, {1, 2, 4, 8, 16}},
                                                {"minigo", {.reinforcement = true}, {32, 64, 128, 256}},
                                                {"bert", {}, {1, 2, 4, 8}}};
  return all;
}

// Records and what is known of each beside its steps.
class Results {
 public:
  Results& add(const Series& s) {
    for (size_t i = 0; i < s.batches.size(); ++i) {
      Record record = record_of(s, s.batches[i], s.throughput[i]);
      for (Launch& launch : record.launches)
        if (!s.peaks.empty()) launch.info.allocator_peak_bytes = s.peaks[i] << 20;
      keep(std::move(record), s, i);
    }
    if (!s.oom_at) return *this;
    Record record = record_of(s, *s.oom_at, 1);
    record.launches.front().steps.clear();
    record.launches.resize(1);
    record.run.outcome = {.kind = OutcomeKind::oom, .reason = "the worker ran out of memory", .repro = ""};
    return keep(std::move(record), s, {});
  }
  Results& keep(Record record, const Series& series, std::optional<size_t> at) {
    record.hash = cat("r", records_.size());
    record.folder = cat("results/", record.hash);
    records_.push_back(std::move(record));
    known_.push_back({series, at});
    return *this;
  }
  std::vector<Record>& records() { return records_; }

  std::vector<Sweep> sweeps() const {
    std::vector<Sweep> all = tbd::sweeps(records_);
    for (Sweep& sweep : all)
      for (SweepPoint& point : sweep.points) fill(point);
    return all;
  }
  std::vector<Observation> all() const {
    const std::vector<Sweep> of = sweeps();
    return observe(of, networks());
  }
  Observation operator[](int number) const {
    const std::vector<Observation> found = all();
    return *std::ranges::find(found, number, &Observation::number);
  }
  // Where F of each point is known to no better than from 0.6 to 1.5 of its value.
  Observation with_wide_f(int number) const {
    std::vector<Sweep> wide = sweeps();
    for (Sweep& sweep : wide)
      for (SweepPoint& point : sweep.points) {
        point.flop_active.low = 0.6 * *point.flop_active.value;
        point.flop_active.high = 1.5 * *point.flop_active.value;
      }
    const std::vector<Observation> found = observe(wide, networks());
    return *std::ranges::find(found, number, &Observation::number);
  }

 private:
  void fill(SweepPoint& point) const {
    const auto& [series, at] = known_[static_cast<size_t>(point.record - records_.data())];
    if (!at) return;
    const auto measured = [&](const std::vector<double>& values, Measured& out) {
      if (values.empty()) return;
      const double v = values[*at];
      out = {.value = v, .low = v * (1 - series.spread), .high = v * (1 + series.spread), .reason = ""};
    };
    measured(series.u, point.compute_utilization);
    measured(series.f, point.flop_active);
    if (series.feature_maps.empty()) return;
    MemoryReport& memory = point.memory.emplace();
    MemoryBytes& bytes = memory.study.peak.requested;
    const auto maps = static_cast<int64_t>(1000 * series.feature_maps[*at]);
    bytes[static_cast<size_t>(MemoryClass::feature_map)] = maps;
    bytes[static_cast<size_t>(MemoryClass::weight)] = 1000 - maps;
  }

  std::vector<Record> records_;
  std::vector<std::pair<Series, std::optional<size_t>>> known_;  // by record; the second: index of the batch
};

}  // namespace tbd::sample
