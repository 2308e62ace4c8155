#include "data/folder_listing.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;

void touch(const fs::path& path) {
  make_folder(path.parent_path());
  write_file(path, "x");
}

std::string listing_refusal(const fs::path& path, Split split = Split::train) {
  try {
    list_image_folder(path, split);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(FolderListing, NumbersClassesAndFilesInByteOrder) {
  const TemporaryFolder root;
  for (const char* file : {"train/b/2.JPEG", "train/b/10.JPEG", "train/Z/x.jpg", "train/a/y.jpeg", "train/a/X.JPG"})
    touch(root.path() / file);
  const FolderListing listing = list_image_folder(root.path(), Split::train);
  EXPECT_EQ(listing.root, root.path() / "train");
  EXPECT_EQ(listing.classes, (std::vector<std::string>{"Z", "a", "b"}));
  std::vector<std::string> files;
  for (const ListedFile& file : listing.files) files.push_back(cat(file.label, " ", file.path));
  EXPECT_EQ(files, (std::vector<std::string>{"0 Z/x.jpg", "1 a/X.JPG", "1 a/y.jpeg", "2 b/10.JPEG", "2 b/2.JPEG"}));
}

TEST(FolderListing, LeavesOutOtherFilesHiddenNamesAndDeeperFolders) {
  const TemporaryFolder root;
  for (const char* file : {"train/a/1.JPEG", "train/a/notes.txt", "train/a/.2.JPEG", "train/a/deep/3.JPEG",
                           "train/.cache/4.JPEG", "train/loose.JPEG", "train/a/folder.JPEG/5.JPEG"})
    touch(root.path() / file);
  const FolderListing listing = list_image_folder(root.path(), Split::train);
  EXPECT_EQ(listing.classes.size(), 1);
  ASSERT_EQ(listing.files.size(), 1);
  EXPECT_EQ(listing.files[0].path, "a/1.JPEG");
}

TEST(FolderListing, CountsAClassWithoutImages) {
  const TemporaryFolder root;
  touch(root.path() / "train/b/1.JPEG");
  make_folder(root.path() / "train/a");
  EXPECT_EQ(list_image_folder(root.path(), Split::train).files[0].label, 1);
}

TEST(FolderListing, AcceptsARootOfClassFolders) {
  const TemporaryFolder root;
  touch(root.path() / "cat/1.JPEG");
  EXPECT_EQ(list_image_folder(root.path(), Split::val).root, root.path());
}

TEST(FolderListing, PicksTheSplit) {
  const TemporaryFolder root;
  touch(root.path() / "train/a/1.JPEG");
  EXPECT_NE(listing_refusal(root.path(), Split::val).find("has no folder 'val', only 'train'"), std::string::npos);
  touch(root.path() / "val/a/2.JPEG");
  EXPECT_EQ(list_image_folder(root.path(), Split::val).files[0].path, "a/2.JPEG");
}

TEST(FolderListing, SaysWhatIsMissing) {
  const TemporaryFolder root;
  const fs::path none = root.path() / "none";
  EXPECT_EQ(listing_refusal(none), cat("cannot read folder ", none.string(), ": No such file or directory"));
  EXPECT_EQ(listing_refusal(root.path()), cat(root.path().string(), " has no class folders"));
  touch(root.path() / "a/readme.txt");
  EXPECT_NE(listing_refusal(root.path()).find("has no image"), std::string::npos);
  EXPECT_NE(listing_refusal(root.path() / "a/readme.txt").find("Not a directory"), std::string::npos);
}

TEST(FolderListing, RefusesAFolderWithoutPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may read every folder";
  const TemporaryFolder root;
  touch(root.path() / "train/a/1.JPEG");
  fs::permissions(root.path() / "train", fs::perms::none);
  EXPECT_NE(listing_refusal(root.path()).find("Permission denied"), std::string::npos);
  fs::permissions(root.path() / "train", fs::perms::all);
}

TEST(FolderListing, KnowsTheRecordedHash) {
  const TemporaryFolder root;
  touch(root.path() / "train/a/1.JPEG");
  EXPECT_EQ(list_image_folder(root.path(), Split::train).data_hash, std::nullopt);
  write_file(root.path() / "data.json", R"({"content_sha256": "abc"})");
  EXPECT_EQ(list_image_folder(root.path(), Split::train).data_hash, "abc");
  write_file(root.path() / "data.json", "{broken");
  EXPECT_EQ(list_image_folder(root.path(), Split::train).data_hash, std::nullopt);
}

}  // namespace
}  // namespace tbd
