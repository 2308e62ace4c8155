#include "backend_suite/facts.h"

namespace tbd {

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "mlx",
      .precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16, Precision::kFp16},
      .layouts = {ImageLayout::kNhwc},
      .single_precision = 2e-4,
      .updates = {{Precision::kFp64, 1e-11}},
  };
  return facts;
}

}  // namespace tbd
