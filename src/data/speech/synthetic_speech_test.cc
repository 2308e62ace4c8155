#include "data/speech/synthetic_speech.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "data/source.h"
#include "data/speech/speech_law.h"
#include "data/text/testing_text.h"
#include "data/transcripts.h"

namespace tbd {
namespace {
using testing_text::ints;
using testing_text::row;

TEST(SpeechLaw, HasThePublishedQuantiles) {
  EXPECT_DOUBLE_EQ(duration_at(0.5), 13.8);
  EXPECT_DOUBLE_EQ(duration_at(0.175), (6.4 + 11.4) / 2);
  EXPECT_DOUBLE_EQ(duration_share(15.3), 0.75);
  EXPECT_EQ(duration_share(1), 0);
  EXPECT_EQ(duration_share(30), 1);
  for (double share = 0; share <= 1; share += 0.01) EXPECT_NEAR(duration_share(duration_at(share)), share, 1e-12);
}

// The mean that the quantiles imply is the one published beside them, to what straight lines between them cost.
TEST(SpeechLaw, HasThePublishedMean) {
  double sum = 0;
  for (int i = 0; i < 10000; ++i) sum += duration_at((i + 0.5) / 10000);
  EXPECT_NEAR(sum / 10000, 12.8, 0.2);
}

TEST(SpeechLaw, BucketsComeAsOftenAsTheirShare) {
  const std::vector<int64_t> buckets = SpeechSpec().buckets;
  Draws draws(Philox(1, "test"));
  int64_t long_ones = 0;
  for (int i = 0; i < 4000; ++i) {
    const size_t bucket = draw_speech_bucket(buckets, draws);
    long_ones += buckets[bucket] > 1300;
    const int64_t frames = draw_speech_frames(buckets, bucket, draws);
    ASSERT_LE(frames, buckets[bucket]);
    ASSERT_GT(frames, bucket > 0 ? buckets[bucket - 1] : 1);
  }
  const double all = duration_share(16), share = (all - duration_share(13)) / all;
  EXPECT_NEAR(static_cast<double>(long_ones) / 4000, share, 0.03);
}

TEST(SpeechLaw, ABucketBelowTheShortestIsFilled) {
  Draws draws(Philox(1, "test"));
  EXPECT_EQ(draw_speech_frames({64}, 0, draws), 64);
  EXPECT_EQ(draw_speech_bucket({64}, draws), 0);
}

TEST(SpeechLaw, LabelsCanBeSpelledAndHaveRoom) {
  Draws draws(Philox(2, "test"));
  double letters = 0;
  for (int i = 0; i < 200; ++i) {
    const int64_t frames = 3 + 5 * i;
    const std::vector<int32_t> labels = draw_speech_labels(frames, 100, draws);
    ASSERT_GE(labels.size(), 1);
    ASSERT_LE(labels.size(), 100);
    ASSERT_LE(least_ctc_steps(labels), std::max<int64_t>(1, speech_steps(frames)));
    EXPECT_EQ(normal_transcript(spelled(labels)), spelled(labels));  // no spaces at the ends nor two
  }
  for (int i = 0; i < 200; ++i) letters += static_cast<double>(draw_speech_labels(1000, 1000, draws).size());
  EXPECT_NEAR(letters / 200, 145 * 1.011, 5);  // exp(0.15^2 / 2)
}

SourceSpec synthetic_speech_spec(int64_t threads = 0) {
  SourceSpec spec{.batch = 3, .seed = 9, .threads = threads};
  spec.speech.wanted = true;
  return spec;
}

TEST(SyntheticSpeech, BatchesLookLikeThoseOfFiles) {
  const auto source = open_source(synthetic_speech_spec());
  EXPECT_FALSE(source->size());
  for (int64_t step = 1; step <= 3; ++step) {
    const TensorMap batch = source->next(step);
    const int64_t bucket = batch.at("spect").shape()[3];
    for (const int32_t frames : ints(batch, "frames")) {
      EXPECT_LE(frames, bucket);
      EXPECT_GT(frames, bucket == 200 ? 1 : bucket - 100);
    }
    for (int64_t n = 0; n < 3; ++n) {
      const std::vector<int32_t> labels = row(batch, "labels", n);
      const auto length = static_cast<size_t>(ints(batch, "label_len")[static_cast<size_t>(n)]);
      EXPECT_GT(length, 3);
      EXPECT_EQ(std::ranges::count(labels, 0), static_cast<int64_t>(labels.size() - length));
    }
  }
}

TEST(SyntheticSpeech, DependsOnSeedAndStepAlone) {
  const auto one = open_source(synthetic_speech_spec()), two = open_source(synthetic_speech_spec(2));
  const TensorMap first = one->next(1);
  const TensorMap again = one->next(2);
  EXPECT_TRUE(std::ranges::equal(first.at("spect").bytes(), two->next(1).at("spect").bytes()));
  EXPECT_TRUE(std::ranges::equal(again.at("spect").bytes(), two->next(2).at("spect").bytes()));
  EXPECT_FALSE(std::ranges::equal(first.at("labels").bytes(), again.at("labels").bytes()));
}

TEST(SyntheticSpeech, ATinyBucketIsFilled) {
  SourceSpec spec = synthetic_speech_spec();
  spec.speech.buckets = {64};
  spec.speech.bucket = 64;
  spec.speech.labels = 8;
  const TensorMap batch = open_source(spec)->next(1);
  EXPECT_EQ(batch.at("spect").shape(), (Shape{3, 1, 161, 64}));
  EXPECT_THAT(ints(batch, "frames"), testing::ElementsAre(64, 64, 64));
}

}  // namespace
}  // namespace tbd
