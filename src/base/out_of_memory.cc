#include "base/out_of_memory.h"

#include <algorithm>
#include <span>
#include <string>

#include "base/text.h"

namespace tbd {
namespace {

// In lower case.
constexpr std::string_view kCertain[] = {"not enough memory", "out of memory", "t allocate memory", "bad_alloc"};
constexpr std::string_view kLikely[] = {"cannot allocate",
                                        "unable to allocate",
                                        "memoryerror",
                                        "oom when",
                                        "resource exhausted",
                                        "failed to map segment",
                                        "could not create a primitive",       // oneDNN, without room for its code
                                        "could not execute a primitive",      // or for its scratchpad
                                        "thread creation failed",             // a thread without a stack
                                        "pthread_create() failed",            // the same, of TensorFlow
                                        "resource temporarily unavailable"};  // the same

bool holds_one_of(std::span<const std::string_view> phrases, std::string_view message) {
  const std::string text = lower_case(message);
  return std::ranges::any_of(phrases, [&](std::string_view words) { return text.find(words) != std::string::npos; });
}

}  // namespace

bool says_out_of_memory(std::string_view message) { return holds_one_of(kCertain, message); }

bool may_say_out_of_memory(std::string_view message) {
  return says_out_of_memory(message) || holds_one_of(kLikely, message);
}

}  // namespace tbd
