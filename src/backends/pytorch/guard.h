// torch's exceptions become the project's: out of memory is std::bad_alloc, all else Error with one sentence.
#pragma once
#include <c10/util/Exception.h>

#include <new>
#include <string>

#include "base/error.h"

namespace tbd::pytorch {

inline bool is_out_of_memory(const c10::Error& e) {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&e)) return true;
  return std::string(e.what_without_backtrace()).find("can't allocate memory") != std::string::npos;
}

inline std::string sentence_of(const c10::Error& e) {
  const std::string text = e.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

// `where`: "in the backward pass of phase 'train'". A device reports some faults late: then it is where they came out.
template <class Work>
auto located(Work&& work, const auto& where) try {
  return work();
} catch (const c10::Error& e) {
  fail(ErrorKind::internal, "torch: ", is_out_of_memory(e) ? "out of memory " : "", where(), ": ", sentence_of(e));
}

template <class Work>
auto guarded(Work&& work) try {
  return work();
} catch (const c10::Error& e) {
  if (is_out_of_memory(e)) throw std::bad_alloc();
  fail(ErrorKind::internal, "torch: ", sentence_of(e));
}

}  // namespace tbd::pytorch
