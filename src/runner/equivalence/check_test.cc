// Which configurations `check --all` asks about, and that it goes on where one cannot be answered.
#include "runner/equivalence/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "models/model.h"
#include "runner/equivalence/verified.h"

namespace tbd {
namespace {

using testing::HasSubstr;

TEST(TinyConfigs, IncludeEveryModel) {
  const std::vector<TinyConfig> all = tiny_configs();
  for (const Model& model : all_models())
    EXPECT_TRUE(std::ranges::any_of(all, [&](const TinyConfig& tiny) { return tiny.model == model.name; }))
        << model.name;
  const auto holds = [&](const char* model, const char* config) {
    return std::ranges::any_of(all,
                               [&](const TinyConfig& tiny) { return tiny.model == model && tiny.config == config; });
  };
  EXPECT_TRUE(holds("seq2seq", "tiny"));
  EXPECT_TRUE(holds("seq2seq", "gnmt_v2_tiny"));
  EXPECT_TRUE(holds("inception_v3", "aux_tiny"));
  EXPECT_FALSE(holds("seq2seq", "gnmt_v2"));
}

TEST(TinyConfigs, MatchEachConfigurationToATinyOne) {
  EXPECT_EQ(tiny_config_of("seq2seq", "gnmt_v2"), "gnmt_v2_tiny");
  EXPECT_EQ(tiny_config_of("seq2seq", "nodrop"), "tiny");
  EXPECT_EQ(tiny_config_of("inception_v3", "aux"), "aux_tiny");
  EXPECT_EQ(tiny_config_of("deep_speech_2", "gru800"), "gru_tiny");
  EXPECT_EQ(tiny_config_of("bert", "squad_base"), "squad_tiny");
  EXPECT_EQ(tiny_config_of("bert", "squad_frozen_base"), "squad_frozen_tiny");
  EXPECT_EQ(tiny_config_of("bert", "squad_frozen_tiny"), "squad_frozen_tiny");
  EXPECT_EQ(tiny_config_of("bert", ""), "tiny");
  EXPECT_EQ(tiny_config_of("resnet50", "152"), "tiny");
  EXPECT_EQ(tiny_config_of("mine.json", "large"), "large");
}

TEST(CheckAll, GoesOnWhereAReferenceFails) {
  RunnerSettings settings;
  for (const char* framework : {"mxnet", "pytorch"})
    settings.workers.push_back({.key = framework, .framework = framework, .worker = "/bin/false", .pinned = true});
  std::vector<CheckResult> results;
  check_all({}, settings, [&](const CheckResult& result) { results.push_back(result); });
  ASSERT_EQ(results.size(), tiny_configs().size());
  for (const CheckResult& result : results) {
    ASSERT_EQ(result.verdicts.size(), 2u) << result.model;
    EXPECT_EQ(result.verdicts[0].framework, "mxnet");
    EXPECT_THAT(result.verdicts[0].fault, HasSubstr("the reference: "));
    EXPECT_FALSE(result.verdicts[1].passed());
  }
}

TEST(CheckAll, RefusesAFrameworkThatIsNotThere) {
  RunnerSettings settings;
  settings.workers.push_back({.key = "pytorch", .framework = "pytorch", .worker = "/bin/false", .pinned = true});
  int asked = 0;
  const auto count = [&](const CheckResult&) { ++asked; };
  EXPECT_THROW(check_all({.frameworks = {"pytroch"}}, settings, count), Error);
  EXPECT_EQ(asked, 0);
}

TEST(GateRefusal, AsksForTheVerdictOnItsModeAndLayout) {
  const TemporaryFolder folder;
  RunnerSettings settings;
  settings.cache = folder.path();
  settings.workers.push_back({.key = "pytorch", .framework = "pytorch", .worker = "/bin/false", .pinned = true});
  Workload cell{.model = "resnet50"};
  cell.mode = Mode::kEagerOnednn;
  EXPECT_THAT(gate_refusal(cell, settings), HasSubstr("resnet50 could not be checked: "));
  const VerdictKey key{.model_hash = program_hash(load_program("resnet50", "tiny").program),
                       .layout = ImageLayout::kNchw,
                       .mode = Mode::kEagerOnednn};
  FrameworkVerdict passed{.framework = "pytorch", .version = "1"};
  passed.gates.push_back({.gate = Gate::node, .compared = 1});
  store_verdict(key, settings.workers[0], passed, settings);
  EXPECT_EQ(gate_refusal(cell, settings), "") << "kept: nothing is started";
  cell.layout = ImageLayout::kNhwc;
  EXPECT_NE(gate_refusal(cell, settings), "") << "in another layout it was never judged";
}

}  // namespace
}  // namespace tbd
