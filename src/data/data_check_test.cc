#include "data/data_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/detection/testing_coco.h"
#include "data/known_sets.h"
#include "data/sets/made_set.h"
#include "data/speech/testing_speech.h"
#include "data/testing_images.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_images::write_jpeg;
using testing_text::refusal_of;

SourceSpec checked_spec(SourceKind kind, const fs::path& root) {
  SourceSpec spec{.kind = kind, .path = root.string()};
  spec.text.length = 16;
  return spec;
}

TEST(DataCheck, CountsPairsTokensAndWhatIsLeftOut) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "a b\nc\n\nd e f\n");
  write_file(root.path() / "train.vi", "x\ny z\nx\nz\n");
  const CheckedData data = check_data(checked_spec(SourceKind::parallel_text, root.path()));
  ASSERT_EQ(data.splits.size(), 1);  // no validation text
  EXPECT_EQ(data.splits[0].samples, 3);
  EXPECT_EQ(data.splits[0].tokens, 6 + 4 + 3);  // targets with their eos
  ASSERT_EQ(data.splits[0].left_out.size(), 1);
  EXPECT_THAT(data.splits[0].left_out[0].path, HasSubstr("train.en:3"));
  EXPECT_EQ(data.vocabulary, 6 + 4);
  EXPECT_EQ(data.target_vocabulary, 3 + 4);
  EXPECT_FALSE(data.recorded_hash);
}

TEST(DataCheck, ReadsBothSplitsOfEveryKindOfText) {
  const TemporaryFolder root;
  for (const char* name : {"train.txt", "val.txt"})
    write_file(root.path() / name, "one two three four five six seven eight\nnine ten\n\none two three\n");
  const Json answer = {{"text", "two"}, {"answer_start", 4}};
  const Json question = {{"id", "q"}, {"question", "Which?"}, {"answers", {answer}}};
  const Json paragraph = {{"context", "one two three"}, {"qas", {question}}};
  const Json article = {{"title", "t"}, {"paragraphs", {paragraph}}};
  for (const char* name : {"train-v1.1.json", "dev-v1.1.json"})
    write_file(root.path() / name, Json{{"version", "1.1"}, {"data", {article}}}.dump());
  for (const SourceKind kind : {SourceKind::pretraining_text, SourceKind::packed_text, SourceKind::squad}) {
    const CheckedData data = check_data(checked_spec(kind, root.path()));
    ASSERT_EQ(data.splits.size(), 2);
    EXPECT_GT(data.splits[1].samples, 0);
    EXPECT_GT(data.splits[1].tokens.value(), 0);
    EXPECT_GT(data.vocabulary.value(), 5);
  }
}

TEST(DataCheck, RefusesWhatTheReaderRefuses) {
  const TemporaryFolder root;
  const SourceSpec spec = checked_spec(SourceKind::parallel_text, root.path());
  EXPECT_THAT(refusal_of([&] { check_data(spec); }), HasSubstr("has no training text"));
  write_file(root.path() / "train.en", "a b\nc\n");
  write_file(root.path() / "train.vi", "x\ny\n");
  write_file(root.path() / "val.en", "a\n");
  EXPECT_THAT(refusal_of([&] { check_data(spec); }), HasSubstr("val.en has no counterpart"));
  write_file(root.path() / "val.vi", "x\ny\n");
  EXPECT_THAT(refusal_of([&] { check_data(spec); }), HasSubstr("val.vi:2: no counterpart in"));
  EXPECT_THAT(refusal_of([&] { check_data({}); }), HasSubstr("synthetic data has no files"));
}

TEST(DataCheck, DecodesImagesWhole) {
  const TemporaryFolder root;
  for (const char* file : {"train/a/1.jpg", "train/b/2.jpg", "val/a/3.jpg"})
    write_jpeg(root.path() / file, 1, {64, 48});
  const std::string whole = read_file(root.path() / "train/b/2.jpg");
  std::string damaged = whole.substr(0, whole.size() - whole.size() / 4) + "\xff\xd9";
  write_file(root.path() / "train/b/2.jpg", damaged);
  const CheckedData data = check_data(checked_spec(SourceKind::image_folder, root.path()));
  ASSERT_EQ(data.splits.size(), 2);
  EXPECT_EQ(data.splits[0].samples, 1);
  ASSERT_EQ(data.splits[0].left_out.size(), 1);
  EXPECT_EQ(data.splits[0].left_out[0].path, "b/2.jpg");
  EXPECT_EQ(data.classes, 2);
  EXPECT_FALSE(data.vocabulary);
}

TEST(DataCheck, SaysWhetherTheFilesAreThoseRecorded) {
  const TemporaryFolder root;
  write_file(root.path() / "train.en", "a b\n");
  write_file(root.path() / "train.vi", "x\n");
  const std::string hash = content_hash(root.path());
  write_file(root.path() / "data.json", Json{{"content_sha256", hash}}.dump());
  EXPECT_TRUE(check_data(checked_spec(SourceKind::parallel_text, root.path())).as_recorded);
  write_file(root.path() / "train.vi", "y\n");
  const CheckedData data = check_data(checked_spec(SourceKind::parallel_text, root.path()));
  EXPECT_FALSE(data.as_recorded);
  EXPECT_EQ(data.recorded_hash, hash);
}

TEST(DataCheck, CountsSecondsOfSpeechAndFindsWhatOnlyDecodingShows) {
  const TemporaryFolder root;
  testing_speech::write_libri(root.path(), "train", {{150, "A"}, {300, "B"}, {1700, "C"}});
  const SourceSpec spec = checked_spec(SourceKind::speech, root.path());
  const CheckedData data = check_data(spec);
  ASSERT_EQ(data.splits.size(), 1);
  EXPECT_EQ(data.splits[0].samples, 2);
  EXPECT_DOUBLE_EQ(*data.splits[0].seconds, 4.5);
  EXPECT_DOUBLE_EQ(*data.splits[0].second_slots, 5);
  EXPECT_FALSE(data.splits[0].tokens);
  ASSERT_EQ(data.splits[0].left_out.size(), 1);
  const fs::path file = root.path() / "train/1/2/1-2-0001.flac";
  const std::string whole = read_file(file);
  write_file(file, whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal_of([&] { check_data(spec); }), HasSubstr("1-2-0001.flac: "));
}

TEST(KnownSets, EachHasAKindThatAReaderTakes) {
  for (const KnownSet& set : known_sets()) {
    EXPECT_NO_THROW(source_spec_from(Json{{"kind", set.kind}})) << set.name;
    for (const std::string_view text : {set.source, set.licence, set.layout, set.models})
      EXPECT_FALSE(text.empty()) << set.name;
    EXPECT_EQ(set.made_by.empty(), set.folder.empty()) << set.name;
  }
}

TEST(DataCheck, CountsPortraits) {
  using namespace testing_coco;
  const TemporaryFolder root;
  const Json set = coco_set({coco_image(5, 64, 48), coco_image(6, 48, 64), coco_image(7, 30, 80)},
                            {coco_annotation(1, 5, 1, {1, 1, 20, 20}), coco_annotation(2, 6, 1, {1, 1, 20, 20}),
                             coco_annotation(3, 7, 1, {1, 1, 20, 20})});
  write_coco(root.path(), set);
  const CheckedData data = check_data({.kind = SourceKind::coco, .path = root.path().string()});
  ASSERT_EQ(data.splits.size(), 1);
  EXPECT_EQ(data.splits[0].samples, 3) << "networks of one stage read them all";
  ASSERT_EQ(data.splits[0].notes.size(), 2);
  EXPECT_EQ(data.splits[0].notes[1],
            "2 images do not fit 800 x 1344, the input of networks of two stages, which leave out such");
  EXPECT_FALSE(data.splits[0].faulty);
}

TEST(DataCheck, CountsObjectsOfPicturesAndNamesBadFiles) {
  using namespace testing_coco;
  const TemporaryFolder root;
  Json set = coco_set({coco_image(5, 300, 200), coco_image(6, 64, 48)},
                      {coco_annotation(1, 5, 1, {1, 1, 20, 20}), coco_annotation(2, 5, 2, {1, 1, 40, 40}),
                       coco_annotation(3, 5, 2, {1, 1, 190, 190}), coco_annotation(4, 6, 2, {1, 1, 31, 32})});
  set["annotations"][1]["iscrowd"] = 1;
  write_coco(root.path(), set);
  write_coco(root.path(), set, "val2017");
  write_file(root.path() / "val2017/6.jpg", "text");
  SourceSpec spec{.kind = SourceKind::coco, .path = root.path().string()};
  const CheckedData data = check_data(spec);
  ASSERT_EQ(data.splits.size(), 2);
  EXPECT_EQ(data.splits[0].samples, 2);
  EXPECT_EQ(data.splits[0].objects, 3);
  EXPECT_EQ(data.classes, 2);
  ASSERT_EQ(data.splits[0].notes.size(), 2) << "both images are landscapes";
  EXPECT_EQ(data.splits[0].notes[0], "1.5 objects an image, at most 2; by area 66.7 % small, 0 % medium, 33.3 % large");
  EXPECT_EQ(data.splits[0].notes[1], "1 crowd annotation left out");
  EXPECT_FALSE(data.splits[0].faulty);
  EXPECT_TRUE(data.splits[1].faulty);
  ASSERT_EQ(data.splits[1].left_out.size(), 1);
  EXPECT_EQ(data.splits[1].left_out[0].path, "6.jpg");
  spec.detection.slots = 2;
  EXPECT_THAT(refusal_of([&] { check_data(spec); }), HasSubstr("annotation 2 is of category 2"));
}

}  // namespace
}  // namespace tbd
