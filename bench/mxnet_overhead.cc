// What the MXNet back-end itself costs in a ResNet-50 step: the time of its thread outside of MXNet's C functions.
#include <mxnet/c_api.h>

#include "own_time.h"

TBD_TIMED(int, MXExecutorForward, (ExecutorHandle executor, int train), (executor, train))
TBD_TIMED(int, MXExecutorBackward, (ExecutorHandle executor, uint32_t n, NDArrayHandle* heads), (executor, n, heads))
TBD_TIMED(int, MXImperativeInvoke,
          (AtomicSymbolCreator op, int n, NDArrayHandle* in, int* m, NDArrayHandle** out, int k, const char** keys,
           const char** values),
          (op, n, in, m, out, k, keys, values))
TBD_TIMED(int, MXNDArraySyncCopyFromCPU, (NDArrayHandle array, const void* data, size_t n), (array, data, n))
TBD_TIMED(int, MXNDArraySyncCopyToCPU, (NDArrayHandle array, void* data, size_t n), (array, data, n))
TBD_TIMED(int, MXNDArrayWaitAll, (), ())

int main(int argc, char** argv) { return tbd::bench::own_time(argc, argv, tbd::ImageLayout::kNchw); }
