#include "data/text/synthetic_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/text/testing_text.h"
#include "data/text/word_law.h"

namespace tbd {
namespace {
using testing::HasSubstr;
using namespace testing_text;

SourceSpec synthetic_text_spec(TextTask task, int64_t batch = 4) {
  SourceSpec spec{.batch = batch, .seed = 9};
  spec.text.task = task;
  spec.text.vocabulary = spec.text.target_vocabulary = 200;
  return spec;
}

void expect_tokens_below(const TensorMap& batch, const char* name, int32_t below) {
  for (const int32_t id : ints(batch, name)) ASSERT_TRUE(id >= 0 && id < below);
}

TEST(WordLaw, FollowsTheLawOfZipfAndMandelbrot) {
  const WordLaw law(4, 1004);
  Draws draws(Philox(1, "test"));
  std::map<int32_t, int> seen;
  constexpr int kDraws = 60000;
  for (int i = 0; i < kDraws; ++i) ++seen[law.draw(draws)];
  EXPECT_GE(seen.begin()->first, 4);
  EXPECT_LT(seen.rbegin()->first, 1004);
  double sum = 0;
  for (int r = 0; r < 1000; ++r) sum += 1 / (r + 2.7);
  for (const int rank : {0, 1, 10})
    EXPECT_NEAR(seen[4 + rank] / double{kDraws}, 1 / (rank + 2.7) / sum, 0.1 / (rank + 2.7) / sum);
  EXPECT_GT(seen.size(), 900);
}

TEST(WordLaw, PairsLieInTheirBucketAndHaveTheStatedMean) {
  const std::vector<Bucket> buckets = even_buckets(10, 200);
  Draws draws(Philox(1, "test"));
  double source = 0, target = 0;
  for (int i = 0; i < 4000; ++i) {
    const PairLengths pair = draw_pair_lengths(buckets, -1, draws);
    source += static_cast<double>(pair.source) / 4000;
    target += static_cast<double>(pair.target) / 4000;
    const int64_t longest = std::max(pair.source, pair.target + 1);
    ASSERT_EQ(static_cast<int64_t>(pair.bucket), (longest - 1) / 10);
  }
  EXPECT_NEAR(source, 20.4, 0.7);
  EXPECT_NEAR(target, 20.8, 0.8);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(draw_pair_lengths(buckets, 4, draws).bucket, 4);
  const PairLengths filled = draw_pair_lengths({{1, 2}, {5000, 5000}}, 1, draws);
  EXPECT_EQ(filled.bucket, 1);
}

TEST(SyntheticText, TranslationIsConsistent) {
  SourceSpec spec = synthetic_text_spec(TextTask::translation);
  spec.text.target_vocabulary = 50;
  const auto source = open_source(spec);
  std::set<int64_t> extents;
  for (int64_t step = 1; step <= 20; ++step) {
    const TensorMap batch = source->next(step);
    expect_tokens_below(batch, "src", 200);
    expect_tokens_below(batch, "tgt_in", 50);
    extents.insert(batch.at("src").shape()[1]);
    double targets = 0;
    for (int64_t i = 0; i < 4; ++i) {
      const auto in = row(batch, "tgt_in", i), out = row(batch, "tgt_out", i), src = row(batch, "src", i);
      EXPECT_EQ(in[0], 2);
      const auto words = std::ranges::find(out, 2) - out.begin();
      EXPECT_TRUE(std::equal(out.begin(), out.begin() + words, in.begin() + 1));
      EXPECT_EQ(std::ranges::count(out, 1), static_cast<int64_t>(out.size()) - words - 1);
      EXPECT_EQ(row(batch, "src_len", i)[0], std::ranges::find(src, 1) - src.begin());
      targets += static_cast<double>(words) + 1;
    }
    EXPECT_EQ(count(batch, "ce"), targets);
  }
  EXPECT_GT(extents.size(), 2);
  EXPECT_EQ(source->size(), std::nullopt);
}

TEST(SyntheticText, TranslationKeepsToTheBucketAskedFor) {
  SourceSpec spec = synthetic_text_spec(TextTask::translation);
  spec.text.bucket = Bucket{40, 40};
  const TensorMap batch = open_source(spec)->batch_at(3);
  EXPECT_EQ(batch.at("src").shape(), (Shape{4, 40}));
  for (int64_t i = 0; i < 4; ++i) EXPECT_TRUE(row(batch, "src_len", i)[0] > 30 || row(batch, "tgt_out", i)[30] != 1);
}

TEST(SyntheticText, PretrainingIsConsistent) {
  const auto source = open_source(synthetic_text_spec(TextTask::pretraining, 64));
  const TensorMap batch = source->batch_at(1);
  expect_tokens_below(batch, "input_ids", 200);
  expect_tokens_below(batch, "masked_labels", 200);
  int64_t full = 0, random = 0;
  for (int64_t i = 0; i < 64; ++i) {
    const auto mask = row(batch, "attention_mask", i);
    full += std::ranges::count(mask, 1) == 128;
    random += row(batch, "next_label", i)[0];
  }
  EXPECT_GT(full, 48);
  EXPECT_LT(full, 64);
  EXPECT_GT(random, 16);
  EXPECT_LT(random, 48);
  EXPECT_GT(count(batch, "mlm"), 64 * 15);
}

TEST(SyntheticText, AnswersLieInsideTheContext) {
  for (const int64_t length : {16, 384}) {
    SourceSpec spec = synthetic_text_spec(TextTask::squad, 32);
    spec.text.length = length;
    const TensorMap batch = open_source(spec)->batch_at(2);
    expect_tokens_below(batch, "input_ids", 200);
    for (int64_t i = 0; i < 32; ++i) {
      const auto types = row(batch, "token_type_ids", i), ids = row(batch, "input_ids", i);
      const auto start = static_cast<size_t>(row(batch, "start", i)[0]),
                 end = static_cast<size_t>(row(batch, "end", i)[0]);
      ASSERT_LE(start, end);
      ASSERT_LT(end, types.size());
      for (size_t k = start; k <= end; ++k) EXPECT_TRUE(types[k] == 1 && ids[k] >= 5);
    }
  }
}

TEST(SyntheticText, LanguageModelLabelsAreTheNextTokens) {
  SourceSpec spec = synthetic_text_spec(TextTask::language_model, 8);
  spec.text.length = 512;
  const TensorMap batch = open_source(spec)->batch_at(1);
  expect_tokens_below(batch, "ids", 200);
  int64_t ends = 0;
  for (int64_t i = 0; i < 8; ++i) {
    const auto ids = row(batch, "ids", i), labels = row(batch, "labels", i);
    EXPECT_TRUE(std::equal(ids.begin() + 1, ids.end(), labels.begin()));
    ends += std::ranges::count(ids, 199);
  }
  EXPECT_GT(ends, 0);
  EXPECT_LT(ends, 30);
}

TEST(SyntheticText, IsDecidedBySeedAndStepAlone) {
  for (const TextTask task :
       {TextTask::translation, TextTask::pretraining, TextTask::squad, TextTask::language_model}) {
    SourceSpec spec = synthetic_text_spec(task);
    const auto one = open_source(spec);
    spec.threads = 3;
    const auto three = open_source(spec);
    for (const int64_t step : {1, 2, 3, 9}) {
      TensorMap a = one->batch_at(step), b = three->next(step);
      ASSERT_EQ(a.size(), b.size());
      for (const auto& [name, tensor] : a)
        EXPECT_TRUE(std::ranges::equal(tensor.bytes(), b.at(name).bytes())) << name << " of step " << step;
      three->recycle(std::move(b));
    }
  }
}

TEST(SyntheticText, RefusesAVocabularyWithoutWords) {
  SourceSpec spec = synthetic_text_spec(TextTask::pretraining);
  spec.text.vocabulary = 5;
  EXPECT_EQ(refusal_of([&] { open_source(spec); }),
            "a vocabulary of 5 rows leaves no room for words beside its 5 special tokens");
  spec = synthetic_text_spec(TextTask::translation);
  spec.text.bucket = Bucket{15, 15};
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("is not among the buckets"));
}

TEST(Fitted, TakesExtentsVocabularyAndTaskFromTheInputs) {
  const WantedInput pretraining[] = {{"input_ids", {2, 16}, 128},    {"token_type_ids", {2, 16}, 2},
                                     {"attention_mask", {2, 16}, 0}, {"masked_positions", {2, 3}, 16},
                                     {"masked_labels", {2, 3}, 128}, {"masked_weights", {2, 3}, 0},
                                     {"next_label", {2}, 2}};
  const auto bert = fitted({}, pretraining);
  ASSERT_TRUE(bert.has_value());
  EXPECT_EQ(bert->text.task, TextTask::pretraining);
  EXPECT_EQ(bert->batch, 2);
  EXPECT_EQ(bert->text.length, 16);
  EXPECT_EQ(bert->text.predictions, 3);
  EXPECT_EQ(bert->text.vocabulary, 128);
  const TensorMap batch = open_source(*bert)->batch_at(1);
  for (const WantedInput& input : pretraining) EXPECT_EQ(batch.at(input.name).shape(), input.shape) << input.name;

  const WantedInput pair[] = {
      {"src", {3, 7}, 67}, {"src_len", {3}, 0}, {"tgt_in", {3, 6}, 61}, {"tgt_out", {3, 6}, 61}};
  const auto tiny = fitted({}, pair);
  ASSERT_TRUE(tiny.has_value());
  EXPECT_EQ(tiny->text.buckets, (std::vector<Bucket>{{7, 6}}));
  EXPECT_EQ(tiny->text.target_vocabulary, 61);
  const TensorMap pairs = open_source(*tiny)->batch_at(1);
  for (const WantedInput& input : pair) EXPECT_EQ(pairs.at(input.name).shape(), input.shape) << input.name;

  const WantedInput image[] = {{"image", {8, 3, 32, 32}, 0}, {"label", {8}, 10}};
  const auto images = fitted({}, image);
  ASSERT_TRUE(images.has_value());
  EXPECT_EQ(images->batch, 8);
  EXPECT_EQ(images->image_size, 32);
  EXPECT_EQ(images->classes, 10);
}

TEST(Fitted, KeepsTheBucketsWhereTheProgramHasOneOfThem) {
  const WantedInput pair[] = {{"src", {3, 30}, 67}, {"tgt_in", {3, 30}, 61}, {"tgt_out", {3, 30}, 61}};
  const auto fits = fitted({}, pair);
  ASSERT_TRUE(fits.has_value());
  EXPECT_EQ(fits->text.buckets.size(), 10);
  EXPECT_EQ(fits->text.bucket, (Bucket{30, 30}));
}

TEST(Fitted, RefusesWhatTheDataDoesNotOffer) {
  const WantedInput unknown[] = {{"image", {8, 3, 32, 32}, 0}, {"boxes", {8, 4}, 0}};
  EXPECT_EQ(fitted({}, unknown), std::nullopt);
  const WantedInput language[] = {{"ids", {2, 16}, 258}, {"labels", {2, 16}, 258}};
  EXPECT_EQ(fitted({.kind = SourceKind::squad}, language), std::nullopt);
  EXPECT_TRUE(fitted({.kind = SourceKind::packed_text}, language).has_value());
  const WantedInput flat[] = {{"image", {8, 3, 32, 16}, 0}};
  EXPECT_EQ(fitted({}, flat), std::nullopt);
}

}  // namespace
}  // namespace tbd
