// Whether sanitizers watch this build, which makes it several times as slow. For tests of growth and of many runs of
// the same code: the plain build has them.
#pragma once

namespace tbd {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace tbd
