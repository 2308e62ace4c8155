// What a trace costs a TensorFlow step.
//   bench_tensorflow_trace [--pairs 20] [flags of workload_from]   what traced_pairs.h says
#include "traced_pairs.h"

int main(int argc, char** argv) { return tbd::bench::trace_benchmark(argc, argv); }
