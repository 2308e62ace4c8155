// What TensorFlow's build for GPUs has beside the one for CPUs. Its C API does not tell; these are functions of its
// C++.
#pragma once
#include <cstdint>

#include "base/workload_words.h"

namespace tbd::tensorflow {

// Devices that a session can be opened on; asks the driver, once, and nothing of TensorFlow. 0 in a build for CPUs.
int64_t usable_gpus();
// The index among them. Throws Error(unsupported) on a device that is neither the CPU nor one of them.
int64_t gpu_index(const Device& device);
// Whether products of fp32 may take TF32 on a GPU, of the whole process: TensorFlow's own default is that they may.
void allow_tf32(bool allowed);

}  // namespace tbd::tensorflow
