// Whether sanitizers watch this build: it is several times as slow, and what is freed is kept for a while. For tests of
// growth, of memory and of many runs of the same code, which the plain build makes.
#pragma once

namespace tbd {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace tbd
