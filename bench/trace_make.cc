// Makes a Kineto trace for comparisons with other tools.
//   bench_trace_make FILE MEGABYTES [NODES PER STEP]
#include <cstdio>
#include <cstdlib>

#include "trace_kineto.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("bench_trace_make FILE MEGABYTES [NODES PER STEP]\n", stderr);
    return 2;
  }
  const int nodes = argc > 3 ? std::atoi(argv[3]) : 300;
  const int64_t events = tbd::bench::KinetoMaker(argv[1], 1).steps_until(std::atoll(argv[2]) << 20, nodes);
  std::printf("%lld events\n", static_cast<long long>(events));
}
