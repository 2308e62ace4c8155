// Steps of one framework's session on a network, driven by bench/frameworks_peer.py (bench/serve.h); built once for
// each back-end, as bench_session_<framework>. Flags of workload_from; --first 1: one step, then the end.
#include "serve.h"
#include "session_setup.h"

using namespace tbd;

int main(int argc, char** argv) {
  const auto flags = bench::flags(argc, argv);
  const bench::Workload workload = bench::workload_from(flags, ImageLayout::kNchw);
  const int64_t before = bench::anonymous_bytes();
  const std::unique_ptr<Session> session = bench::make_loaded(workload);
  const std::function<void()> step = bench::stepper(*session, flags);
  bench::serve({{"tbd", step}}, [&] {
    return Json{{"rss_bytes", bench::status_bytes("VmHWM")},
                {"rss_over_library_bytes", bench::peak_anonymous_bytes() - before}};
  });
}
