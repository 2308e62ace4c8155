#include "backend_suite/facts.h"

namespace tbd {

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "pytorch",
      .precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16, Precision::kFp16},
      .layouts = {ImageLayout::kNchw, ImageLayout::kNhwc},
      .single_precision = 2e-4,
      .updates = {{Precision::kFp64, 1e-11}},
      .runs_large_steps = true,
  };
  return facts;
}

}  // namespace tbd
