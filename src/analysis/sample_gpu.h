// A record of a workload on a GPU, made by hand for tests: traced kernels, samples of the driver, a memory log.
#pragma once
#include "analysis/sample_profile.h"

namespace tbd::sample {

// A kernel or copy of a step, and the call that launches it, in ns from the step's begin.
struct Launched {
  const char* name;
  EventKind kind = EventKind::kernel;
  const char* node = "";
  EventPhase phase = EventPhase::unknown;
  int64_t call = 0, begin = 0, end = 0;  // the call takes 10,000
};

// Of a step of kStep: a copy on a stream of its own, then two nodes with several kernels each, and an update. Compute
// is busy for 650,000 ns, the copy for 40,000 beside nothing; backward's first kernel finds nothing queued.
inline constexpr Launched kGpuStep[] = {
    {"Memcpy HtoD (Pinned -> Device)", EventKind::memcpy, "", EventPhase::input, 20'000, 50'000, 90'000},
    {"nchwToNhwcKernel", EventKind::kernel, "c1", EventPhase::forward, 110'000, 150'000, 200'000},
    {"implicit_convolve_sgemm", EventKind::kernel, "c1", EventPhase::forward, 130'000, 200'000, 400'000},
    {"relu_kernel", EventKind::kernel, "r1", EventPhase::forward, 160'000, 400'000, 450'000},
    {"dgrad_engine", EventKind::kernel, "c1", EventPhase::backward, 470'000, 500'000, 700'000},
    {"wgrad_engine", EventKind::kernel, "c1", EventPhase::backward, 490'000, 700'000, 800'000},
    {"sgd_kernel", EventKind::kernel, "", EventPhase::update, 520'000, 850'000, 900'000}};

inline void write_gpu_steps(const std::filesystem::path& file, int64_t count) {
  TraceWriter writer(file);
  Trace& trace = writer.trace();
  const TrackId host = trace.track({.process = 1, .thread = 1});
  const auto stream = [&](int64_t number) {
    return trace.track({.place = Track::Place::device, .device = 0, .process = 1, .thread = number});
  };
  const TrackId compute = stream(7), copies = stream(20);
  const auto add_host = [&](EventKind kind, const char* name, int64_t begin, int64_t length, uint32_t link = 0) {
    trace.add(
        {.begin = begin, .duration = length, .name = trace.string(name), .link = link, .track = host, .kind = kind});
  };
  uint32_t link = 0;
  for (int64_t step = 1; step <= count; ++step) {
    const int64_t zero = step * kStep;
    add_host(EventKind::step, cat("step ", step).c_str(), zero, kStep);
    add_host(EventKind::input, "batch", zero, 20'000);
    add_op(trace, host, zero + 100'000, 50'000, "aten::cudnn_convolution", "c1", EventPhase::forward);
    add_op(trace, host, zero + 155'000, 20'000, "aten::relu", "r1", EventPhase::forward);
    add_op(trace, host, zero + 455'000, 50'000, "ConvolutionBackward0", "c1", EventPhase::backward);
    for (const Launched& each : kGpuStep) {
      const bool is_kernel = each.kind == EventKind::kernel;
      add_host(EventKind::api, is_kernel ? "cudaLaunchKernel" : "cudaMemcpyAsync", zero + each.call, 10'000, ++link);
      const uint32_t detail =
          is_kernel
              ? trace.detail(KernelDetail{.grid = {4, 1, 1}, .block = {128, 1, 1}, .node = trace.string(each.node)})
              : trace.detail(CopyDetail{.bytes = 4096, .direction = CopyDirection::to_device});
      trace.add({.begin = zero + each.begin,
                 .duration = each.end - each.begin,
                 .name = trace.string(each.name),
                 .link = link,
                 .detail = detail,
                 .track = is_kernel ? compute : copies,
                 .kind = each.kind,
                 .phase = each.phase});
    }
  }
  writer.finish();
}

// What the driver said over the steps.
inline Json gpu_use_json() {
  return {{"name", "NVIDIA T4"},
          {"use",
           {{"util_gpu", {{"mean", 0.8}, {"peak", 0.9}}},
            {"memory_bytes", {{"mean", 3e9}, {"peak", 3.2e9}}},
            {"sm_clock_mhz", {{"mean", 1500}, {"peak", 1590}}},
            {"power_w", {{"mean", 60}, {"peak", 70}}},
            {"energy_joules", 60.0}}}};
}

// `made` of a GPU: 60 clean steps, the traced ones of kGpuStep, roofs of the device.
inline std::unique_ptr<Made> made_on_gpu(const Precision& precision = Precision::kFp32) {
  auto made = rival("pytorch", kStep);
  Record& record = made->record;
  record.run.workload.device = Device("cuda:0");
  record.run.workload.precision = precision;
  *record.run.peaks = {{"isa", {{"fp32", 1e9}, {"tf32", 4e9}, {"bf16", 8e9}, {"fp16", 8e9}}},
                       {"gemm", {{"fp32", 0.9e9}, {"bf16", 6e9}}},
                       {"bandwidth", 1e9}};
  for (Launch& launch : record.launches) launch.info.gpu.emplace(gpu_use_json());
  write_gpu_steps(record.folder / "launches/trace-1/trace.tbdt", 12);
  return made;
}

// add_memory of a launch on the GPU: what the worker and the driver say beside the log. A context of 300 MiB; 40 MiB
// that no part explains.
inline void add_gpu_memory(Record& record) {
  add_memory(record);
  LaunchInfo& info = record.launches.back().info;
  info.host["memory"]["device_reserved_bytes"] = 256 << 20;
  info.host["memory"]["device_context_bytes"] = 300 << 20;
  info.host["memory"]["device_bytes"] = 696 << 20;
  info.host["memory"]["device_library_bytes"] = 100 << 20;
  info.gpu.emplace(gpu_use_json());
}

}  // namespace tbd::sample
