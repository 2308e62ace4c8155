#include "graph/least_batch.h"

#include "base/error.h"

namespace tbd {

int64_t least_batch(const Program& program, Bindings bindings) {
  bindings["N"] = 1;
  try {
    validate(program, bindings);
  } catch (const Error&) {
    return 2;  // what is wrong with any batch is said when this one is used
  }
  return 1;
}

}  // namespace tbd
