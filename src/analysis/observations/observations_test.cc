// What holds for all rules: scopes, tables, JSON.
#include "analysis/observations/observations.h"

#include <gmock/gmock.h>

#include "analysis/observations/sample_sweeps.h"
#include "analysis/observations/scope.h"
#include "analysis/observations/suggest.h"
#include "base/error.h"
#include "base/json.h"

namespace tbd {
namespace {

using sample::Results;
using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<int64_t> kBatchesOfSeries = {4, 8, 16, 32};
const std::vector<double> kRisingSeries = {10, 14, 18, 20};

TEST(Observations, AlwaysReportThirteenVerdicts) {
  const std::vector<Observation> all = observe({}, sample::networks());
  ASSERT_EQ(all.size(), 13u);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].number, static_cast<int>(i) + 1);
    EXPECT_EQ(all[i].claim, claim_of(all[i].number));
    const bool absent = i == 8 || i == 9 || i == 12;
    EXPECT_EQ(all[i].verdict, absent ? RuleVerdict::not_applicable : RuleVerdict::inconclusive) << i + 1;
    if (absent) continue;
    EXPECT_FALSE(all[i].missing.empty()) << i + 1;
    EXPECT_TRUE(all[i].command.starts_with("tbd run ")) << i + 1 << ": " << all[i].command;
  }
}

TEST(OpenRecords, AreThoseOfUndecidedCasesThatNarrowerIntervalsMayDecide) {
  const auto a_case = [](std::optional<bool> passes, std::vector<std::string> records) {
    return Case{.what = "a series", .passes = passes, .said = {}, .numbers = {}, .records = std::move(records)};
  };
  std::vector<Observation> all(3);
  all[0] = {.number = 1, .verdict = RuleVerdict::inconclusive, .cases = {a_case(true, {"a"}), a_case({}, {"b", "c"})}};
  all[1] = {.number = 2, .verdict = RuleVerdict::fails, .cases = {a_case({}, {"d"})}};
  all[2] = {.number = 3, .verdict = RuleVerdict::inconclusive, .cases = {a_case({}, {"c"}), a_case({}, {"e"})}};
  all[2].cases[0].narrowed_by = {Pass::kTrace};
  all[2].cases[1].narrowed_by = {};
  const OpenRecords open = open_records(all);
  EXPECT_THAT(open.records,
              ElementsAre(OpenRecord{"b", {Pass::kClean}}, OpenRecord{"c", {Pass::kClean, Pass::kTrace}}));
  EXPECT_THAT(open.observations, ElementsAre(1, 3));
}

TEST(Suggestions, WriteFoldersAsAShellReadsThem) {
  for (const auto& [folder, word] :
       {std::pair("my photos", "'my photos'"), std::pair("it's", "'it'\\''s'"), std::pair("run", "run")}) {
    Record record = sample::record_of({.input_mode = InputMode::kPipeline}, 8, 10);
    record.run.workload.data = folder;
    const std::vector<Sweep> all = sweeps(std::span(&record, 1), {.traces = false, .memory = false});
    EXPECT_EQ(rules::command(rules::again(all.front(), {8, 16})),
              cat("tbd run resnet50 --input pipeline --data ", word, " --batch 8,16"));
  }
}

TEST(Suggestions, RepeatNonDefaultOptionsOfAWorkload) {
  Record record = sample::record_of({.precision = Precision::kBf16, .budget = int64_t{1536} << 20}, 8, 10);
  record.run.workload.dropout = DropoutMode::kOff;
  const std::vector<Sweep> all = sweeps(std::span(&record, 1), {.traces = false, .memory = false});
  EXPECT_EQ(rules::command(rules::again(all.front(), {8}, {Pass::kClean, Pass::kTrace})),
            "tbd run resnet50 --precision bf16 --dropout off --batch 8 --memory 1536MiB --passes clean,trace");
}

TEST(Observations, RejectClaimNumbersOutsideOneToThirteen) {
  EXPECT_THROW(claim_of(0), Error);
  EXPECT_THROW(claim_of(14), Error);
}

TEST(Observations, MachinesAndInputsAreJudgedApart) {
  Results results;
  for (const char* model : {"a", "b"}) {
    results.add({.model = model, .batches = kBatchesOfSeries, .throughput = kRisingSeries});
    results.add({.model = model, .machine = "Other CPU", .batches = kBatchesOfSeries, .throughput = {20, 18, 16, 10}});
    results.add({.model = model, .input_mode = InputMode::kPipeline, .batches = {4}, .throughput = {1}});
  }
  std::map<std::string, RuleVerdict> first;
  for (const Observation& o : results.all())
    if (o.number == 1) first[o.label] = o.verdict;
  EXPECT_THAT(first, ElementsAre(testing::Pair(HasSubstr("Other CPU"), RuleVerdict::fails),
                                 testing::Pair("Sample CPU, 2 cores, CPU", RuleVerdict::holds),
                                 testing::Pair(HasSubstr("pipeline input"), RuleVerdict::inconclusive)));
  int devices = 0;
  for (const Observation& o : results.all()) devices += o.number == 10;
  EXPECT_EQ(devices, 2) << "one for each input mode";
}

TEST(Observations, CountButDoNotUseSmokeRuns) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model, .batches = kBatchesOfSeries, .throughput = kRisingSeries, .effort = "smoke"});
  const Observation o = results[1];
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
  EXPECT_THAT(o.notes, ElementsAre(HasSubstr("8 workloads of effort smoke left out")));
}

TEST(Observations, DuplicatesCountOnce) {
  Results results;
  for (int i = 0; i < 2; ++i) results.add({.batches = kBatchesOfSeries, .throughput = kRisingSeries});
  const Observation o = results[1];
  EXPECT_EQ(o.cases.size(), 1u);
  EXPECT_EQ(o.verdict, RuleVerdict::inconclusive);
}

TEST(Observations, NeedNoEquivalenceVerdictForASingleFramework) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model,
                 .framework = "mxnet",
                 .batches = kBatchesOfSeries,
                 .throughput = kRisingSeries,
                 .verified = {}});
  EXPECT_EQ(results[1].verdict, RuleVerdict::holds);
  results.add({.model = "c", .batches = {4}, .throughput = {10}});
  EXPECT_EQ(results[1].verdict, RuleVerdict::inconclusive) << "beside another framework it does";
}

TEST(Observations, JsonHasVerdictAndEvidence) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model, .batches = kBatchesOfSeries, .throughput = kRisingSeries});
  const Json json = to_json(results[1]);
  EXPECT_EQ(json["observation"], 1);
  EXPECT_EQ(json["verdict"], "holds");
  ASSERT_EQ(json["evidence"].size(), 2u);
  EXPECT_EQ(json["evidence"][0]["found"], "passes");
  EXPECT_EQ(json["evidence"][0]["records"].size(), 4u);
  EXPECT_NEAR(json["evidence"][0]["numbers"]["whole"]["value"].get<double>(), 2, 0.02);
  EXPECT_TRUE(json["missing"].is_null());
}

TEST(Observations, TablesHaveOneRowEach) {
  Results results;
  for (const char* model : {"a", "b"})
    results.add({.model = model, .batches = kBatchesOfSeries, .throughput = kRisingSeries});
  const std::vector<Observation> all = results.all();
  EXPECT_EQ(observation_table(all).rows.size(), 13u);
  EXPECT_EQ(case_table(all).rows.size(), 4u) << "of 1 and 12";
  const Table missing = missing_table(all);
  EXPECT_EQ(missing.rows.size(), 8u) << "2 to 8, 11 and 12, without 9, 10 and 13";
  for (const Table& table : {observation_table(all), missing, case_table(all)})
    for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

}  // namespace
}  // namespace tbd
