#include "graph/update_cost.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "toy_programs.h"

namespace tbd {
namespace {

Cost cost_of(std::string_view toy) {
  const Program program = toy_program(toy);
  return update_cost(bind(program, program.phases[0], {{"N", 4}}), program.phases[0].update);
}

TEST(UpdateCost, MatchesClosedFormForMomentum) {
  const int64_t n = 19 * (32 * 32 + 32) + 32 * 10 + 10;
  EXPECT_EQ(cost_of("mlp20"), (Cost{.simd = 4 * n, .bytes = 20 * n}));
}

TEST(UpdateCost, MatchesClosedFormForSgdOnTrainableParameters) {
  const int64_t n = 8 * 8 + 8 + 3 * 8 + 3;
  EXPECT_EQ(cost_of("frozen"), (Cost{.simd = 2 * n, .bytes = 12 * n}));
}

TEST(UpdateCost, MatchesClosedFormForAdamWithCoupledDecay) {
  const int64_t n = 6 * 6 + 6 + 6 * 6;
  EXPECT_EQ(cost_of("elementwise"), (Cost{.simd = 14 * n, .trans = n, .bytes = 28 * n}));
}

TEST(UpdateCost, MatchesClosedFormForLamb) {
  const int64_t n = 8 * 8 + 8 + 2 * 8;
  EXPECT_EQ(cost_of("tied"), (Cost{.simd = 19 * n, .trans = n, .bytes = 28 * n}));
}

TEST(Documentation, ExampleInProgramDocIsValid) {
  const std::string page = read_file(TBD_SOURCE_DIR "/docs/program.md");
  const size_t begin = page.find("```json") + 7;
  const Program program = read_program(page.substr(begin, page.find("```", begin) - begin), "docs/program.md");
  EXPECT_NO_THROW(validate(program, {{"N", 4}}));
}

TEST(Documentation, NamesEveryOp) {
  const std::string page = read_file(TBD_SOURCE_DIR "/docs/program.md");
  for (const std::string& each : all_kinds()) EXPECT_NE(page.find('`' + each + '`'), std::string::npos) << each;
}

}  // namespace
}  // namespace tbd
