// Steps of the PyTorch session on a network, driven by bench/model_peer.py (bench/serve.h).
// Flags of workload_from; --first 1: one step, then the end.
#include <c10/core/Allocator.h>
#include <c10/util/ThreadLocalDebugInfo.h>
#include <algorithm>

#include "serve.h"
#include "session_setup.h"

using namespace tbd;

namespace {

// Live and peak bytes of a scope by the reports that torch's own profiler reads: the instrument of the Python peer.
class Reported final : public c10::MemoryReportingInfoBase {
 public:
  void reportMemoryUsage(void*, int64_t bytes, size_t, size_t, c10::Device) override {
    live_ += bytes;
    peak = std::max(peak, live_);
  }
  bool memoryProfilingEnabled() const override { return true; }
  int64_t peak = 0;

 private:
  int64_t live_ = 0;
};

int64_t reported_peak(const std::function<void()>& step) {
  const auto reported = std::make_shared<Reported>();
  const c10::DebugInfoGuard guard(c10::DebugInfoKind::PROFILER_STATE, reported);
  step();
  return reported->peak;
}

}  // namespace

int main(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const bench::Workload workload = bench::workload_from(flags, ImageLayout::kNhwc);
  const int64_t library = bench::anonymous_bytes();
  const std::unique_ptr<Session> session = bench::make_loaded(workload);
  const std::function<void()> step = bench::stepper(*session, flags);
  const auto memory = [&] {
    session->reset_peak_memory();
    step();
    const SessionMemory m = session->memory();
    const int64_t whole = bench::status_bytes("VmHWM");
    const int64_t rss = bench::peak_anonymous_bytes() - library;
    return Json{{"peak_over_resident_bytes", reported_peak(step)},
                {"peak_bytes", or_null(m.peak_bytes)},
                {"live_bytes", or_null(m.live_bytes)},
                {"rss_bytes", whole},
                {"rss_over_library_bytes", rss}};
  };
  bench::serve({{"tbd", step}}, memory);
}
