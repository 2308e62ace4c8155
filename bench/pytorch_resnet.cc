// ResNet-50 steps of the PyTorch session, driven by bench/resnet50_peer.py (bench/serve.h).
//   bench_pytorch_resnet [--config canonical] [--batch 8] [--precision fp32] [--threads 2] [--layout nhwc] [--first 1]
// --first 1: one step, then the end.
#include "serve.h"
#include "torch_session.h"

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
  workload.layout = text("layout", "nhwc");

  const int64_t library = bench::anonymous_bytes();
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
  const auto memory = [&] {
    session->reset_peak_memory();
    step();
    const SessionMemory m = session->memory();
    return Json{{"peak_bytes", or_null(m.peak_bytes)},
                {"live_bytes", or_null(m.live_bytes)},
                {"rss_over_library_bytes", bench::peak_anonymous_bytes() - library}};
  };
  bench::serve({{"tbd", step}}, memory);
}
