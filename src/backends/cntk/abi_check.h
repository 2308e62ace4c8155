// Whether the library that was found is the one whose interface abi.h declares.
#pragma once

namespace tbd::cntk {

inline constexpr const char* kVersion = TBD_CNTK_VERSION;  // that cmake/FindTbdCntk.cmake accepts

// Builds a network of two parameters, takes its gradients, and compares them with what they must be. Throws
// Error(unsupported) where they differ.
void require_known_library();

}  // namespace tbd::cntk
