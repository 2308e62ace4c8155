// Liveness, and mode eager-onednn, on whole toy programs.
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

// In double, where its products are torch's own, what it does otherwise gives the same numbers.
TEST_P(TorchToy, ModeOfOneDnnGivesTheSameNumbers) {
  const auto found = std::ranges::find(programs(), GetParam(), &NamedPrograms::value_type::first);
  const Program toy = with_precision(with_dropout(found->second, DropoutMode::kMask), Precision::kFp64);
  const auto after_a_step = [&](const Mode& mode) {
    auto session = ready(toy, {.mode = mode});
    session->step(at_step(1));
    return session->read({"grad/", "output/", "term/", "loss", "buffer/"});
  };
  const TensorMap ours = after_a_step(Mode::kEagerOnednn), torchs = after_a_step(Mode::kEager);
  ASSERT_EQ(ours.size(), torchs.size());
  for (const auto& [name, tensor] : torchs) {
    const std::vector<double> expected = as_doubles(tensor), actual = as_doubles(ours.at(name));
    for (size_t i = 0; i < expected.size(); ++i)
      ASSERT_NEAR(actual[i], expected[i], 1e-12 * (1 + std::abs(expected[i]))) << name;
  }
}

std::vector<std::string> toy_names() {
  std::vector<std::string> out;
  for (const auto& [name, program] : programs()) out.push_back(name);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, TorchToy, testing::ValuesIn(toy_names()), [](const auto& info) { return info.param; });

}  // namespace
}  // namespace tbd::pytorch
