// A launch fills each multiprocessor once with as many blocks as the kernel's text names; the iterations in it make its
// length. FLOPs and bytes of an iteration are exact, so a rate is iterations * FLOPs / seconds of the device's events.
#include "measure/gpu/gpu_peaks.h"

#include <algorithm>
#include <memory>

#include "measure/clock.h"
#include "measure/gpu/cuda_device.h"
#include "measure/gpu/gpu_kernels.h"
#include "measure/gpu/nvrtc.h"
#include "measure/gpu/visible_device.h"
#include "measure/peaks/sampling.h"

namespace tbd {
namespace {

constexpr double kWarmUpSeconds = 0.5;               // in which clocks leave their idle state
constexpr int64_t kWordBytes = 16;                   // of a load or store
constexpr int64_t kLeastArray = int64_t{256} << 20;  // bytes
constexpr int64_t kArrays = 3;

int64_t number_of(const Device& device) {
  const std::optional<int64_t> number = device.gpu_number();
  require(number.has_value(), "peaks of a GPU need a device such as ", Device::gpu(0), ", got '", device, "'");
  return *number;
}

std::vector<std::string> gpu_kernel_names() {
  std::vector<std::string> names;
  for (const GpuKernel& kernel : gpu_kernels()) names.emplace_back(kernel.name);
  return names;
}

// Four times the L2 cache at least, at most a sixth of the free memory, as for the caches of a processor.
int64_t array_bytes(const CudaDevice& device) {
  return std::min(std::max(kLeastArray, 4 * device.facts().l2_bytes), device.free_bytes() / 6);
}

// The device as the driver's management library sees it; it need not answer.
class Management {
 public:
  explicit Management(const GpuTarget& target)
      : nvml_(target.nvml), device_(nvml_device(nvml_, target.device, target.environment).value()) {}
  std::optional<int64_t> sm_mhz() const { return device_ ? device_->sm_clock_mhz().value() : std::nullopt; }
  std::optional<int64_t> memory_bytes() const {
    const std::optional<GpuMemory> memory = device_ ? device_->memory().value() : std::nullopt;
    return memory ? std::optional(memory->total_bytes) : std::nullopt;
  }
  std::string driver() const { return nvml_.driver_version().value().value_or(""); }

 private:
  Nvml nvml_;
  std::optional<NvmlDevice> device_;
};

class GpuMeter {
 public:
  GpuMeter(const GpuTarget& target, const PeakOptions& options)
      : options_(options), clocks_(target), nvrtc_(target.nvrtc), device_(number_of(target.device), target.driver) {}

  Peaks measure() {
    const int64_t begin = now_ns();
    const CudaFacts& facts = device_.facts();
    Peaks peaks{.sample_seconds = options_.sample_seconds,
                .samples = options_.samples,
                .shortened = options_.shortened(),
                .cache_bytes = facts.l2_bytes,
                .gpu = PeakGpu{.name = facts.name,
                               .uuid = facts.uuid,
                               .driver = clocks_.driver(),
                               .cuda = facts.cuda,
                               .compiler = cat("NVRTC ", nvrtc_.version()),
                               .capability = capability_text(facts.capability),
                               .multiprocessors = facts.multiprocessors,
                               .memory_bytes = clocks_.memory_bytes()}};
    for (const GpuKernel& kernel : gpu_kernels())
      if (wanted(options_, kernel.name)) peaks.kernels.push_back(result_of(kernel));
    require_some(peaks);
    peaks.gpu->sm_clock_before_mhz = clock_before_;
    peaks.gpu->sm_clock_after_mhz = clocks_.sm_mhz();
    peaks.array_bytes = vectors_ * kWordBytes;
    peaks.measuring_seconds = static_cast<double>(now_ns() - begin) * 1e-9;
    return peaks;
  }

 private:
  static void require_some(const Peaks& peaks) {
    for (const PeakResult& result : peaks.kernels)
      if (result.all) return;
    fail(ErrorKind::unsupported, peaks.kernels.front().kernel, ": ", peaks.kernels.front().reason);
  }

  PeakResult result_of(const GpuKernel& kernel) {
    PeakResult result{std::string(kernel.name), std::string(kernel.type), std::string(kernel.unit)};
    const ComputeCapability capability = device_.facts().capability;
    if (!kernel.runs_on(capability))
      result.reason =
          cat("compute capability ", capability_text(capability), " has no such instruction or a faster one");
    else if (!lost_.empty())
      result.reason = lost_;
    else
      measure_into(result, kernel);
    return result;
  }

  // A kernel that fails leaves a context with which nothing works any more.
  void measure_into(PeakResult& result, const GpuKernel& kernel) {
    bool launched = false;
    try {
      const CudaKernel launch = prepare(kernel, std::string(kernel.name));
      if (kernel.arrays > 0) make_arrays(kernel);
      launched = true;
      const int64_t threads = launch.blocks * launch.threads;
      const int64_t work = kernel.arrays > 0 ? kernel.arrays * vectors_ * kWordBytes : flop_count(kernel, threads);
      const Batch batch = batch_of(kernel, launch);
      if (!warm_) warm_up(batch);
      result.all = measure_rate(options_, threads, static_cast<double>(work), batch);
    } catch (const Error& e) {
      result.reason = e.what();
      if (launched) lost_ = cat("the device failed in ", kernel.name, ": ", e.what());
    }
  }

  CudaKernel prepare(const GpuKernel& kernel, const std::string& function) {
    const GpuKernelText& text = *kernel.text;
    auto known = modules_.find(text.name);
    if (known == modules_.end()) {
      const CompiledProgram program =
          nvrtc_.compile(std::string(text.name), program_text(text), program_options(text, device_.facts().capability));
      known = modules_.emplace(text.name, device_.load(program.cubin)).first;
    }
    return {.function = device_.function(known->second, function),
            .blocks = text.blocks * device_.facts().multiprocessors,
            .threads = text.threads};
  }

  // What the kernels of registers write their results to: 8 bytes a thread.
  cuda::Address results(const CudaKernel& launch) {
    const int64_t bytes = 8 * launch.blocks * launch.threads;
    if (results_bytes_ < bytes) results_ = device_.allocate(bytes);
    results_bytes_ = std::max(results_bytes_, bytes);
    return results_;
  }

  // Arrays whose words each thread of a launch has equally many of.
  void make_arrays(const GpuKernel& kernel) {
    if (vectors_ > 0) return;
    const CudaKernel launch = prepare(kernel, std::string(kFillFunction));
    const int64_t granule = launch.blocks * launch.threads * kernel.text->steps;
    const int64_t bytes = options_.array_bytes.value_or(array_bytes(device_));
    const int64_t vectors = std::max<int64_t>(1, bytes / kWordBytes / granule) * granule;
    arrays_ = device_.allocate(kArrays * vectors * kWordBytes);
    vectors_ = vectors;
    run(launch, arrays_, 1);
  }

  double run(const CudaKernel& launch, cuda::Address memory, int64_t iterations) {
    long long repeats = iterations;
    long long vectors = vectors_;
    return device_.run(launch, {&memory, &repeats, &vectors});
  }

  Batch batch_of(const GpuKernel& kernel, const CudaKernel& launch) {
    const cuda::Address memory = kernel.arrays > 0 ? arrays_ : results(launch);
    return [this, launch, memory](int64_t repeats) { return BatchTime{.ns = 1e9 * run(launch, memory, repeats)}; };
  }

  void warm_up(const Batch& batch) {
    const int64_t repeats = repeats_for(options_, batch);
    for (double seconds = 0; seconds < kWarmUpSeconds; seconds += 1e-9 * batch(repeats).ns)
      if (options_.cancelled()) throw SamplingCancelled{};
    clock_before_ = clocks_.sm_mhz();
    warm_ = true;
  }

  const PeakOptions& options_;
  Management clocks_;
  Nvrtc nvrtc_;
  CudaDevice device_;
  std::map<std::string_view, cuda::Module> modules_;
  cuda::Address arrays_ = 0, results_ = 0;
  int64_t vectors_ = 0, results_bytes_ = 0;
  bool warm_ = false;
  std::optional<int64_t> clock_before_;
  std::string lost_;  // why no kernel runs any more
};

}  // namespace

std::optional<Peaks> measure_gpu_peaks(const GpuTarget& target, const PeakOptions& options) try {
  require_measurable(options, gpu_kernel_names());
  return GpuMeter(target, options).measure();
} catch (const SamplingCancelled&) {
  return std::nullopt;
}

}  // namespace tbd
