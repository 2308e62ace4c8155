// For back-ends whose framework throws errors of its own.
#pragma once
#include <exception>
#include <new>

#include "base/error.h"

namespace tbd {

// Runs what calls a framework. What that throws is given to `translate`, which throws Error; Error and std::bad_alloc
// (out of memory) pass.
template <class Work, class Translate>
auto translated(Work&& work, const Translate& translate) try {
  return work();
} catch (const Error&) {
  throw;
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  translate(e);
  throw;
}

}  // namespace tbd
