#include "backends/cntk/session.h"

#include <gtest/gtest.h>

#include "backend_suite/planned_memory.h"
#include "backend_suite/support.h"
#include "toy_programs.h"

namespace tbd::cntk {
namespace {

TEST(MemoryPassOnCntk, TellsStateByRoleAndTheRestAsOneBlockThatStays) {
  expect_state_by_role_and_the_rest_as_one_block(/*keeps=*/true);
}

TEST(LoadOnCntk, RefusesWhatItCannotRun) {
  const auto load = [](const std::function<void(LoadOptions&)>& change) {
    LoadOptions options = load_options();
    change(options);
    return sentence_from([&] { CntkSession().load(toy_program("mlp20"), options); });
  };
  EXPECT_NE(load([](LoadOptions& o) { o.layout = ImageLayout::kNhwc; }).find("runs in nchw"), std::string::npos);
  EXPECT_NE(load([](LoadOptions& o) { o.trace = true; }).find("pass trace"), std::string::npos);
  EXPECT_NE(load([](LoadOptions& o) { o.interop = 2; }).find("cntk"), std::string::npos);
}

}  // namespace
}  // namespace tbd::cntk
