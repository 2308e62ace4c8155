#include "backend_suite/facts.h"

namespace tbd {

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "cntk",
      .precisions = {Precision::kFp64, Precision::kFp32},
      .layouts = {ImageLayout::kNchw},
      .single_precision = 1e-4,
      .updates = {{Precision::kFp64, 1e-11}, {Precision::kFp32, 1e-6}},
      .one_thread_count = true,
  };
  return facts;
}

}  // namespace tbd
