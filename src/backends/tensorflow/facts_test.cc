#include "backend_suite/facts.h"

namespace tbd {
std::unique_ptr<Session> rank_with(ExchangeFault fault);  // session_test.cc

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "tensorflow",
      .precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16},
      .layouts = {ImageLayout::kNhwc},
      .single_precision = 2e-4,
      .updates = {{Precision::kFp64, 1e-11}},
      .rank_with = rank_with,
  };
  return facts;
}

}  // namespace tbd
