#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "base/philox.h"
#include "data/augmentation.h"
#include "data/data_check.h"
#include "data/folder_listing.h"
#include "data/image_file.h"
#include "data/testing_images.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing_images::write_jpeg;
using testing_images::write_png;
using testing_text::refusal_of;

SourceSpec unlabelled_spec(const fs::path& root) {
  return {.kind = SourceKind::unlabelled_images, .path = root.string(), .batch = 2, .image_size = 8, .seed = 7};
}

// Seven files, of which 3 is a JPEG.
void write_set(const fs::path& root) {
  for (int64_t i = 0; i < 7; ++i)
    if (i == 3)
      write_jpeg(root / "train_8x8/3.jpg", i, {8, 8});
    else
      write_png(root / cat("train_8x8/", i, ".png"), i, {8, 8});
}

std::vector<float> floats(const TensorMap& batch, const std::string& name) {
  const auto values = batch.at(name).as<float>();
  return {values.begin(), values.end()};
}

// The levels of sample `slot`, interleaved as in its file.
std::vector<int> levels(const TensorMap& batch, size_t slot) {
  const std::vector<float> real = floats(batch, "real");
  std::vector<int> out;
  for (size_t i = 0; i < 64; ++i)
    for (size_t c = 0; c < 3; ++c)
      out.push_back(static_cast<int>(std::lround((real[192 * slot + 64 * c + i] + 1) * 127.5)));
  return out;
}

std::vector<int> levels_of(const fs::path& file) {
  const RgbImage image = read_square_image(file, 8);
  return {image.pixels.begin(), image.pixels.end()};
}

TEST(UnlabelledImages, GiveEachImageOnceAnEpochUnchanged) {
  const TemporaryFolder root;
  write_set(root.path());
  const auto source = open_source(unlabelled_spec(root.path()));
  EXPECT_EQ(source->size(), 7);
  EXPECT_EQ(source->steps_per_epoch(), 3);
  const UnlabelledListing listing = list_unlabelled_images(root.path(), Split::train, 8);
  std::vector<std::vector<int>> orders;
  for (const int64_t epoch : {0, 1}) {
    std::vector<int> seen;
    for (int64_t step = 1; step <= 3; ++step)
      for (size_t slot : {0, 1}) {
        const std::vector<int> sample = levels(source->batch_at(3 * epoch + step), slot);
        for (size_t i = 0; i < listing.files.size(); ++i)
          if (levels_of(listing.root / listing.files[i]) == sample) seen.push_back(static_cast<int>(i));
      }
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), 6);
    orders.push_back(seen);
  }
  EXPECT_NE(orders[0], orders[1]);
  std::vector<uint32_t> first = epoch_order(7, 0, 7);
  first.resize(6);  // the partial batch is dropped
  EXPECT_EQ(std::set<int>(first.begin(), first.end()), std::set(orders[0].begin(), orders[0].end()));
}

TEST(UnlabelledImages, LieBetweenMinusOneAndOneWithSharesDrawnByStepAndSample) {
  const TemporaryFolder root;
  RgbImage image{.size = {8, 8}, .pixels = std::vector<uint8_t>(192, 255)};
  for (size_t i = 0; i < 192; i += 3) {
    image.pixels[i] = 0;
    image.pixels[i + 1] = 51;
  }
  make_folder(root.path() / "train_8x8");
  for (const char* name : {"a.png", "b.PNG"}) write_file(root.path() / "train_8x8" / name, encode_png(image));
  const TensorMap batch = open_source(unlabelled_spec(root.path()))->batch_at(5);
  EXPECT_EQ(batch.at("real").shape(), (Shape{2, 3, 8, 8}));
  EXPECT_EQ(batch.at("alpha").shape(), (Shape{2, 1, 1, 1}));
  const std::vector<float> real = floats(batch, "real");
  for (size_t i = 0; i < 64; ++i) {
    EXPECT_EQ(real[i], -1);
    EXPECT_FLOAT_EQ(real[64 + i], -0.6f);
    EXPECT_EQ(real[128 + i], 1);
  }
  const Philox stream(7, "data/alpha");
  EXPECT_THAT(floats(batch, "alpha"), ElementsAre(static_cast<float>(stream.at(5, 0).uniform(0)),
                                                  static_cast<float>(stream.at(5, 1).uniform(0))));
}

TEST(UnlabelledImages, DoNotDependOnThreads) {
  const TemporaryFolder root;
  write_set(root.path());
  std::vector<std::vector<float>> batches;
  for (const int64_t threads : {0, 3}) {
    SourceSpec spec = unlabelled_spec(root.path());
    spec.threads = threads;
    const auto source = open_source(spec);
    for (int64_t step = 1; step <= 5; ++step) batches.push_back(floats(source->next(step), "real"));
  }
  for (size_t i = 0; i < 5; ++i) EXPECT_EQ(batches[i], batches[5 + i]) << i;
}

TEST(UnlabelledImages, ForValidationComeInTheListingsOrder) {
  const TemporaryFolder root;
  write_set(root.path());
  fs::rename(root.path() / "train_8x8", root.path() / "valid_8x8");
  SourceSpec spec = unlabelled_spec(root.path());
  spec.split = Split::val;
  const auto source = open_source(spec);
  EXPECT_EQ(source->steps_per_epoch(), 4);
  EXPECT_EQ(levels(source->batch_at(2), 1), levels_of(root.path() / "valid_8x8/3.jpg"));
  EXPECT_EQ(source->batch_at(4).at("real").shape()[0], 1);
}

TEST(UnlabelledImages, NameFilesOfAnotherSizeOrDamaged) {
  const TemporaryFolder root;
  write_set(root.path());
  SourceSpec spec = unlabelled_spec(root.path());
  spec.batch = 7;
  write_png(root.path() / "train_8x8/5.png", 5, {8, 9});
  const auto epoch = [&] {
    const auto source = open_source(spec);
    source->batch_at(1);
  };
  EXPECT_THAT(refusal_of(epoch), HasSubstr("train_8x8/5.png: an image of 8 x 9 pixels, not of 8 x 8"));
  const std::string whole = read_file(root.path() / "train_8x8/4.png");
  write_file(root.path() / "train_8x8/5.png", whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal_of(epoch), HasSubstr("train_8x8/5.png: truncated"));
  write_file(root.path() / "train_8x8/5.png", whole);
  EXPECT_EQ(refusal_of(epoch), "");
  write_png(root.path() / "train_8x8/0.png", 0, {16, 16});
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("0.png: an image of 16 x 16 pixels, not of 8 x 8"));
}

TEST(UnlabelledImages, RefuseFoldersThatCannotServe) {
  const TemporaryFolder root;
  SourceSpec spec = unlabelled_spec(root.path());
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("has no folder 'train_8x8'"));
  make_folder(root.path() / "train_8x8/deeper.png");
  write_file(root.path() / "train_8x8/notes.txt", "");
  write_file(root.path() / "train_8x8/.hidden.png", "");
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("train_8x8 has no image"));
  write_set(root.path());
  spec.image_size = 16;
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("has no folder 'train_16x16', only train_8x8"));
  spec.image_size = 8;
  spec.batch = 8;
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("batch 8 is larger than the data set"));
  spec.split = Split::val;
  EXPECT_THAT(refusal_of([&] { open_source(spec); }), HasSubstr("has no folder 'valid_8x8'"));
}

TEST(UnlabelledImages, TheirSizeIsThatOfTheOneTrainingFolder) {
  const TemporaryFolder root;
  EXPECT_THAT(refusal_of([&] { only_image_size(root.path()); }), HasSubstr("has no folder 'train_SxS'"));
  make_folder(root.path() / "train_64x64");
  make_folder(root.path() / "train_64x32");
  make_folder(root.path() / "train_x");
  EXPECT_EQ(only_image_size(root.path()), 64);
  make_folder(root.path() / "train_8x8");
  EXPECT_THAT(refusal_of([&] { only_image_size(root.path()); }), HasSubstr("several sizes: train_8x8, train_64x64"));
}

TEST(UnlabelledImages, SyntheticOnesAreNoiseOfAllLevels) {
  SourceSpec spec{.batch = 4, .image_size = 8, .labelled = false, .seed = 3};
  const auto source = open_source(spec);
  EXPECT_FALSE(source->size());
  const TensorMap batch = source->batch_at(2);
  double sum = 0, squares = 0;
  const std::vector<float> real = floats(batch, "real");
  for (const float value : real) {
    const double level = (value + 1) * 127.5;
    EXPECT_NEAR(level, std::lround(level), 1e-4);
    EXPECT_LE(std::abs(value), 1);
    sum += value;
    squares += double{value} * value;
  }
  const auto count = static_cast<double>(real.size());
  EXPECT_NEAR(sum / count, 0, 0.1);
  EXPECT_NEAR(squares / count, 1 / 3., 0.05);
  const uint32_t word = Philox(3, "data/synthetic_levels").at(2, 1).word(1);
  EXPECT_FLOAT_EQ(real[192 + 5], static_cast<float>(word >> 8 & 255) / 127.5f - 1);
  EXPECT_NE(floats(source->batch_at(3), "real"), real);
}

TEST(UnlabelledImages, TheCheckReadsAllAndListsWhatCannotBeUsed) {
  const TemporaryFolder root;
  write_set(root.path());
  write_png(root.path() / "valid_8x8/1.png", 1, {8, 8});
  write_png(root.path() / "train_8x8/0.png", 1, {4, 4});
  write_file(root.path() / "train_8x8/5.png", "");
  const CheckedData data = check_data(unlabelled_spec(root.path()));
  ASSERT_EQ(data.splits.size(), 2);
  EXPECT_EQ(data.splits[0].samples, 5);
  ASSERT_EQ(data.splits[0].left_out.size(), 2);
  EXPECT_EQ(data.splits[0].left_out[0].path, "train_8x8/0.png");
  EXPECT_THAT(data.splits[0].left_out[0].reason, HasSubstr("4 x 4 pixels, not of 8 x 8"));
  EXPECT_EQ(data.splits[1].samples, 1);
  EXPECT_FALSE(data.classes);
}

TEST(UnlabelledImages, MatchTheInputsOfTheWganGpProgram) {
  const std::vector<WantedInput> inputs = {{"real", {4, 3, 8, 8}}, {"z", {4, 5}}, {"alpha", {4, 1, 1, 1}}};
  EXPECT_EQ(kind_of_files(inputs), SourceKind::unlabelled_images);
  const SourceSpec fits = fitted({.kind = SourceKind::unlabelled_images}, inputs).value();
  EXPECT_EQ(fits.batch, 4);
  EXPECT_EQ(fits.image_size, 8);
  EXPECT_FALSE(fitted({.kind = SourceKind::image_folder}, inputs));
  EXPECT_FALSE(fitted({}, inputs)->labelled);
  const std::vector<WantedInput> noise = {{"z", {4, 5}}}, oblong = {{"real", {4, 3, 8, 9}}};
  EXPECT_FALSE(kind_of_files(noise));
  EXPECT_FALSE(fitted({}, oblong));
  EXPECT_EQ(source_spec_from(source_spec_json(fits)), fits);
}

}  // namespace
}  // namespace tbd
