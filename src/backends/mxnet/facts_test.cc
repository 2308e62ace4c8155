#include "backend_suite/facts.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "backends/mxnet/exchange.h"

namespace tbd {
std::unique_ptr<Session> rank_with(ExchangeFault fault);  // session_test.cc

const BackendFacts& backend_facts() {
  static const BackendFacts facts = {
      .framework = "mxnet",
      .precisions = {Precision::kFp64, Precision::kFp32},
      .layouts = {ImageLayout::kNchw},
      .single_precision = 1e-4,
      .updates = {{Precision::kFp64, 1e-11}, {Precision::kFp32, 1e-6}},
      .relu_keeps_nan = false,
      .rank_with = rank_with,
      .rank_of_process = true,
  };
  return facts;
}

}  // namespace tbd

// A rank and what runs beside it are processes of this program, too.
int main(int argc, char** argv) {
  if (const auto code = tbd::mxnet::serve({argv, argv + argc})) std::_Exit(*code);
  if (argc == 3 && argv[1] == std::string(tbd::suite::kRankArgument)) std::_Exit(tbd::suite::train_rank_of(argv[2]));
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
