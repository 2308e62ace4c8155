// Whether TensorFlow's kernels on the CPU are those of oneDNN: by default where the processor has AVX-512 or the like,
// and as TF_ENABLE_ONEDNN_OPTS says.
#pragma once
#include <optional>

namespace tbd::tensorflow {

std::optional<bool> uses_onednn();  // nullopt: this build of TensorFlow does not tell

}  // namespace tbd::tensorflow
