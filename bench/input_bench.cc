// The input pipeline alone: images per second and core of decode, random resized crop, flip and normalise.
//   bench_input_bench DIR [--seconds S] [--batch N] [--threads T] [--size PIXELS]
// One JSON line. images_per_core_s is images over CPU time of the whole process, so it does not gain by idle cores;
// bench/peers/input_pipeline.py interleaves it with torchvision on PIL.
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include "base/error.h"
#include "data/source.h"

namespace {

double process_cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void measure(const tbd::SourceSpec& spec, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto source = tbd::open_source(spec);
  int64_t step = 1;
  for (; step <= 2; ++step) source->recycle(source->next(step));  // buffers and file cache
  const auto before = source->statistics();
  const double cpu_before = process_cpu_seconds();
  const auto began = Clock::now();
  double wall = 0;
  for (; wall < seconds; ++step) {
    source->recycle(source->next(step));
    wall = std::chrono::duration<double>(Clock::now() - began).count();
  }
  const double cpu = process_cpu_seconds() - cpu_before;
  const auto after = source->statistics();
  const auto images = static_cast<double>(after.images - before.images);
  std::cout << "{\"images\": " << images << ", \"wall_s\": " << wall << ", \"cpu_s\": " << cpu
            << ", \"images_per_s\": " << images / wall << ", \"images_per_core_s\": " << images / cpu
            << ", \"bad_files\": " << after.bad_files.size() << "}" << std::endl;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    std::cerr << "usage: bench_input_bench DIR [--seconds S] [--batch N] [--threads T] [--size PIXELS]\n";
    return 2;
  }
  tbd::SourceSpec spec{.kind = tbd::SourceKind::image_folder, .path = arguments[1], .batch = 32};
  double seconds = 5;
  for (int i = 2; i + 1 < count; i += 2) {
    const std::string option = arguments[i];
    if (option == "--seconds") seconds = std::atof(arguments[i + 1]);
    if (option == "--batch") spec.batch = std::atoll(arguments[i + 1]);
    if (option == "--threads") spec.threads = std::atoll(arguments[i + 1]);
    if (option == "--size") spec.image_size = std::atoll(arguments[i + 1]);
  }
  measure(spec, seconds);
  return 0;
} catch (const tbd::Error& e) {
  std::cerr << "error: " << e.what() << "\n";
  return 1;
}
