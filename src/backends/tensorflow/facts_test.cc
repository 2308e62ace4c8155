#include "backend_suite/facts.h"

namespace tbd {

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "tensorflow",
      .precisions = {Precision::fp64, Precision::fp32, Precision::bf16},
      .layouts = {ImageLayout::kNhwc},
      .single_precision = 2e-4,
      .updates = {{Precision::fp64, 1e-11}},
  };
  return facts;
}

}  // namespace tbd
