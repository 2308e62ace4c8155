#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "data/text/parallel_text.h"
#include "data/text/testing_text.h"
#include "data/text/translation.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_text;

// Six English words a, b, ... and as many Vietnamese ones; sentences of 1 to 9 words.
void write_pairs(const fs::path& root, int64_t pairs, const std::string& stem = "train") {
  std::string en, vi;
  for (int64_t i = 0; i < pairs; ++i) {
    for (int64_t k = 0; k <= i % 9; ++k) en += cat(k ? " " : "", static_cast<char>('a' + (i + k) % 6));
    for (int64_t k = 0; k <= (i + 2) % 9; ++k) vi += cat(k ? " " : "", "v\xe1\xbb\x8b", (i + k) % 6);
    en += '\n';
    vi += '\n';
  }
  write_file(root / (stem + ".en"), en);
  write_file(root / (stem + ".vi"), vi);
}

SourceSpec parallel_spec(const fs::path& root) {
  SourceSpec spec{.kind = SourceKind::parallel_text, .path = root.string(), .batch = 2, .seed = 7};
  spec.text.vocabulary = spec.text.target_vocabulary = 20;
  spec.text.buckets = {{5, 5}, {10, 10}};
  return spec;
}

std::string below(const fs::path& root, std::string message) {
  for (size_t at = 0; (at = message.find(root.string() + "/")) != std::string::npos;)
    message.erase(at, root.string().size() + 1);
  return message;
}

TEST(Parallel, APairBecomesPaddedInputsWithTheirCounts) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "b a b\n");
  write_file(root.path() / "train.vi", "x y\r\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.batch = 1;
  const TensorMap batch = open_source(spec)->batch_at(1);
  EXPECT_EQ(batch.at("src").shape(), (Shape{1, 5}));
  EXPECT_EQ(batch.at("src_len").shape(), (Shape{1}));
  EXPECT_EQ(batch.at("src").dtype(), DType::i32);
  EXPECT_THAT(row(batch, "src", 0), ElementsAre(4, 5, 4, 1, 1));  // b is more frequent than a
  EXPECT_THAT(row(batch, "src_len", 0), ElementsAre(3));
  EXPECT_THAT(row(batch, "tgt_in", 0), ElementsAre(2, 4, 5, 1, 1));
  EXPECT_THAT(row(batch, "tgt_out", 0), ElementsAre(4, 5, 2, 1, 1));
  EXPECT_EQ(count(batch, "ce"), 3);
  EXPECT_EQ(count(batch, "tokens"), 6);
  EXPECT_EQ(count(batch, "slots"), 10);
  EXPECT_EQ(count(batch, "source_tokens"), 3);
  EXPECT_EQ(count(batch, "target_tokens"), 3);
  EXPECT_EQ(count(batch, "source_slots"), 5);
}

TEST(Parallel, UsesSpecialIdsStartTokenAndOrderOfTheSpec) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "b a b c\n");
  write_file(root.path() / "train.vi", "b y\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.batch = 1;
  spec.text.ids = {.bos = 2, .pad = 0, .eos = 3, .unk = 1};
  spec.text.start_with_bos = spec.text.shared_vocabulary = spec.text.reverse_source = true;
  spec.text.count_targets = false;
  spec.text.vocabulary = 7;  // b, a, c: y is unknown
  const TensorMap batch = open_source(spec)->batch_at(1);
  EXPECT_THAT(row(batch, "src", 0), ElementsAre(6, 4, 5, 4, 0));
  EXPECT_THAT(row(batch, "tgt_in", 0), ElementsAre(2, 4, 1, 0, 0));
  EXPECT_THAT(row(batch, "tgt_out", 0), ElementsAre(4, 1, 3, 0, 0));
  EXPECT_FALSE(batch.contains("count/ce"));
}

TEST(Parallel, EveryPairComesOnceAnEpochInABucketThatHoldsIt) {
  const TemporaryFolder root;
  write_pairs(root.path(), 36);
  SourceSpec spec = parallel_spec(root.path());
  spec.threads = 2;
  const auto source = open_source(spec);
  EXPECT_EQ(source->size(), 36);
  EXPECT_EQ(source->steps_per_epoch(), 18);
  std::map<std::vector<int32_t>, int> seen;
  for (int64_t step = 1; step <= 18; ++step) {
    const TensorMap batch = source->next(step);
    const int64_t slots = batch.at("src").shape()[1];
    EXPECT_EQ(batch.at("tgt_out").shape(), (Shape{2, slots}));
    for (int64_t i = 0; i < 2; ++i) {
      const auto source_ids = row(batch, "src", i), target_ids = row(batch, "tgt_out", i);
      const auto words = slots - std::ranges::count(source_ids, 1);
      const auto longest = std::max<int64_t>(words, slots - std::ranges::count(target_ids, 1));
      EXPECT_EQ(longest <= 5, slots == 5);
      ++seen[source_ids];
    }
  }
  int total = 0;
  for (const auto& [ids, times] : seen) total += times;
  EXPECT_EQ(total, 36);
  EXPECT_EQ(seen.size(), 18);  // of 36 sentences, two each are equal
}

TEST(Parallel, DoesNotDependOnThreadsOrEarlierSteps) {
  const TemporaryFolder root;
  write_pairs(root.path(), 36);
  SourceSpec spec = parallel_spec(root.path());
  const auto one = open_source(spec);
  spec.threads = 3;
  const auto three = open_source(spec);
  for (const int64_t step : {1, 2, 3, 19, 20, 5}) {
    TensorMap a = one->batch_at(step), b = three->next(step);
    for (const char* name : {"src", "src_len", "tgt_in", "tgt_out"}) EXPECT_EQ(ints(a, name), ints(b, name));
    EXPECT_EQ(count(a, "ce"), count(b, "ce"));
    three->recycle(std::move(b));
  }
}

TEST(Parallel, OneBucketAloneGivesBatchesOfOneShape) {
  const TemporaryFolder root;
  write_pairs(root.path(), 36);
  SourceSpec spec = parallel_spec(root.path());
  spec.text.bucket = Bucket{10, 10};
  const auto source = open_source(spec);
  EXPECT_LT(*source->size(), 36);
  for (int64_t step = 1; step <= *source->steps_per_epoch(); ++step) {
    const TensorMap batch = source->batch_at(step);
    EXPECT_EQ(batch.at("src").shape()[1], 10);
    for (int64_t i = 0; i < 2; ++i) EXPECT_TRUE(row(batch, "src_len", i)[0] > 5 || row(batch, "tgt_out", i)[4] != 1);
  }
  EXPECT_TRUE(source->statistics().bad_files.empty());
}

TEST(Parallel, TargetSlotsDecideTheBatchOfEachBucket) {
  const TemporaryFolder root;
  write_pairs(root.path(), 72);
  SourceSpec spec = parallel_spec(root.path());
  spec.text.target_slots = 30;
  const auto source = open_source(spec);
  for (int64_t step = 1; step <= *source->steps_per_epoch(); ++step) {
    const Shape shape = source->batch_at(step).at("tgt_in").shape();
    EXPECT_EQ(shape[0] * shape[1], 30);
  }
}

TEST(Parallel, LeavesOutEmptyAndLongSentencesAndSaysSo) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "a\n\na b\n.\na a a a a a a a a a a\na\n");
  write_file(root.path() / "train.vi", "x\ny\n \nz\nx\nx x x x x x x x x x\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.batch = 1;
  const auto source = open_source(spec);
  EXPECT_EQ(source->size(), 1);
  std::vector<std::string> notes;
  for (const BadFile& note : source->statistics().bad_files)
    notes.push_back(below(root.path(), cat(note.path, ": ", note.reason)));
  EXPECT_THAT(notes, ElementsAre("train.en:5: a sentence longer than the 10 tokens that the largest bucket holds",
                                 "train.en:2: an empty sentence, and 1 line more",
                                 "train.vi:6: a sentence longer than the 9 tokens that the largest bucket holds",
                                 "train.vi:3: an empty sentence"));
}

TEST(Parallel, StrictReadingNamesTheFirstSuchLine) {
  const TemporaryFolder root;
  SourceSpec spec = parallel_spec(root.path());
  spec.text.strict = true;
  const auto refusal = [&](const char* en, const char* vi) {
    write_file(root.path() / "train.en", en);
    write_file(root.path() / "train.vi", vi);
    return below(root.path(), refusal_of([&] { open_source(spec); }));
  };
  EXPECT_EQ(refusal("a\n\n", "x\ny\n"), "train.en:2: an empty sentence");
  EXPECT_EQ(refusal("a\nb\n", "x\n.\n"), "train.vi:2: an empty sentence");
  EXPECT_EQ(refusal("a a a a a a a a a a a\n", "x\n"),
            "train.en:1: a sentence longer than the 10 tokens that the largest bucket holds");
}

TEST(Parallel, RefusesMalformedFilesByNameAndLine) {
  const TemporaryFolder root;
  const SourceSpec spec = parallel_spec(root.path());
  const auto refusal = [&](const char* en, const char* vi) {
    write_file(root.path() / "train.en", en);
    write_file(root.path() / "train.vi", vi);
    return below(root.path(), refusal_of([&] { open_source(spec); }));
  };
  EXPECT_EQ(refusal("a\nb\nc\nd\n", "x\ny\n"), "train.en:3: no counterpart in train.vi; 4 lines against 2");
  EXPECT_EQ(refusal("a\n", "x\ny\n"), "train.vi:2: no counterpart in train.en; 2 lines against 1");
  EXPECT_EQ(refusal("a\nb\n", "x\n\xffy\n"), "train.vi:2: byte 0xff at column 1 is not UTF-8");
  EXPECT_THAT(refusal("\n\n", "x\ny\n"), HasSubstr("has no pair of sentences that can be used; train.en:1"));
  EXPECT_EQ(refusal("a\n", "x\n"), "no batch of 2 samples in a data set of 1 in 2 buckets");
}

TEST(Parallel, SaysWhichFilesItLookedFor) {
  const TemporaryFolder root;
  SourceSpec spec = parallel_spec(root.path());
  EXPECT_THAT(refusal_of([&] { open_source(spec); }),
              HasSubstr("has no training text; looked for train.en, train.tok"));
  write_file(root.path() / "train.en", "a\n");
  EXPECT_EQ(below(root.path(), refusal_of([&] { open_source(spec); })), "train.en has no counterpart train.vi");
  spec.text.stem = "tst2013";
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("looked for tst2013.en"));
}

TEST(Parallel, ValidationTakesItsFilesWithTheVocabularyOfTraining) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "a a b\n");
  write_file(root.path() / "train.vi", "x\n");
  write_file(root.path() / "tst2012.en", "b c\na\n");
  write_file(root.path() / "tst2012.vi", "x\ny\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.split = Split::val;
  const auto source = open_source(spec);
  EXPECT_EQ(source->size(), 2);
  const TensorMap batch = source->batch_at(1);
  EXPECT_THAT(row(batch, "src", 0), ElementsAre(5, 3, 1, 1, 1));
  EXPECT_THAT(row(batch, "src", 1), ElementsAre(4, 1, 1, 1, 1));
}

TEST(Parallel, ReadsTheLayoutOfWmt) {
  const TemporaryFolder root;
  write_file(root.path() / "train.tok.clean.bpe.32000.en", "lo@@ w new\n");
  write_file(root.path() / "train.tok.clean.bpe.32000.de", "neu\n");
  write_file(root.path() / "vocab.bpe.32000", "<unk>\n<s>\n</s>\nlo@@\nw\nneu\nnew\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.batch = 1;
  const TextSpec preset = text_conventions("gnmt");
  spec.text = preset;
  spec.text.vocabulary = 8;
  const TensorMap batch = open_source(spec)->batch_at(1);
  EXPECT_EQ(batch.at("src").shape(), (Shape{1, 10}));
  EXPECT_EQ(std::vector(row(batch, "src", 0)), (std::vector<int32_t>{4, 5, 7, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row(batch, "tgt_in", 0)[0], 2);
  EXPECT_EQ(row(batch, "tgt_out", 0)[0], 6);
}

TEST(Parallel, AppliesMergesToPlainWords) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "low low\n");
  write_file(root.path() / "train.vi", "low\n");
  write_file(root.path() / "merges", "#version: 0.2\nl o\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.batch = 1;
  spec.text.merges_file = "merges";
  spec.text.shared_vocabulary = true;
  const auto source = open_source(spec);
  EXPECT_THAT(row(source->batch_at(1), "src", 0), ElementsAre(4, 5, 4, 5, 1));  // lo@@ and w, both thrice
}

TEST(Parallel, ValidationSaysWhichPairASampleIsAndOfWhichLine) {
  const TemporaryFolder root;
  for (const char* file : {"train.en", "train.vi", "val.en", "val.vi"})
    write_file(root.path() / file, "a b c d e f g\n.\na b\n");
  SourceSpec spec = parallel_spec(root.path());
  spec.batch = 1;
  EXPECT_FALSE(open_source(spec)->batch_at(1).contains(std::string(kPosition)));
  spec.split = Split::val;  // the shorter bucket first
  EXPECT_THAT(ints(open_source(spec)->batch_at(1), std::string(kPosition)), ElementsAre(1));
  const ParallelText text(spec);
  EXPECT_EQ(text.line(0), 0U);
  EXPECT_EQ(text.line(1), 2U) << "the second line says nothing";
}

}  // namespace
}  // namespace tbd
