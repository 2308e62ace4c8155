// A made-up record for tests and benchmarks: known numbers, no clock, no machine.
#pragma once
#include "base/json.h"
#include "base/philox.h"
#include "base/text.h"
#include "record/record.h"

namespace tbd {

struct SampleOptions {
  int64_t steps = 120;
  double step_seconds = 0.25;
  double noise = 0.004;    // standard deviation over mean
  int64_t slow_steps = 3;  // at first, of double length
  double input_wait = 0;   // share of each step
  double steal = 0;        // share of both cores
  InputMode input_mode = InputMode::kResident;
  Precision precision = Precision::kFp32;
  std::string effort = "quick";
  int64_t launches = 1;
};

inline std::vector<StepRow> sample_steps(const SampleOptions& o, uint64_t seed) {
  const Philox noise(seed, "sample");
  std::vector<StepRow> rows;
  int64_t now = 1'500'000'000;
  for (int64_t i = 1; i <= o.steps; ++i) {
    const double factor = (i <= o.slow_steps ? 2.0 : 1.0) * (1 + o.noise * noise.normal(static_cast<uint64_t>(i)));
    const auto ns = static_cast<int64_t>(o.step_seconds * factor * 1e9);
    now += ns;
    rows.push_back({.step = i,
                    .completed_ns = now,
                    .units = 8,
                    .input_wait_ns = static_cast<int64_t>(o.input_wait * static_cast<double>(ns)),
                    .user_cpu_ns = ns * 18 / 10,
                    .system_cpu_ns = ns / 10,
                    .minor_faults = 12,
                    .major_faults = 0,
                    .runqueue_wait_ns = ns / 1'000,
                    .steal_ticks = static_cast<int64_t>(o.steal * 2 * static_cast<double>(ns) * 1e-7),
                    .rss_bytes = (900 + (i < 5 ? 20 * i : 100)) * int64_t{1} << 20,
                    .loss = 7.0 - 0.01 * static_cast<double>(i)});
  }
  return rows;
}

inline Record sample_record(const SampleOptions& o = {}) {
  Record record;
  record.folder = cat("results/sample/resnet50-", o.precision, "-", o.input_mode);
  record.hash = "5a3b1e";
  RunInfo& run = record.run;
  run.state = RunState::complete;
  run.created = "2026-01-31T12:00:00Z";
  run.tool = "tbd 0.1.0";
  MeasuredWorkload& w = run.workload;
  static_cast<Workload&>(w) = {.model = "resnet50",
                               .config = "default",
                               .batch = 8,
                               .precision = o.precision,
                               .threads = 2,
                               .layout = ImageLayout::kNchw,
                               .mode = Mode::kEager,
                               .input_mode = o.input_mode};
  w.model_hash = "m1";
  w.lowered_hash = "l1";
  w.framework_version = "2.11.0";
  w.samples_per_step = 8;
  w.unit = "images";
  w.effort = o.effort;
  w.optimizer = "sgd foreach";
  w.repro = "tbd run resnet50 --batch 8";
  run.parameters = 25'557'032;
  run.train_flops = 24'299'077'632;
  run.ops = {{.node = "conv1",
              .op = "conv2d",
              .forward = {.flop_model = 1'888'223'232, .flop_valid = 1'860'000'000, .bytes = 31'000'000},
              .backward = {.flop_model = 1'888'223'232, .flop_valid = 1'860'000'000, .bytes = 31'000'000}},
             {.node = "bn1",
              .op = "batch_norm",
              .forward = {.flop_simd = 44'957'696, .bytes = 51'380'224},
              .backward = {.flop_simd = 57'802'944, .bytes = 77'070'336}}};
  *run.environment = {{"cpu", {{"model", "Sample CPU"}, {"cores", 2}, {"isa", {"avx2", "avx512f"}}}},
                      {"software", {{"kernel", "6.1"}, {"OMP_WAIT_POLICY", "passive"}}}};
  *run.peaks = {{"isa", {{"fp32", 1.2e12}}},
                {"gemm", {{"fp32", 1.0e12}}},
                {"bandwidth", 2.1e10},
                {"threads", 2},
                {"drift", 0.01}};
  for (int64_t n = 1; n <= o.launches; ++n) {
    Launch launch{.steps = sample_steps(o, static_cast<uint64_t>(n))};
    launch.info = {.number = n,
                   .start = "2026-01-31T12:00:01Z",
                   .first_step_began_ns = 1'500'000'000,
                   .load_seconds = 1.4,
                   .first_step_seconds = 2.0,
                   .peak_rss_bytes = int64_t{1'010} << 20,
                   .allocator_peak_bytes = int64_t{800} << 20,
                   .threads = 2,
                   .cores = 2.0,
                   .batch_seen = 8,
                   .parameters_seen = 25'557'032,
                   .environment_hash = "e1"};
    record.launches.push_back(std::move(launch));
  }
  return record;
}

}  // namespace tbd
