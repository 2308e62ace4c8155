#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/json.h"
#include "data/source.h"
#include "data/spectrogram.h"
#include "data/speech/testing_speech.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace testing_speech;
using testing_text::count;
using testing_text::ints;
using testing_text::refusal_of;
using testing_text::row;

class Speech : public testing::Test {
 protected:
  fs::path path(const std::string& name = "") const { return folder_.path() / name; }
  SourceSpec spec(int64_t batch = 1, Split split = Split::train) const {
    SourceSpec spec{.kind = SourceKind::speech, .path = path().string(), .split = split, .batch = batch, .seed = 5};
    spec.speech.buckets = {20, 30, 40};
    spec.speech.labels = 8;
    return spec;
  }
  std::string refusal(const SourceSpec& spec) const {
    return refusal_of([&] {
      const auto source = open_source(spec);
      source->next(1);
    });
  }
  std::string refusal() const { return refusal(spec()); }

 private:
  TemporaryFolder folder_;
};

TEST_F(Speech, ABatchHoldsPaddedSpectrogramsAndLabels) {
  write_libri(path(), "train", {{25, "AB"}, {30, "A'Z C"}});
  const auto source = open_source(spec(2));
  EXPECT_EQ(source->size(), 2);
  EXPECT_EQ(source->steps_per_epoch(), 1);
  const TensorMap batch = source->next(1);
  const HostTensor& spect = batch.at("spect");
  EXPECT_EQ(spect.shape(), (Shape{2, 1, 161, 30}));
  EXPECT_EQ(spect.dtype(), DType::f32);
  EXPECT_THAT(ints(batch, "frames"), ElementsAre(25, 30));
  EXPECT_EQ(batch.at("labels").shape(), (Shape{2, 8}));
  EXPECT_THAT(row(batch, "labels", 0), ElementsAre(2, 3, 0, 0, 0, 0, 0, 0));
  EXPECT_THAT(row(batch, "labels", 1), ElementsAre(2, 1, 27, 28, 4, 0, 0, 0));
  EXPECT_THAT(ints(batch, "label_len"), ElementsAre(2, 5));
  Spectrogram spectrogram;
  const auto expected = spectrogram.of(read_audio(path("train/1/2/1-2-0000.flac")).samples);
  for (size_t bin = 0; bin < 161; ++bin)
    for (size_t f = 0; f < 30; ++f)
      ASSERT_EQ(spect.as<float>()[bin * 30 + f], f < 25 ? expected[bin * 25 + f] : 0) << bin << " " << f;
}

TEST_F(Speech, CountsFramesAndSecondsWithAndWithoutPadding) {
  write_libri(path(), "train", {{25, "AB"}, {30, "A"}});
  const TensorMap batch = open_source(spec(2))->next(1);
  EXPECT_EQ(count(batch, "frames"), 55);
  EXPECT_EQ(count(batch, "frame_slots"), 60);
  EXPECT_DOUBLE_EQ(count(batch, "seconds"), 0.55);
  EXPECT_DOUBLE_EQ(count(batch, "second_slots"), 0.60);
  EXPECT_FALSE(batch.contains("count/ctc"));  // norm/ctc is one over the samples
}

TEST_F(Speech, EpochZeroGoesFromShortToLongAndLaterOnesDoNot) {
  std::vector<Said> said;
  for (int64_t i = 0; i < 9; ++i) said.push_back({12 + (i * 7) % 27, "A"});
  write_libri(path(), "train", said);
  const auto source = open_source(spec());
  ASSERT_EQ(source->steps_per_epoch(), 9);
  std::vector<std::vector<int32_t>> epochs(3);
  for (int64_t step = 1; step <= 27; ++step)
    epochs[static_cast<size_t>((step - 1) / 9)].push_back(ints(source->next(step), "frames")[0]);
  EXPECT_TRUE(std::ranges::is_sorted(epochs[0]));
  EXPECT_FALSE(std::ranges::is_sorted(epochs[1]));
  EXPECT_NE(epochs[1], epochs[2]);
  for (auto& epoch : epochs) std::ranges::sort(epoch);
  EXPECT_EQ(epochs[1], epochs[0]);
  EXPECT_EQ(epochs[2], epochs[0]);
}

TEST_F(Speech, BatchesComeFromOneBucketAndPartialOnesAreOfValidation) {
  write_libri(path(), "train", {{15, "A"}, {21, "A"}, {18, "A"}, {25, "A"}, {39, "A"}, {20, "A"}});
  write_libri(path(), "val", {{15, "A"}, {21, "A"}, {18, "A"}, {25, "A"}, {39, "A"}, {20, "A"}});
  const auto train = open_source(spec(2)), val = open_source(spec(2, Split::val));
  EXPECT_EQ(train->steps_per_epoch(), 2);
  EXPECT_THAT(ints(train->next(1), "frames"), ElementsAre(15, 18));
  EXPECT_THAT(ints(train->next(2), "frames"), ElementsAre(21, 25));
  EXPECT_EQ(val->steps_per_epoch(), 4);
  EXPECT_THAT(ints(val->next(2), "frames"), ElementsAre(20));
  EXPECT_THAT(ints(val->next(4), "frames"), ElementsAre(39));
}

TEST_F(Speech, OneBucketAlone) {
  write_libri(path(), "train", {{15, "A"}, {21, "A"}, {39, "A"}});
  SourceSpec only = spec();
  only.speech.bucket = 30;
  const auto source = open_source(only);
  EXPECT_EQ(source->size(), 1);
  EXPECT_THAT(ints(source->next(1), "frames"), ElementsAre(21));
  EXPECT_THAT(source->statistics().bad_files, IsEmpty());
}

TEST_F(Speech, WhatDoesNotFitIsLeftOutAndCounted) {
  write_libri(path(), "train", {{41, "A"}, {20, "A"}, {50, "A"}, {40, "ABCDEFGHI"}});
  const auto source = open_source(spec());
  EXPECT_EQ(source->size(), 1);
  const std::vector<BadFile> bad = source->statistics().bad_files;
  ASSERT_EQ(bad.size(), 2);
  EXPECT_EQ(bad[0].path, "train/1/2/1-2-0000.flac");
  EXPECT_EQ(bad[0].reason, "longer than the 40 frames of the largest bucket, and 1 recording more");
  EXPECT_EQ(bad[1].reason, "more labels than the 8 that a sample has places for");
  SourceSpec strict = spec();
  strict.text.strict = true;
  EXPECT_EQ(refusal(strict), "train/1/2/1-2-0000.flac: longer than the 40 frames of the largest bucket");
}

TEST_F(Speech, AnotherRateIsResampled) {
  write_libri(path(), "train", {{21, "A"}}, ".wav");
  write_audio(path("train/1/2/1-2-0000.wav"), tone(1600, 440, 8000), 8000);
  const auto source = open_source(spec());
  EXPECT_THAT(ints(source->next(1), "frames"), ElementsAre(21));
  EXPECT_THAT(source->statistics().notes, ElementsAre("1 recording of 8000 Hz resampled to 16000"));
}

TEST_F(Speech, SaysThatChannelsAreAveraged) {
  write_libri(path(), "train", {{20, "A"}, {20, "A"}}, ".wav");
  EXPECT_THAT(open_source(spec())->statistics().notes, IsEmpty());
  for (const char* name : {"train/1/2/1-2-0000.wav", "train/1/2/1-2-0001.wav"})
    write_audio(path(name), tone(6400), 16000, 2);
  EXPECT_THAT(open_source(spec())->statistics().notes, ElementsAre("2 recordings of several channels averaged to one"));
}

TEST_F(Speech, NamesTheTranscriptThatCannotBeSpelled) {
  write_libri(path(), "train", {{20, "A"}, {20, "press 3"}});
  EXPECT_EQ(refusal(), "train/1/2/1-2.trans.txt:2: '3' (U+0033) at character 7 is outside the alphabet");
  write_libri(path(), "train", {{20, "A"}, {20, " ..."}});
  EXPECT_EQ(refusal(), "train/1/2/1-2.trans.txt:2: an empty transcript");
}

TEST_F(Speech, NamesTheTargetThatIsLongerThanItsInput) {
  write_libri(path(), "train", {{5, "ABC"}});
  EXPECT_EQ(refusal(), "");  // three steps for three labels
  write_libri(path(), "train", {{5, "ABB"}});
  EXPECT_EQ(refusal(),
            "train/1/2/1-2.trans.txt:1: 3 labels with 1 repeats need 4 steps; the 5 frames of "
            "train/1/2/1-2-0000.flac give 3");
}

TEST_F(Speech, NamesTheRecordingThatCannotBeUsed) {
  write_libri(path(), "train", {{20, "A"}});
  const fs::path file = path("train/1/2/1-2-0000.flac");
  write_file(file, "");
  EXPECT_EQ(refusal(), file.string() + ": an empty file");
  write_file(file, "no sound");
  EXPECT_EQ(refusal(), file.string() + ": neither WAV nor FLAC");
  write_audio(file, tone(100), 16000);
  EXPECT_EQ(refusal(), file.string() + ": 100 samples at 16 kHz, of which a spectrogram needs 161");
  write_audio(file, std::vector<float>(3000), 16000);
  EXPECT_EQ(refusal(), file.string() + ": all bins of the spectrogram are alike: a silent recording");
}

TEST_F(Speech, ThreadsDoNotChangeABatch) {
  write_libri(path(), "train", {{25, "AB"}, {30, "A"}, {15, "C"}, {22, "D"}});
  SourceSpec many = spec(2);
  many.threads = 3;
  const auto one = open_source(spec(2)), three = open_source(many);
  for (int64_t step = 1; step <= 4; ++step)
    EXPECT_TRUE(std::ranges::equal(one->next(step).at("spect").bytes(), three->next(step).at("spect").bytes()));
}

TEST(SpeechSpec, SurvivesJsonAndKeepsWhatIsNotGiven) {
  SourceSpec spec{.kind = SourceKind::speech, .path = "p"};
  spec.speech = {.wanted = true, .buckets = {64, 128}, .bucket = 64, .labels = 8};
  EXPECT_EQ(source_spec_from(parse_json(source_spec_json(spec).dump(), "spec")), spec);
  const Json some = {{"kind", "speech"}, {"speech", {{"labels", 9}}}};
  EXPECT_EQ(source_spec_from(some, spec).speech.buckets, spec.speech.buckets);
  EXPECT_EQ(source_spec_from(some, spec).speech.labels, 9);
}

TEST(SpeechSpec, RefusesBucketsThatMakeNoSense) {
  const auto refused = [](SpeechSpec speech) { return refusal_of([&] { check(speech); }); };
  EXPECT_EQ(refused({}), "");
  EXPECT_THAT(refused({.buckets = {}}), HasSubstr("one to 1023 buckets of speech, got 0"));
  EXPECT_THAT(refused({.buckets = {30, 20}}), HasSubstr("must ascend; number 2 is 20"));
  EXPECT_THAT(refused({.buckets = {1}}), HasSubstr("a bucket's frames must be from 2"));
  EXPECT_THAT(refused({.bucket = 250}), HasSubstr("is not among the buckets of speech"));
  EXPECT_THAT(refused({.labels = 0}), HasSubstr("labels must be from 1"));
}

TEST(SpeechSpec, FitsAProgramsInputs) {
  const std::vector<WantedInput> inputs = {
      {"spect", {4, 1, 161, 64}}, {"frames", {4}}, {"labels", {4, 8}}, {"label_len", {4}}};
  EXPECT_EQ(kind_of_files(inputs), SourceKind::speech);
  for (const SourceKind kind : {SourceKind::speech, SourceKind::synthetic}) {
    const auto fits = fitted({.kind = kind}, inputs);
    ASSERT_TRUE(fits);
    EXPECT_EQ(fits->batch, 4);
    EXPECT_TRUE(fits->speech.wanted);
    EXPECT_EQ(fits->speech.bucket, 64);
    EXPECT_THAT(fits->speech.buckets, ElementsAre(64));
    EXPECT_EQ(fits->speech.labels, 8);
  }
  EXPECT_FALSE(fitted({.kind = SourceKind::squad}, inputs));
  std::vector<WantedInput> other = inputs;
  other[0].shape = {4, 1, 80, 64};
  EXPECT_FALSE(fitted({.kind = SourceKind::speech}, other));
}

}  // namespace
}  // namespace tbd
