// Whether TensorFlow's kernels on the CPU are those of oneDNN. It decides by the processor (one without AVX-512 had
// them off), unless TF_ENABLE_ONEDNN_OPTS says otherwise.
#pragma once
#include <optional>

namespace tbd::tensorflow {

std::optional<bool> uses_onednn();  // nullopt: this build of TensorFlow does not tell

}  // namespace tbd::tensorflow
