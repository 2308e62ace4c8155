#include "data/sets/photo_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "data/folder_listing.h"
#include "data/sets/made_set.h"
#include "data/sets/photo_source.h"
#include "data/testing_images.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::HasSubstr;
using testing_images::write_jpeg;

constexpr PhotoSetOptions kSmallPhotoSet{.train_per_class = 3, .val_per_class = 1, .mean_bytes = 30'000};

void write_sources(const fs::path& root) {
  write_jpeg(root / "usr/share/wallpapers/Kite/contents/images/1024x1000.jpg", 1, {1024, 1000});
  write_jpeg(root / "usr/share/wallpapers/Kite/contents/images/1200x1010.jpg", 1, {1200, 1010});
  write_jpeg(root / "usr/share/wallpapers/Kite/contents/screenshot.jpg", 2, {1400, 1400});
  write_jpeg(root / "usr/share/wallpapers/Flow/contents/images/1200x1200.jpg", 3, {1200, 1200});  // a drawing
  write_jpeg(root / "usr/share/backgrounds/mate/nature/Dune.jpg", 4, {1001, 1000});
  write_jpeg(root / "more/Old Pier_1300x1100.jpg", 5, {1300, 1100});
  write_jpeg(root / "more/small.jpg", 6, {300, 300});
  write_file(root / "more/broken.jpg", "text");
}

TEST(PhotoSource, FindsTheLargestFileOfEachPhotograph) {
  const TemporaryFolder root;
  write_sources(root.path());
  std::vector<std::string> found;
  for (const PhotoSource& photo : find_photos(root.path(), {1000, 1000}))
    found.push_back(cat(photo.name, " ", photo.size.width, " ", photo.package, " ", photo.licence));
  EXPECT_EQ(found, (std::vector<std::string>{"Dune 1001 mate-backgrounds GPL-2+",
                                             "Kite 1200 plasma-workspace-wallpapers GPL-2+", "Old_Pier 1300  "}));
}

TEST(PhotoSet, WritesImagenetsLayoutAndADescription) {
  const TemporaryFolder root;
  write_sources(root.path() / "in");
  const fs::path out = root.path() / "out";
  const PhotoSetSummary summary = make_photo_set(root.path() / "in", out, kSmallPhotoSet);
  EXPECT_EQ(summary.classes, 3);
  EXPECT_EQ(summary.files, 12);
  const FolderListing train = list_image_folder(out, Split::train);
  EXPECT_EQ(train.files.size(), 9);
  EXPECT_EQ(list_image_folder(out, Split::val).files.size(), 3);
  EXPECT_EQ(train.data_hash, summary.content_sha256);
  const Json json = parse_json(read_file(out / "data.json"), "data.json");
  EXPECT_EQ(at<int64_t>(json, "files"), 12);
  EXPECT_EQ(at<int64_t>(json, "bytes"), summary.bytes);
  EXPECT_EQ(json["sources"][1]["package"], "plasma-workspace-wallpapers");
  EXPECT_TRUE(json["sources"][2]["licence"].is_null());
}

TEST(PhotoSet, FilesHaveTheBytesAskedFor) {
  const TemporaryFolder root;
  write_sources(root.path() / "in");
  const PhotoSetSummary summary = make_photo_set(root.path() / "in", root.path() / "out", kSmallPhotoSet);
  EXPECT_NEAR(static_cast<double>(summary.bytes) / static_cast<double>(summary.files), 30'000, 12'000);
}

TEST(PhotoSet, IsTheSameWhateverTheThreadsAndItsHashIsTheContents) {
  const TemporaryFolder root;
  write_sources(root.path() / "in");
  PhotoSetOptions options = kSmallPhotoSet;
  options.threads = 1;
  const std::string one = make_photo_set(root.path() / "in", root.path() / "one", options).content_sha256;
  options.threads = 3;
  EXPECT_EQ(make_photo_set(root.path() / "in", root.path() / "three", options).content_sha256, one);
  EXPECT_EQ(content_hash(root.path() / "three"), one);
  write_file(root.path() / "three/train/Kite/Kite_0.JPEG", "changed");
  EXPECT_NE(content_hash(root.path() / "three"), one);
}

TEST(PhotoSet, LeavesNothingBehindWhenItFails) {
  const TemporaryFolder root;
  write_file(root.path() / "text.txt", "");
  EXPECT_THROW(make_photo_set(root.path() / "none", root.path() / "out"), Error);
  try {
    make_photo_set(root.path(), root.path() / "out");
    FAIL() << "made a set of nothing";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr("holds no photograph"));
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(root.path()), fs::directory_iterator()), 1);
}

TEST(PhotoSet, DoesNotOverwriteAFolder) {
  const TemporaryFolder root;
  write_sources(root.path() / "in");
  EXPECT_THROW(make_photo_set(root.path() / "in", root.path() / "in", kSmallPhotoSet), Error);
}

}  // namespace
}  // namespace tbd
