#include "data/image_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "data/augmentation.h"
#include "data/testing_images.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_images::write_jpeg;
using testing_images::write_tree;

SourceSpec image_folder_spec(const fs::path& root) {
  return {.kind = SourceKind::image_folder, .path = root.string(), .batch = 2, .image_size = 16, .seed = 7};
}

std::vector<std::byte> image_bytes(const TensorMap& batch) {
  const auto bytes = batch.at("image").bytes();
  return {bytes.begin(), bytes.end()};
}
std::vector<int32_t> labels(const TensorMap& batch) {
  const auto values = batch.at("label").as<int32_t>();
  return {values.begin(), values.end()};
}

std::string image_folder_refusal(const SourceSpec& spec) {
  try {
    open_source(spec);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ImageFolder, GivesEachImageOnceAnEpochInTheOrderOfItsStream) {
  const TemporaryFolder root;
  write_tree(root.path(), 4);
  const auto source = open_source(image_folder_spec(root.path()));
  EXPECT_EQ(source->size(), 8);
  EXPECT_EQ(source->steps_per_epoch(), 4);
  std::vector<int32_t> seen;
  for (int64_t step = 1; step <= 8; ++step)
    for (const int32_t label : labels(source->next(step))) seen.push_back(label);
  std::vector<int32_t> expected;  // positions 0 to 3 are class 0
  for (const uint32_t epoch : {0u, 1u})
    for (const uint32_t position : epoch_order(7, epoch, 8)) expected.push_back(position >= 4);
  EXPECT_EQ(seen, expected);
}

TEST(ImageFolder, ASampleIsTheAugmentedDecodeOfItsFile) {
  const TemporaryFolder root;
  write_tree(root.path(), 4);
  const TensorMap batch =
      open_source(image_folder_spec(root.path()))->batch_at(5);  // epoch 1, places 0 and 1: positions 7, 3
  EXPECT_EQ(batch.at("image").shape(), (Shape{2, 3, 16, 16}));
  EXPECT_EQ(batch.at("label").dtype(), DType::i32);
  const std::string file = read_file(root.path() / "train/a/3.JPEG");
  const auto expected = decode_jpeg(std::as_bytes(std::span(file)), training_crop({64, 48}, 16, 7, 1, 3));
  const auto actual = batch.at("image").as<float>().subspan(3 * 16 * 16);
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), actual.begin()));
}

TEST(ImageFolder, BatchesDoNotDependOnThreadsOrPrefetch) {
  const TemporaryFolder root;
  write_tree(root.path(), 5);
  write_file(root.path() / "train/a/2.JPEG", "text");
  std::vector<std::vector<std::byte>> first;
  for (const int64_t threads : {0, 1, 2, 4}) {
    SourceSpec spec = image_folder_spec(root.path());
    spec.batch = 3;
    spec.threads = threads;
    spec.prefetch = 1 + threads;
    const auto source = open_source(spec);
    std::vector<std::vector<std::byte>> batches;
    for (int64_t step = 1; step <= 7; ++step) batches.push_back(image_bytes(source->next(step)));
    if (threads == 0) first = batches;
    EXPECT_EQ(batches, first) << threads;
  }
}

TEST(ImageFolder, EpochsAndSeedsDiffer) {
  const TemporaryFolder root;
  write_tree(root.path(), 1);
  SourceSpec spec = image_folder_spec(root.path());
  const auto source = open_source(spec);
  EXPECT_NE(image_bytes(source->batch_at(1)), image_bytes(source->batch_at(2)));
  spec.seed = 8;
  EXPECT_NE(image_bytes(source->batch_at(1)), image_bytes(open_source(spec)->batch_at(1)));
}

TEST(ImageFolder, TrainingDropsThePartialBatchAndValidationKeepsIt) {
  const TemporaryFolder root;
  write_tree(root.path(), 4);
  SourceSpec spec = image_folder_spec(root.path());
  spec.batch = 3;
  EXPECT_EQ(open_source(spec)->steps_per_epoch(), 2);
  fs::rename(root.path() / "train", root.path() / "val");
  spec.split = Split::val;
  const auto source = open_source(spec);
  EXPECT_EQ(source->steps_per_epoch(), 3);
  EXPECT_THAT(labels(source->next(1)), ElementsAre(0, 0, 0));
  EXPECT_THAT(labels(source->next(2)), ElementsAre(0, 1, 1));
  EXPECT_THAT(labels(source->next(3)), ElementsAre(1, 1));
  EXPECT_EQ(source->batch_at(3).at("image").shape(), (Shape{2, 3, 16, 16}));
}

TEST(ImageFolder, ReportsEachBadFileOnceAndGivesTheNextGoodOneInstead) {
  const TemporaryFolder root;
  write_tree(root.path(), 4);
  const std::string good = read_file(root.path() / "train/a/1.JPEG");
  write_file(root.path() / "train/a/0.JPEG", "");
  write_file(root.path() / "train/a/2.JPEG", good.substr(0, good.size() / 2));
  write_file(root.path() / "train/a/3.JPEG", "<html>not found</html>");
  fs::remove(root.path() / "train/b/3.JPEG");
  fs::create_symlink("nowhere", root.path() / "train/b/3.JPEG");
  SourceSpec spec = image_folder_spec(root.path());
  spec.batch = 8;
  const auto source = open_source(spec);
  std::vector<int32_t> expected;  // positions 2 and 3 give way to 4, position 7 (the last) to 1
  for (const uint32_t position : epoch_order(7, 0, 8)) expected.push_back(position >= 2 && position != 7);
  EXPECT_EQ(labels(source->next(1)), expected);
  source->next(2);
  const std::vector<BadFile> bad = source->statistics().bad_files;
  ASSERT_EQ(bad.size(), 4);
  EXPECT_EQ(bad[0].path, "a/0.JPEG");
  EXPECT_EQ(bad[0].reason, "the file is empty");
  EXPECT_EQ(bad[1].path, "a/2.JPEG");
  EXPECT_THAT(bad[2].reason, HasSubstr("Not a JPEG file"));
  EXPECT_EQ(bad[3].path, "b/3.JPEG");
  EXPECT_THAT(bad[3].reason, HasSubstr("No such file"));
}

TEST(ImageFolder, ReplacementImageUsesTheAugmentationOfItsPosition) {
  const TemporaryFolder root;
  write_tree(root.path(), 1);
  write_file(root.path() / "train/a/0.JPEG", "text");
  const TensorMap batch = open_source(image_folder_spec(root.path()))->batch_at(1);
  const std::string file = read_file(root.path() / "train/b/0.JPEG");
  const std::vector<uint32_t> order = epoch_order(7, 0, 2);
  const auto slot = std::find(order.begin(), order.end(), 0u) - order.begin();
  const auto expected = decode_jpeg(std::as_bytes(std::span(file)), training_crop({64, 48}, 16, 7, 0, 0));
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), batch.at("image").as<float>().begin() + slot * 768));
}

TEST(ImageFolder, RefusesAFolderWithoutAUsableImage) {
  const TemporaryFolder root;
  make_folder(root.path() / "train/a");
  write_file(root.path() / "train/a/0.JPEG", "");
  write_file(root.path() / "train/a/1.JPEG", "text");
  EXPECT_THAT(image_folder_refusal(image_folder_spec(root.path())),
              HasSubstr("has no usable image: none of 2 files decodes, a/0.JPEG because: the file is empty"));
}

TEST(ImageFolder, RefusesABatchLargerThanTheDataSet) {
  const TemporaryFolder root;
  write_tree(root.path(), 2);
  SourceSpec spec = image_folder_spec(root.path());
  spec.batch = 5;
  EXPECT_THAT(image_folder_refusal(spec), HasSubstr("batch 5 is larger than the data set"));
  EXPECT_THAT(image_folder_refusal(spec), HasSubstr("has 4 images"));
}

TEST(ImageFolder, RefusesMoreClassesThanTheNetworkHas) {
  const TemporaryFolder root;
  write_tree(root.path(), 1);
  SourceSpec spec = image_folder_spec(root.path());
  spec.classes = 1;
  EXPECT_THAT(image_folder_refusal(spec), HasSubstr("has 2 class folders, the network 1 classes"));
}

}  // namespace
}  // namespace tbd
