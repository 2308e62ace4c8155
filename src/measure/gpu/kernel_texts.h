// The texts of kernels/*.cu, embedded by cmake/Embed.cmake.
#pragma once
#include <string_view>

namespace tbd {

std::string_view gpu_random_text();
std::string_view gpu_fma_text();
std::string_view gpu_fma_packed_text();
std::string_view gpu_mma_text();
std::string_view gpu_wgmma_text();
std::string_view gpu_stream_text();

}  // namespace tbd
