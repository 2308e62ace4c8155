#include "data/sets/crop_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "base/error.h"
#include "base/json.h"
#include "data/data_check.h"
#include "data/image_file.h"
#include "data/testing_images.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_text::refusal_of;

constexpr CropSetOptions kSmallCropSet{.size = 32, .train_per_picture = 6, .val_per_picture = 2};

// Black, but for a white right quarter.
void write_halves(const fs::path& file) {
  RgbImage image{.size = {1024, 1000}};
  for (int64_t y = 0; y < 1000; ++y)
    for (int64_t x = 0; x < 1024; ++x) image.pixels.insert(image.pixels.end(), 3, x < 768 ? 0 : 255);
  make_folder(file.parent_path());
  write_file(file, encode_jpeg(image, {.quality = 100, .chroma_subsampling = false}));
}

TEST(CropSet, IsWhatTheReaderOfUnlabelledImagesTakes) {
  const TemporaryFolder root;
  for (const char* name : {"Dune", "Kite"})
    testing_images::write_jpeg(root.path() / "in/usr/share/backgrounds/mate/nature" / cat(name, ".jpg"), name[0],
                               {1001, 1000});
  const CropSetSummary made = make_crop_set(root.path() / "in", root.path() / "out", kSmallCropSet);
  EXPECT_EQ(made.pictures, 2);
  EXPECT_EQ(made.train, 12);
  EXPECT_EQ(made.set.files, 16);
  const CheckedData data =
      check_data({.kind = SourceKind::unlabelled_images, .path = (root.path() / "out").string(), .image_size = 32});
  ASSERT_EQ(data.splits.size(), 2);
  EXPECT_EQ(data.splits[0].samples, 12);
  EXPECT_EQ(data.splits[1].samples, 4);
  EXPECT_TRUE(data.as_recorded);
  std::set<std::string> contents;
  for (const auto& entry : fs::recursive_directory_iterator(root.path() / "out"))
    if (entry.path().extension() == ".png") contents.insert(read_file(entry.path()));
  EXPECT_EQ(contents.size(), 16);  // no crop twice
  const Json json = parse_json(read_file(root.path() / "out/data.json"), "data.json");
  EXPECT_EQ(json["sources"][0]["licence"], "GPL-2+");
  EXPECT_EQ(json["made_by"], "tbd data crops");
}

TEST(CropSet, NoPixelIsInBothSplits) {
  const TemporaryFolder root;
  write_halves(root.path() / "in/half.jpg");
  make_crop_set(root.path() / "in", root.path() / "out", {.size = 32, .train_per_picture = 40, .val_per_picture = 20});
  for (const char* split : {"train_32x32", "valid_32x32"})
    for (const auto& entry : fs::directory_iterator(root.path() / "out" / split))
      for (const uint8_t level : read_square_image(entry.path(), 32).pixels)
        ASSERT_NEAR(level, split[0] == 't' ? 0 : 255, 2) << entry.path();
}

TEST(CropSet, IsTheSameWhenMadeAgainAndAnotherWithAnotherSeed) {
  const TemporaryFolder root;
  testing_images::write_jpeg(root.path() / "in/a.jpg", 1, {1001, 1000});
  const auto hash = [&](const char* out, uint64_t seed) {
    CropSetOptions options = kSmallCropSet;
    options.seed = seed;
    return make_crop_set(root.path() / "in", root.path() / out, options).set.content_sha256;
  };
  const std::string first = hash("one", 0);
  EXPECT_EQ(hash("two", 0), first);
  EXPECT_NE(hash("three", 1), first);
}

TEST(CropSet, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder root;
  make_folder(root.path() / "in");
  EXPECT_THAT(refusal_of([&] { make_crop_set(root.path() / "in", root.path() / "out"); }),
              HasSubstr("holds no photograph"));
  testing_images::write_jpeg(root.path() / "in/a.jpg", 1, {1001, 1000});
  const auto large = [&] { make_crop_set(root.path() / "in", root.path() / "out", {.size = 251}); };
  EXPECT_THAT(refusal_of(large), HasSubstr("a.jpg: of 1001 x 1000 pixels no crop of 251 x 251"));
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace tbd
