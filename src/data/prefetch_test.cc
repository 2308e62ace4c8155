#include "data/prefetch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "base/error.h"

namespace tbd {
namespace {

// Samples whose image and label say their step and slot; counts what was begun, may be held back or fail.
struct Script {
  std::atomic<int64_t> made = 0;
  std::atomic<bool> held = false;
  std::atomic<int64_t> failing_step = 0;
};

class ScriptedMaker final : public SampleMaker {
 public:
  explicit ScriptedMaker(Script& script) : script_(script) {}
  void make(int64_t step, int64_t slot, const Row& row) override {
    const std::span<float> image = row.floats("image");
    while (script_.held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (step == script_.failing_step) fail(ErrorKind::io, "slot ", slot, " of step ", step, " fails");
    std::fill(image.begin(), image.end(), static_cast<float>(step));
    row.ints("label")[0] = static_cast<int32_t>(slot);
    ++script_.made;
  }

 private:
  Script& script_;
};

class ScriptedSamples final : public Samples {
 public:
  explicit ScriptedSamples(Script& script) : script_(script) {}
  std::unique_ptr<SampleMaker> maker() const override { return std::make_unique<ScriptedMaker>(script_); }
  BatchLayout layout(int64_t) const override { return image_layout({.image_size = 2}, 4); }
  std::optional<int64_t> size() const override { return 400; }
  std::optional<int64_t> steps_per_epoch() const override { return 100; }

 private:
  Script& script_;
};

std::unique_ptr<Source> source_of(Script& script, int64_t threads, int64_t prefetch) {
  return prefetching_source({.batch = 4, .image_size = 2, .threads = threads, .prefetch = prefetch},
                            std::make_unique<ScriptedSamples>(script));
}

void expect_step(const TensorMap& batch, int64_t step) {
  for (const float value : batch.at("image").as<float>()) ASSERT_EQ(value, static_cast<float>(step));
  for (int32_t slot = 0; slot < 4; ++slot) ASSERT_EQ(batch.at("label").as<int32_t>()[static_cast<size_t>(slot)], slot);
}

template <class Condition>
bool soon(const Condition& condition) {
  for (int i = 0; i < 2000 && !condition(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return condition();
}

TEST(Prefetch, GivesBatchesInOrderWhateverTheThreads) {
  for (const int64_t threads : {0, 1, 2, 4}) {
    Script script;
    const auto source = source_of(script, threads, 3);
    for (int64_t step = 1; step <= 50; ++step) {
      TensorMap batch = source->next(step);
      expect_step(batch, step);
      source->recycle(std::move(batch));
    }
  }
}

TEST(Prefetch, PreparesAsManyBatchesAheadAsAskedAndNoMore) {
  Script script;
  const auto source = source_of(script, 2, 3);
  EXPECT_TRUE(soon([&] { return script.made == 12; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(script.made, 12);
  source->next(1);
  EXPECT_TRUE(soon([&] { return script.made == 16; }));
}

TEST(Prefetch, CountsTheWaitAndTheFirstStepThatFoundItsBatchReady) {
  Script script;
  script.held = true;
  const auto source = source_of(script, 1, 2);
  std::jthread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    script.held = false;
  });
  source->next(1);
  SourceStatistics statistics = source->statistics();
  EXPECT_GE(statistics.waited_seconds, 0.02);
  EXPECT_EQ(statistics.waits, 1);
  EXPECT_EQ(statistics.first_ready_step, std::nullopt);
  EXPECT_TRUE(soon([&] { return script.made == 12; }));
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  source->next(2);
  statistics = source->statistics();
  EXPECT_EQ(statistics.waits, 1);
  EXPECT_EQ(statistics.first_ready_step, 2);
  EXPECT_GE(statistics.images, 12);
  EXPECT_GT(statistics.cpu_seconds, 0);
}

TEST(Prefetch, WithoutThreadsNoBatchIsEverReady) {
  Script script;
  const auto source = source_of(script, 0, 1);
  source->next(1);
  source->next(2);
  EXPECT_EQ(source->statistics().waits, 2);
  EXPECT_EQ(source->statistics().first_ready_step, std::nullopt);
}

TEST(Prefetch, AnErrorReachesTheStepThatNeedsTheBatchAndNoOther) {
  for (const int64_t threads : {0, 1, 3}) {
    Script script;
    script.failing_step = 2;
    const auto source = source_of(script, threads, 4);
    expect_step(source->next(1), 1);
    try {
      source->next(2);
      FAIL() << "step 2 gave a batch";
    } catch (const Error& e) {
      EXPECT_STREQ(e.what(), "slot 0 of step 2 fails");
    }
    expect_step(source->next(3), 3);
  }
}

TEST(Prefetch, RequestingAnotherStepRestartsFromIt) {
  Script script;
  const auto source = source_of(script, 2, 3);
  expect_step(source->next(1), 1);
  for (const int64_t step : {10, 11, 4, 5, 5, 1}) expect_step(source->next(step), step);
}

TEST(Prefetch, BatchAtIsTheSameBatchAndLeavesTheQueueAlone) {
  Script script;
  const auto source = source_of(script, 1, 2);
  expect_step(source->batch_at(7), 7);
  expect_step(source->next(1), 1);
}

TEST(Prefetch, StopsCleanlyWithWorkUnderWay) {
  for (int i = 0; i < 20; ++i) {
    Script script;
    const auto source = source_of(script, 3, 4);
    if (i % 2 == 0) source->next(1);
  }
}

TEST(Prefetch, RefusesAStepBeforeTheFirst) {
  Script script;
  EXPECT_THROW(source_of(script, 1, 1)->next(0), Error);
  EXPECT_THROW(source_of(script, 1, 1)->batch_at(-1), Error);
}

}  // namespace
}  // namespace tbd
