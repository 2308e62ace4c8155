// Liveness on whole toy programs.
#include "backends/pytorch/test_support.h"
#include "graph/sequence_programs.h"
#include "toy_programs.h"

namespace tbd::pytorch {
namespace {

const NamedPrograms& programs() {
  static const NamedPrograms all = with_sequences(toy_programs());
  return all;
}

class TorchToy : public testing::TestWithParam<std::string> {};

TEST_P(TorchToy, FreeingAndOverwritingChangeNoNumber) {
  const auto found = std::ranges::find(programs(), GetParam(), &NamedPrograms::value_type::first);
  const Program toy = with_precision(with_dropout(found->second, DropoutMode::kMask), Precision::kFp32);
  const auto after_three_steps = [&](bool obey) {
    auto session = ready_obeying(obey, toy);
    for (int64_t step = 1; step <= 3; ++step) session->step(at_step(step));
    return session->read({"param/", "buffer/", "state/", "grad/", "output/", "term/", "loss"});
  };
  const TensorMap with = after_three_steps(true), without = after_three_steps(false);
  ASSERT_EQ(with.size(), without.size());
  for (const auto& [name, tensor] : with)
    EXPECT_TRUE(std::ranges::equal(tensor.bytes(), without.at(name).bytes())) << name;
}

std::vector<std::string> toy_names() {
  std::vector<std::string> out;
  for (const auto& [name, program] : programs()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, TorchToy, testing::ValuesIn(toy_names()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::pytorch
