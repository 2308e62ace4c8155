#include "worker/translation_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "data/source.h"
#include "graph/program.h"

namespace tbd {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr int32_t kEnd = 2, kFirstWord = 4;
constexpr int64_t kWords = 12;  // rows of the network, of which four have no word

// Five sentences of five words each; a word's translation is the word itself.
class TranslationJudgeTest : public testing::Test {
 protected:
  TranslationJudgeTest() {
    write_file(root_.path() / "vocab.en", "a\nb\nc\nd\n");
    write_file(root_.path() / "vocab.vi", "a\nb\nc\nd\n");
    for (const char* language : {"en", "vi"})
      write_file(root_.path() / cat("val.", language), "a b c d a\nb b c d a\nc b c d a\nd b c d a\na a c d a\n");
  }
  SourceSpec spec(int64_t batch = 5) const {
    SourceSpec spec{.kind = SourceKind::parallel_text, .path = root_.path().string(), .split = Split::val};
    spec.batch = batch;
    spec.text.vocabulary = spec.text.target_vocabulary = kWords;
    spec.text.buckets = {{6, 8}};
    return spec;
  }

  // Says of each place the word of the source there, then the end; what has no word is even likelier.
  TensorMap copied(const TensorMap& batch) {
    ++questions_;
    const auto src = batch.at("src").as<int32_t>(), lengths = batch.at("src_len").as<int32_t>();
    const int64_t rows = batch.at("tgt_in").shape()[0], places = batch.at("tgt_in").shape()[1];
    const size_t source_places = static_cast<size_t>(batch.at("src").shape()[1]);
    HostTensor logits(DType::f32, {rows, places, kWords});
    for (size_t n = 0; n < static_cast<size_t>(rows); ++n)
      for (size_t t = 0; t < static_cast<size_t>(places); ++t) {
        const auto at = [&](int32_t word) -> float& {
          return logits.as<float>()[(n * static_cast<size_t>(places) + t) * kWords + static_cast<size_t>(word)];
        };
        at(0) = at(1) = at(kWords - 1) = 99;
        at(t < static_cast<size_t>(lengths[n]) ? src[n * source_places + t] : kEnd) = 9;
      }
    return {{"logits", logits}};
  }
  std::map<std::string, double> metrics(const Network& network, const SourceSpec& spec) {
    const auto judge = translation_judge(spec, Phase{}, network);
    const auto source = open_source(spec);
    for (int64_t step = 1; step <= *source->steps_per_epoch(); ++step) {
      const TensorMap batch = source->batch_at(step);
      judge->add(batch, {}, batch.at("src").shape()[0]);
    }
    return judge->metrics();
  }

  TemporaryFolder root_;
  int64_t questions_ = 0;
};

TEST_F(TranslationJudgeTest, FindsTheReferencesPerfect) {
  EXPECT_THAT(metrics([&](const TensorMap& batch) { return copied(batch); }, spec()),
              UnorderedElementsAre(Pair("bleu", DoubleNear(100, 1e-9)), Pair("greedy_bleu", DoubleNear(100, 1e-9)),
                                   Pair("bleu_sentences", 5)));
}

TEST_F(TranslationJudgeTest, TranslatesEachSentenceOnceInWhateverBatches) {
  const auto found = metrics([&](const TensorMap& batch) { return copied(batch); }, spec(2));
  EXPECT_EQ(found.at("bleu_sentences"), 5);
  EXPECT_NEAR(found.at("bleu"), 100, 1e-9);
}

// One word wrong of 25: of each order 24, 18, 13 and 8 n-grams of 25, 20, 15 and 10 are right.
TEST_F(TranslationJudgeTest, SeesAWrongWord) {
  const auto mistaken = [&](const TensorMap& batch) {
    TensorMap answers = copied(batch);
    const auto src = batch.at("src").as<int32_t>();
    const auto logits = answers.at("logits").as<float>();
    const size_t places = static_cast<size_t>(batch.at("tgt_in").shape()[1]);
    for (size_t n = 0; n < static_cast<size_t>(batch.at("src").shape()[0]); ++n)
      if (src[n * 6] == kFirstWord + 2) logits[(n * places + 1) * kWords + kFirstWord + 3] = 20;  // "c d c d a"
    return answers;
  };
  const double wanted = 100 * std::pow(24.0 / 25 * 18 / 20 * 13 / 15 * 8 / 10, 0.25);
  EXPECT_NEAR(metrics(mistaken, spec()).at("bleu"), wanted, 1e-9);
}

// The likelier first word leads to words that are all alike; the other one leads to the reference.
TEST_F(TranslationJudgeTest, SearchesBeyondTheLikeliestWord) {
  const auto tempting = [&](const TensorMap& batch) {
    TensorMap answers = copied(batch);
    const auto src = batch.at("src").as<int32_t>(), prefix = batch.at("tgt_in").as<int32_t>();
    const auto logits = answers.at("logits").as<float>();
    const size_t places = static_cast<size_t>(batch.at("tgt_in").shape()[1]);
    for (size_t n = 0; n < static_cast<size_t>(batch.at("src").shape()[0]); ++n) {
      const auto other = static_cast<size_t>((src[n * 6] - kFirstWord + 1) % 4 + kFirstWord);
      logits[n * places * kWords + other] = 9.1F;
      if (static_cast<size_t>(prefix[n * places + 1]) == other)
        std::ranges::fill(logits.subspan((n * places + 1) * kWords, (places - 1) * kWords), 0.F);
    }
    return answers;
  };
  const auto found = metrics(tempting, spec());
  EXPECT_NEAR(found.at("bleu"), 100, 1e-9);
  EXPECT_LT(found.at("greedy_bleu"), 50);
}

TEST_F(TranslationJudgeTest, JoinsPiecesAndComparesWithTheLineAsItStands) {
  write_file(root_.path() / "merges", "b c</w>\na b\n");  // "bc" is a piece, "abd" is "ab@@ d"
  write_file(root_.path() / "vocab.en", "ab@@\nd\nbc\na@@\n");
  write_file(root_.path() / "vocab.vi", "ab@@\nd\nbc\na@@\n");
  for (const char* language : {"en", "vi"}) write_file(root_.path() / cat("val.", language), "abd bc d bc d\n");
  SourceSpec pieces = spec(1);
  pieces.text.merges_file = "merges";
  EXPECT_NEAR(metrics([&](const TensorMap& batch) { return copied(batch); }, pieces).at("bleu"), 100, 1e-9);
  for (const char* language : {"en", "vi"}) write_file(root_.path() / cat("val.", language), "ab@@ d bc d bc d\n");
  EXPECT_NEAR(metrics([&](const TensorMap& batch) { return copied(batch); }, spec(1)).at("bleu"), 100, 1e-9);
}

TEST_F(TranslationJudgeTest, TranslatesABoundedNumberOfSentences) {
  std::string lines;
  for (int64_t i = 0; i < kTranslated + 9; ++i) lines += "a b c d a\n";
  for (const char* language : {"en", "vi"}) write_file(root_.path() / cat("val.", language), lines);
  const auto found = metrics([&](const TensorMap& batch) { return copied(batch); }, spec(20));
  EXPECT_EQ(found.at("bleu_sentences"), kTranslated);
  // Four batches; of each six steps of one beam in one question a step, and of four beams in at most four.
  EXPECT_LE(questions_, 4 * (8 + 4 * 8));
}

TEST_F(TranslationJudgeTest, NeedsSentencePairs) {
  SourceSpec made = spec();
  made.kind = SourceKind::synthetic;
  try {
    translation_judge(made, Phase{}, {});
    FAIL();
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("not made data"));
  }
}

}  // namespace
}  // namespace tbd
