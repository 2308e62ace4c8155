// Steps of one framework's session on ResNet-50, driven by bench/frameworks_peer.py (bench/serve.h); built once for
// each back-end, as bench_session_<framework>.
//   [--config canonical] [--batch 8] [--precision fp32] [--threads 2] [--layout nchw] [--first 1]
// --first 1: one step, then the end.
#include "serve.h"
#include "session_setup.h"

using namespace tbd;

int main(int argc, char** argv) {
  auto flags = bench::flags(argc, argv);
  const auto text = [&](const char* name, const char* otherwise) {
    return flags.contains(name) ? flags[name] : std::string(otherwise);
  };
  bench::Workload workload;
  workload.program = with_precision(find_model("resnet50").config(text("config", "canonical")).program(),
                                    precision_from(text("precision", "fp32")));
  workload.batch = std::stoll(text("batch", "8"));
  workload.threads = std::stoll(text("threads", "2"));
  workload.layout = text("layout", "nchw");

  const int64_t before = bench::anonymous_bytes();
  const std::unique_ptr<Session> session = bench::make_loaded(workload);
  int64_t number = 0;
  const auto step = [&] {
    ++number;
    session->step({.number = number, .schedule_step = number, .lr = {}, .only_phase = {}});
  };
  if (flags.contains("first")) {
    step();
    std::cout << "{\"first_step_done\": true}" << std::endl;
    std::_Exit(0);
  }
  bench::serve({{"tbd", step}}, [&] {
    return Json{{"rss_bytes", bench::status_bytes("VmHWM")},
                {"rss_over_library_bytes", bench::peak_anonymous_bytes() - before}};
  });
}
