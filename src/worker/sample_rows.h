// Parts of tensors that have the samples first.
#pragma once
#include <span>

#include "base/tensor.h"

namespace tbd {

// Rows begin ... begin + count - 1; the tensor's type and further extents. Throws Error(invalid) for rows that it
// lacks.
HostTensor sample_rows(const HostTensor& tensor, int64_t begin, int64_t count);
// The rows of these numbers, in their order; one may come more than once. Throws as above.
HostTensor gathered_rows(const HostTensor& tensor, std::span<const int64_t> rows);

}  // namespace tbd
