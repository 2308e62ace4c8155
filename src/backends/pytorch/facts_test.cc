#include "backend_suite/facts.h"

namespace tbd {
std::unique_ptr<Session> rank_with(ExchangeFault fault);  // session_test.cc

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "pytorch",
      .precisions = {Precision::kFp64, Precision::kFp32, Precision::kBf16, Precision::kFp16},
      .layouts = {ImageLayout::kNchw, ImageLayout::kNhwc},
      .single_precision = 2e-4,
      .updates = {{Precision::kFp64, 1e-11}},
      .runs_large_steps = true,
      .rank_with = rank_with,
      .ranks_share_state = true,
  };
  return facts;
}

}  // namespace tbd
