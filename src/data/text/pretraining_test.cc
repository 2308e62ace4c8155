#include "data/text/pretraining.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "base/files.h"
#include "data/text/pretraining_pairs.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using namespace testing_text;

// 20 documents of 6 sentences; document d, sentence s holds 3 + s tokens, all with the number 100 d + s.
TokenizedText numbered_text() {
  TokenizedText text;
  for (int32_t d = 0; d < 20; ++d) {
    for (int32_t s = 0; s < 6; ++s) {
      text.tokens.insert(text.tokens.end(), static_cast<size_t>(3 + s), 100 * d + s);
      text.sentence_ends.push_back(text.tokens.size());
    }
    text.document_ends.push_back(text.sentence_ends.size());
  }
  return text;
}

TEST(PretrainingPairs, SegmentsAreWholeSentencesAndBFollowsAUnlessRandom) {
  const TokenizedText text = numbered_text();
  const auto pairs = pretraining_pairs(text, 20, 5, 3);
  ASSERT_GT(pairs.size(), 150);
  int64_t random = 0;
  for (const SegmentPair& pair : pairs) {
    ASSERT_LT(pair.a_begin, pair.a_end);
    ASSERT_LT(pair.b_begin, pair.b_end);
    for (const size_t begin : {pair.a_begin, pair.b_begin})
      EXPECT_TRUE(begin == 0 || text.tokens[begin] != text.tokens[begin - 1]);
    if (pair.random_next)
      EXPECT_NE(text.tokens[pair.a_begin] / 100, text.tokens[pair.b_begin] / 100);
    else
      EXPECT_EQ(pair.a_end, pair.b_begin);
    random += pair.random_next;
  }
  const double share = static_cast<double>(random) / static_cast<double>(pairs.size());
  EXPECT_GT(share, 0.45);
  EXPECT_LT(share, 0.75);  // one half, and chunks of one sentence
}

TEST(PretrainingPairs, UsesEverySentenceOncePerDuplicateInOrder) {
  const TokenizedText text = numbered_text();
  const auto pairs = pretraining_pairs(text, 20, 1, 3);
  size_t next = 0;
  for (const SegmentPair& pair : pairs) {
    EXPECT_EQ(pair.a_begin, next);
    next = pair.random_next ? pair.a_end : pair.b_end;
  }
  EXPECT_EQ(next, text.tokens.size());
}

TEST(PretrainingPairs, DependOnTheSeedAndDifferBetweenDuplicates) {
  const TokenizedText text = numbered_text();
  const auto key = [](const std::vector<SegmentPair>& pairs) {
    std::vector<size_t> all;
    for (const SegmentPair& pair : pairs) all.insert(all.end(), {pair.a_end, pair.b_begin, pair.b_end});
    return all;
  };
  EXPECT_EQ(key(pretraining_pairs(text, 20, 2, 3)), key(pretraining_pairs(text, 20, 2, 3)));
  EXPECT_NE(key(pretraining_pairs(text, 20, 1, 3)), key(pretraining_pairs(text, 20, 1, 4)));
  EXPECT_GT(pretraining_pairs(text, 20, 2, 3).size(), pretraining_pairs(text, 20, 1, 3).size());
}

TEST(Masking, KeepsTheSharesAndTheLabels) {
  const MaskPolicy policy{.mask = 4, .vocabulary = 1000, .most = 20};
  int64_t masked = 0, kept = 0, random = 0;
  for (uint32_t sample = 0; sample < 400; ++sample) {
    std::vector<int32_t> tokens(101, 500), candidates(99);
    std::iota(candidates.begin(), candidates.end(), 1);
    Draws draws(Philox(1, "test", 0, sample));
    const auto chosen = mask_tokens(tokens, candidates, policy, draws);
    ASSERT_EQ(chosen.size(), 15);
    for (size_t i = 0; i < chosen.size(); ++i) {
      EXPECT_EQ(chosen[i].label, 500);
      EXPECT_TRUE(i == 0 || chosen[i].position > chosen[i - 1].position);
      const int32_t now = tokens[static_cast<size_t>(chosen[i].position)];
      ++(now == 4 ? masked : now == 500 ? kept : random);
    }
    EXPECT_LE(std::ranges::count_if(tokens, [](int32_t t) { return t != 500; }), 15);
    EXPECT_EQ(tokens.front(), 500);
    EXPECT_EQ(tokens.back(), 500);
  }
  EXPECT_NEAR(static_cast<double>(masked) / 6000, 0.8, 0.02);
  EXPECT_NEAR(static_cast<double>(kept) / 6000, 0.1, 0.015);
  EXPECT_NEAR(static_cast<double>(random) / 6000, 0.1, 0.015);
}

TEST(Masking, CountsByTheRuleOfTheReference) {
  const auto count = [](size_t length, int64_t most) {
    std::vector<int32_t> tokens(length, 9), candidates(length - 2);
    std::iota(candidates.begin(), candidates.end(), 1);
    Draws draws(Philox(1, "test"));
    return mask_tokens(tokens, candidates, {.mask = 4, .vocabulary = 10, .most = most}, draws).size();
  };
  EXPECT_EQ(count(5, 20), 1);
  EXPECT_EQ(count(10, 20), 2);  // 1.5 to even
  EXPECT_EQ(count(128, 20), 19);
  EXPECT_EQ(count(512, 20), 20);
}

constexpr const char* kPretrainingVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nthe\ncat\nsat\n##s\nmat\non\n.\ndog\nran\naway\n";

SourceSpec pretraining_spec(const fs::path& root) {
  write_file(root / "vocab.txt", kPretrainingVocabulary);
  std::string text;
  for (int i = 0; i < 8; ++i) text += "The cat sat on the mat.\nThe dogs ran.\nAway ran the cats, away.\n\n";
  write_file(root / "train.txt", text);
  SourceSpec spec{.kind = SourceKind::pretraining_text, .path = root.string(), .batch = 2, .seed = 3};
  spec.text.vocabulary = 15;
  spec.text.length = 24;
  spec.text.predictions = 4;
  return spec;
}

TEST(Pretraining, ABatchHoldsConsistentInputs) {
  const TemporaryFolder root;
  const auto source = open_source(pretraining_spec(root.path()));
  for (int64_t step = 1; step <= *source->steps_per_epoch(); ++step) {
    const TensorMap batch = source->batch_at(step);
    ASSERT_EQ(batch.at("input_ids").shape(), (Shape{2, 24}));
    ASSERT_EQ(batch.at("masked_weights").dtype(), DType::f32);
    ASSERT_EQ(batch.at("next_label").shape(), (Shape{2}));
    double weights = 0, valid = 0;
    for (int64_t i = 0; i < 2; ++i) {
      const auto ids = row(batch, "input_ids", i), types = row(batch, "token_type_ids", i),
                 mask = row(batch, "attention_mask", i), positions = row(batch, "masked_positions", i),
                 labels = row(batch, "masked_labels", i);
      const auto length = static_cast<size_t>(std::ranges::count(mask, 1));
      valid += static_cast<double>(length);
      EXPECT_EQ(ids[0], 2);
      EXPECT_EQ(ids[length - 1], 3);
      EXPECT_TRUE(std::is_sorted(types.begin(), types.begin() + static_cast<int64_t>(length)));
      EXPECT_EQ(types[length - 1], 1);
      for (size_t k = length; k < 24; ++k) EXPECT_EQ(ids[k] + types[k] + mask[k], 0);
      for (int64_t k = 0; k < 4; ++k) {
        const auto p = static_cast<size_t>(k);
        const bool used = batch.at("masked_weights").as<float>()[static_cast<size_t>(4 * i) + p] == 1;
        weights += used;
        EXPECT_EQ(used, labels[p] != 0);
        if (!used) continue;
        EXPECT_TRUE(labels[p] == 1 || labels[p] >= 5);  // a comma is unknown
        EXPECT_TRUE(positions[p] > 0 && positions[p] < static_cast<int32_t>(length) - 1);
      }
    }
    EXPECT_EQ(count(batch, "mlm"), weights);
    EXPECT_EQ(count(batch, "tokens"), valid);
    EXPECT_EQ(count(batch, "slots"), 48);
  }
}

TEST(Pretraining, IsDecidedBySeedAndStepAlone) {
  const TemporaryFolder root;
  SourceSpec spec = pretraining_spec(root.path());
  const auto one = open_source(spec);
  spec.threads = 3;
  const auto three = open_source(spec);
  spec.seed = 4;
  const auto other = open_source(spec);
  bool differs = false;
  for (int64_t step = 1; step <= 6; ++step) {
    TensorMap a = one->batch_at(step), b = three->next(step);
    for (const char* name : {"input_ids", "masked_positions", "masked_labels", "next_label"})
      EXPECT_EQ(ints(a, name), ints(b, name));
    differs = differs || ints(a, "input_ids") != ints(other->batch_at(step), "input_ids");
    three->recycle(std::move(b));
  }
  EXPECT_TRUE(differs);
}

TEST(Pretraining, TrainsAVocabularyWhereThereIsNone) {
  const TemporaryFolder root;
  SourceSpec spec = pretraining_spec(root.path());
  fs::remove(root.path() / "vocab.txt");
  spec.text.vocabulary = 60;
  const TensorMap batch = open_source(spec)->batch_at(1);
  for (const int32_t id : ints(batch, "input_ids")) EXPECT_TRUE(id >= 0 && id < 60);
  EXPECT_EQ(row(batch, "input_ids", 0)[0], 2);
}

TEST(Pretraining, RefusesBadInputByNameAndLine) {
  const TemporaryFolder root;
  SourceSpec spec = pretraining_spec(root.path());
  const std::string text = (root.path() / "train.txt").string();
  write_file(text,
             "Fine.\nB\xe4"
             "d.\n");
  EXPECT_EQ(refusal_of([&] { open_source(spec); }), cat(text, ":2: byte 0xe4 at column 2 is not UTF-8"));
  write_file(text, "\n \n");
  EXPECT_EQ(refusal_of([&] { open_source(spec); }), cat(text, " contains no sentences"));
  spec.text.vocabulary = 14;
  EXPECT_THAT(refusal_of([&] { open_source(spec); }),
              HasSubstr("vocab.txt:15: token 14 ('away') lies outside the network's 14 rows"));
  spec.text.vocabulary = 15;
  spec.split = Split::val;
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("has no validation text; looked for val.txt and"));
  spec.split = Split::train;
  spec.text.length = 4;
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("length must be from 5"));
}

}  // namespace
}  // namespace tbd
