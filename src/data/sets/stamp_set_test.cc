#include "data/sets/stamp_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include "base/error.h"
#include "base/json.h"
#include "data/data_check.h"
#include "data/sets/stamp_picture.h"
#include "data/testing_images.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;

// A disc of one colour; a ring with `hole`; without `opacity` no pixel is transparent.
void write_stamp(const fs::path& file, int64_t side, uint8_t level, bool hole = false, bool transparent = true) {
  std::vector<uint8_t> pixels;
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x) {
      const int64_t distance = (2 * x + 1 - side) * (2 * x + 1 - side) + (2 * y + 1 - side) * (2 * y + 1 - side);
      const bool inside = distance <= side * side && (!hole || 4 * distance > side * side);
      const uint8_t opacity = inside || !transparent ? 255 : 0;
      pixels.insert(pixels.end(), {level, 80, 160, opacity});
    }
  make_folder(file.parent_path());
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = image.height = static_cast<png_uint_32>(side);
  image.format = PNG_FORMAT_RGBA;
  ASSERT_NE(png_image_write_to_file(&image, file.c_str(), 0, pixels.data(), 0, nullptr), 0);
}

void write_stamp_sources(const fs::path& root) {
  for (int i = 0; i < 7; ++i) {
    const auto level = static_cast<uint8_t>(30 * i);
    write_stamp(root / cat("stamps/animals/birds/", i, ".png"), 60 + 5 * i, level);
    write_stamp(root / cat("stamps/animals/mammals/", i, ".png"), 60 + 5 * i, level, true);
  }
  write_stamp(root / "stamps/animals/birds/small.png", 40, 9);
  write_stamp(root / "stamps/animals/birds/opaque.png", 90, 9, false, false);
  write_stamp(root / "stamps/animals/birds/3_mirror.png", 90, 9);
  write_stamp(root / "stamps/animals/birds/cartoon/x.png", 90, 9);
  write_stamp(root / "stamps/elsewhere/x.png", 90, 9);
  for (const char* name : {"Aqua", "Blinds", "Dune", "GreenMeadow", "RainDrops", "Storm", "Wood", "Garden"})
    testing_images::write_jpeg(root / "photos" / cat(name, ".jpg"), 1, {1000, 1000});
}

TEST(StampSource, TakesCutOutsAndKeepsEveryFifthForValidation) {
  const TemporaryFolder root;
  write_stamp_sources(root.path());
  const std::vector<StampCategory> found = find_stamps(root.path(), 2);
  ASSERT_EQ(found.size(), 2);
  EXPECT_EQ(found[1].name, "mammal");
  ASSERT_EQ(found[0].stamps.size(), 7);
  for (size_t i = 0; i < 7; ++i) {
    EXPECT_EQ(found[0].stamps[i].below, cat("stamps/animals/birds/", i, ".png"));
    EXPECT_EQ(found[0].stamps[i].split, i == 4 ? Split::val : Split::train);
  }
  EXPECT_THROW(find_stamps(root.path(), 3), Error);  // no fish
}

TEST(StampSet, AnnotationsAreTrueAndTheReaderTakesThem) {
  const TemporaryFolder root;
  write_stamp_sources(root.path());
  const StampSetOptions options{.images = 20, .size = {160, 120}, .categories = 2};
  const StampSetSummary made = make_stamp_set(root.path(), root.path() / "set", options);
  EXPECT_EQ(made.train.images, 20);
  EXPECT_EQ(made.val.images, 4);
  EXPECT_EQ(made.train.crowds, 1);
  EXPECT_EQ(made.stamps, 14);
  const CheckedData data = check_data({.kind = SourceKind::coco, .path = (root.path() / "set").string()});
  ASSERT_EQ(data.splits.size(), 2);
  EXPECT_EQ(data.splits[0].objects, made.train.objects.objects);
  EXPECT_FALSE(data.splits[0].faulty);
  EXPECT_TRUE(data.as_recorded);
  const CocoFile file(coco_annotations(root.path() / "set", Split::train), 3);
  CocoJson json;
  for (const CocoAnnotation& annotation : file.annotations()) {
    const RunLengths mask = file.mask(annotation, json);
    EXPECT_EQ(area(mask), annotation.area);
    const PixelBox box = tight_box(mask);
    EXPECT_EQ(annotation.box,
              (std::array<double, 4>{double(box.x), double(box.y), double(box.width), double(box.height)}));
  }
  const std::string text = read_file(file.path());
  EXPECT_THAT(text, HasSubstr("\"segmentation\":[["));  // polygons
  EXPECT_THAT(text, HasSubstr("\"counts\":\""));        // rings: compressed
  EXPECT_THAT(text, HasSubstr("\"counts\":["));         // and as lists
}

TEST(StampSet, TheSameSourcesGiveTheSameBytes) {
  const TemporaryFolder root;
  write_stamp_sources(root.path());
  StampSetOptions options{.images = 5, .size = {160, 120}, .categories = 2};
  const std::string first = make_stamp_set(root.path(), root.path() / "a", options).set.content_sha256;
  EXPECT_EQ(make_stamp_set(root.path(), root.path() / "b", options).set.content_sha256, first);
  options.seed = 1;
  EXPECT_NE(make_stamp_set(root.path(), root.path() / "c", options).set.content_sha256, first);
}

TEST(StampSet, NoObjectIsHiddenBeyondItsShare) {
  const TemporaryFolder root;
  write_stamp_sources(root.path());
  const std::vector<StampCategory> categories = find_stamps(root.path(), 1);
  const std::vector<RgbImage> photographs = {testing_images::picture(300, 200)};
  int truncated = 0;
  for (uint32_t k = 0; k < 60; ++k) {
    Draws draws(Philox(1, "test/compose", 0, k));
    const StampPictureSettings settings{.size = {160, 120}, .least = 40, .most = 41};
    const StampPicture picture = compose_stamps(photographs, categories, settings, draws);
    std::vector<RunLengths> masks;
    for (const PastedObject& object : picture.objects) {
      EXPECT_GE(static_cast<double>(area(object.mask)), 0.4 * 0.25 * 3.1 * 40 * 40 * 0.97);  // of a disc
      truncated += object.truncated;
      for (const RunLengths& before : masks) EXPECT_EQ(intersection(before, object.mask), 0);
      masks.push_back(object.mask);
    }
  }
  EXPECT_GT(truncated, 10);
}

TEST(StampSet, APictureHasNoMoreObjectsThanAskedFor) {
  const TemporaryFolder root;
  write_stamp_sources(root.path());
  StampSetOptions options{.images = 60, .size = {160, 120}, .categories = 2, .most = 32};
  EXPECT_GT(make_stamp_set(root.path(), root.path() / "eight", options).train.objects.most, 4);
  options.objects = 4;
  const StampSetSummary four = make_stamp_set(root.path(), root.path() / "four", options);
  EXPECT_EQ(four.train.objects.most, 4);
  EXPECT_LE(four.val.objects.most, 4);
}

TEST(StampSet, NamesWhatIsMissing) {
  const TemporaryFolder root;
  write_stamp_sources(root.path());
  const StampSetOptions options{.images = 5, .size = {160, 120}, .categories = 1};
  const auto refusal = [&](const StampSetOptions& given) -> std::string {
    try {
      make_stamp_set(root.path(), root.path() / "set", given);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal({.images = 4}), HasSubstr("from 5 to"));
  EXPECT_THAT(refusal({.size = {20, 20}}), HasSubstr("sides from 64"));
  EXPECT_THAT(refusal({.objects = 0}), HasSubstr("1 to 8 objects at most, got 0"));
  EXPECT_THAT(refusal({.categories = 19}), HasSubstr("1 to 18 categories, got 19"));
  EXPECT_THAT(refusal({.categories = 3}), HasSubstr("0 stamps of the category 'fish'"));
  fs::remove(root.path() / "photos/Wood.jpg");
  EXPECT_THAT(refusal(options), HasSubstr("the photograph Wood"));
  EXPECT_FALSE(fs::exists(root.path() / "set"));
}

}  // namespace
}  // namespace tbd
