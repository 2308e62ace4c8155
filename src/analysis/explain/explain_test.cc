#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "analysis/explain/page.h"
#include "analysis/flags.h"
#include "analysis/metrics.h"
#include "analysis/profile/counter_use.h"
#include "analysis/sample_profile.h"
#include "analysis/sample_record.h"
#include "analysis/trace/classes.h"
#include "base/error.h"
#include "base/files.h"
#include "record/memory_log.h"
#include "stats/disturbance.h"
#include "stats/effort.h"

namespace tbd {
namespace {

using testing::HasSubstr;

const Fact* fact(const std::vector<Fact>& facts, std::string_view what) {
  const auto found = std::ranges::find_if(facts, [&](const Fact& f) { return f.what == what; });
  return found == facts.end() ? nullptr : &*found;
}
double number_of_fact(const std::vector<Fact>& facts, std::string_view what) {
  const Fact* found = fact(facts, what);
  if (!found) return std::nan("");
  if (const auto* whole = std::get_if<int64_t>(&found->value)) return static_cast<double>(*whole);
  const auto* value = std::get_if<double>(&found->value);
  return value ? *value : std::nan("");
}

TEST(Topics, CoverEveryNameThatARowMayHold) {
  for (const Metric& m : metrics()) EXPECT_EQ(topic(m.id).group->id, "metrics") << m.id;
  for (const Flag& flag : known_flags()) EXPECT_EQ(topic(flag.name).group->id, "flags") << flag.name;
  for (int kind = 0; kind <= static_cast<int>(OutcomeKind::interrupted); ++kind)
    EXPECT_EQ(topic(name(static_cast<OutcomeKind>(kind))).group->id, "outcomes");
  for (const Grade grade : {Grade::provisional, Grade::development, Grade::published})
    EXPECT_EQ(topic(name(grade)).group->id, "grades");
  for (size_t c = 0; c < kMemoryClasses; ++c)
    EXPECT_EQ(topic(cat("memory.", name(static_cast<MemoryClass>(c)))).group->id, "memory");
  for (size_t c = 0; c < kIdleCauses; ++c)
    EXPECT_EQ(topic(cat("idle.", key(static_cast<IdleCause>(c)))).group->id, "trace");
  for (size_t c = 0; c < kCounters; ++c)
    EXPECT_EQ(topic(cat("counters.", name(static_cast<Counter>(c)))).group->id, "trace");
}

TEST(Topics, CoverHowAFrameworkRunsANetwork) {
  for (const char* level : {"native", "composed", "runs"}) EXPECT_EQ(topic(level).group->id, "levels") << level;
  EXPECT_EQ(topic("unsupported").group->id, "outcomes");
  Record record = sample_record();
  record.run.environment["lowering"] = {{"native", 7},
                                        {"composed", {{{"node", "act"}, {"kind", "silu"}, {"of", "sigmoid, mul"}}}}};
  const std::vector<Fact> facts = walk(topic("composed"), record);
  EXPECT_EQ(number_of_fact(facts, "native nodes"), 7);
  EXPECT_EQ(number_of_fact(facts, "composed nodes"), 1);
  EXPECT_EQ(std::get<std::string>(fact(facts, "silu 'act'")->value), "sigmoid, mul");
  EXPECT_TRUE(fact(walk(topic("composed"), sample_record()), "not known"));
}

TEST(Topics, ContainOnlyExistingMetricsAndFlags) {
  EXPECT_EQ(topic_groups().front().topics.size(), metrics().size());
  EXPECT_EQ(flag_topics().size(), known_flags().size());
}

TEST(Topics, HaveUniqueIdsDescriptionsAndTheUnitsOfTheirMetrics) {
  std::set<std::string_view> ids;
  for (const TopicGroup& group : topic_groups())
    for (const Topic& t : group.topics) {
      EXPECT_TRUE(ids.insert(t.id).second) << t.id;
      EXPECT_FALSE(t.what.empty()) << t.id;
    }
  for (const Metric& m : metrics())
    if (m.unit == Unit::seconds || m.unit == Unit::bytes || m.unit == Unit::flop_rate) {
      EXPECT_EQ(topic(m.id).topic->unit, symbol(m.unit)) << m.id;
    }
}

TEST(Topics, AndDocsStateTheDisturbanceLimits) {
  const auto percent = [](double share) { return cat(100 * share, " %"); };
  const struct {
    const char *flag, *metric;
    double most;
  } limits[] = {{"disturbed-steal", "steal_share", kStealLimit.flagged},
                {"disturbed-runqueue", "runqueue_share", kRunqueueLimit.flagged},
                {"disturbed-other-work", "foreign_share", kOtherWorkLimit.flagged}};
  for (const auto& limit : limits) {
    EXPECT_THAT(topic(limit.flag).topic->formula, HasSubstr(cat(limit.metric, " > ", limit.most)));
    EXPECT_THAT(topic(limit.flag).topic->what, HasSubstr(cat("more than ", percent(limit.most))));
    EXPECT_THAT(topic(limit.metric).topic->limits, HasSubstr(cat("Above ", percent(limit.most), " flagged")));
  }
  EXPECT_THAT(topic("throughput_undisturbed").topic->counts,
              HasSubstr(cat("run-queue wait at most ", percent(kRunqueueLimit.flagged), ", steal ",
                            percent(kStealLimit.flagged), ", other work ", percent(kOtherWorkLimit.flagged))));
  EXPECT_THAT(read_file(std::string(TBD_SOURCE_DIR) + "/docs/statistics.md"),
              HasSubstr(cat("run-queue wait is at most ", percent(kRunqueueLimit.flagged))));
}

TEST(Topics, AreFoundByAnUnambiguousShortName) {
  EXPECT_EQ(topic("knee").topic->id, "sweep.knee");
  EXPECT_EQ(topic("feature map").topic->id, "memory.feature_map");
  EXPECT_THROW(topic("input"), Error);  // memory.input and idle.input
}

TEST(Topics, OfferTheNearestNames) {
  try {
    topic("troughput");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'throughput'"));
  }
}

TEST(Walk, ShowsEnoughDigitsToRecomputeThroughput) {
  const Record record = sample_record();
  const std::vector<Fact> facts = walk(topic("throughput"), record);
  const double ns = number_of_fact(facts, "clean-1: stamp of the last") -
                    number_of_fact(facts, "clean-1: stamp before the first of them");
  EXPECT_NEAR(number_of_fact(facts, "clean-1: sum of units") / (ns * 1e-9), number_of_fact(facts, "throughput"), 1e-9);
  EXPECT_NE(fact(facts, "grade"), nullptr);
  EXPECT_NE(fact(facts, "flags"), nullptr);
}

TEST(Walk, GivesSharesOfAPeakFromTheirFactors) {
  const std::vector<Fact> facts = walk(topic("mfu"), sample_record());
  const double rate = number_of_fact(facts, "FLOPs of one sample") * number_of_fact(facts, "samples of one step") *
                      number_of_fact(facts, "steps after warming up, all launches") /
                      number_of_fact(facts, "sum of step times");
  EXPECT_NEAR(rate / number_of_fact(facts, "peak of fp32, isa"), number_of_fact(facts, "mfu"), 1e-9);
}

TEST(Walk, SaysWhatWithheldANumber) {
  Record record = sample_record();
  record.launches[0].steps[50].loss = std::nan("");
  const std::vector<Fact> facts = walk(topic("throughput"), record);
  ASSERT_NE(fact(facts, "rates and step times withheld"), nullptr);
  EXPECT_EQ(std::get<std::string>(fact(facts, "outcome")->value), "nonfinite");
}

TEST(Walk, AnswersForEveryNameOfARecordWithAndWithoutPasses) {
  const auto made = sample::made();
  sample::add_memory(made->record);
  for (const Record& record : {sample_record(), made->record, Record{}})
    for (const TopicGroup& group : topic_groups())
      for (const Topic& t : group.topics) EXPECT_FALSE(walk({&t, &group}, record).empty()) << t.id;
}

TEST(Walk, ShowsTraceUtilizationAndBytesOfAMemoryClass) {
  const auto made = sample::made();
  sample::add_memory(made->record);
  const std::vector<Fact> busy = walk(topic("compute_utilization"), made->record);
  EXPECT_DOUBLE_EQ(number_of_fact(busy, "busy with compute P") / number_of_fact(busy, "window W"),
                   number_of_fact(busy, "U = P / W"));
  const std::vector<Fact> memory = walk(topic("memory.weight"), made->record);
  EXPECT_EQ(number_of_fact(memory, "weight at the peak"), 100);
}

TEST(Page, MetricsDocEndsWithTheOutputOfExplainAll) {
  const std::string page = read_file(std::string(TBD_SOURCE_DIR) + "/docs/metrics.md");
  const std::string topics = topics_markdown();
  ASSERT_GT(page.size(), topics.size());
  EXPECT_EQ(page.substr(page.size() - topics.size()), topics) << "tbd explain --all --format md";
}

}  // namespace
}  // namespace tbd
