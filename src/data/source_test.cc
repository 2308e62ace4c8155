#include "data/source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

SourceSpec synthetic_images(int64_t threads = 1) {
  return {.batch = 8, .image_size = 32, .classes = 10, .seed = 0x1234567890, .threads = threads};
}

std::string source_refusal(const Json& json) {
  try {
    open_source(source_spec_from(json));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(SourceSpec, SurvivesJson) {
  const SourceSpec spec{.kind = SourceKind::image_folder,
                        .path = "some/where",
                        .split = Split::val,
                        .batch = 3,
                        .image_size = 64,
                        .classes = 10,
                        .text = {.task = TextTask::squad, .length = 77},
                        .seed = ~uint64_t{0},
                        .threads = 4,
                        .prefetch = 5,
                        .first_step = 9};
  EXPECT_EQ(source_spec_from(parse_json(source_spec_json(spec).dump(), "spec")), spec);
}

TEST(SourceSpec, AbsentKeysKeepTheirDefaults) {
  EXPECT_EQ(source_spec_from(Json{{"kind", "synthetic"}}), SourceSpec{});
}

TEST(SourceSpec, AbsentKeysKeepWhatIsGivenThoseOfTextOneByOne) {
  const SourceSpec given{.text = {.strict = true, .length = 77}, .seed = 3};
  const SourceSpec spec = source_spec_from({{"kind", "squad"}, {"text", {{"stride", 5}}}}, given);
  EXPECT_EQ(spec.seed, 3);
  EXPECT_EQ(spec.text, (TextSpec{.strict = true, .length = 77, .stride = 5}));
}

TEST(SourceSpec, NamesWhatIsWrong) {
  EXPECT_EQ(source_refusal(Json::object()), "'kind' is missing");
  EXPECT_NE(source_refusal({{"kind", "image_foldr"}}).find("image_folder"), std::string::npos);
  EXPECT_NE(source_refusal({{"kind", "synthetic"}, {"split", "test"}}).find("test"), std::string::npos);
  EXPECT_EQ(source_refusal({{"kind", "synthetic"}, {"batch", 0}}), "batch must be from 1 to 1048576, got 0");
  EXPECT_EQ(source_refusal({{"kind", "synthetic"}, {"threads", -1}}), "threads must be from 0 to 4096, got -1");
  EXPECT_EQ(source_refusal({{"kind", "synthetic"}, {"prefetch", 0}}), "prefetch must be from 1 to 4096, got 0");
  EXPECT_EQ(source_refusal({{"kind", "image_folder"}}), "a data set needs a path");
}

TEST(Synthetic, IsDecidedBySeedStepAndPlaceAlone) {
  const auto one = open_source(synthetic_images()), four = open_source(synthetic_images(4));
  for (int64_t step = 1; step <= 4; ++step) {
    const TensorMap a = one->next(step), b = four->next(step), c = one->batch_at(step);
    for (const char* name : {"image", "label"}) {
      EXPECT_EQ(a.at(name).shape(), b.at(name).shape());
      EXPECT_TRUE(std::equal(a.at(name).bytes().begin(), a.at(name).bytes().end(), b.at(name).bytes().begin()));
      EXPECT_TRUE(std::equal(a.at(name).bytes().begin(), a.at(name).bytes().end(), c.at(name).bytes().begin()));
    }
  }
}

TEST(Synthetic, IsTheDocumentedFunctionOfPhilox) {
  const TensorMap batch = open_source(synthetic_images())->batch_at(3);
  const Philox image(0x1234567890, "data/synthetic", 3, 5), label(0x1234567890, "data/synthetic_label", 3, 5);
  for (const uint64_t element : {0u, 1u, 6u, 1027u, 3071u}) {
    const uint32_t word = image.word(element);
    const int sum = static_cast<int>((word & 255) + (word >> 8 & 255) + (word >> 16 & 255) + (word >> 24));
    EXPECT_NEAR(batch.at("image").as<float>()[5 * 3072 + element], (sum - 510) / std::sqrt(21845.0), 1e-5);
  }
  EXPECT_EQ(batch.at("label").as<int32_t>()[5], static_cast<int32_t>(label.uniform(0) * 10));
}

TEST(Synthetic, HasMeanZeroVarianceOneAndEveryLabel) {
  const auto source = open_source(synthetic_images());
  double sum = 0, squares = 0, count = 0;
  std::vector<int> seen(10);
  for (int64_t step = 1; step <= 20; ++step) {
    const TensorMap batch = source->next(step);
    for (const float x : batch.at("image").as<float>()) {
      sum += x;
      squares += double{x} * x;
      ++count;
    }
    for (const int32_t label : batch.at("label").as<int32_t>()) ++seen.at(static_cast<size_t>(label));
  }
  EXPECT_NEAR(sum / count, 0, 0.006);
  EXPECT_NEAR(squares / count, 1, 0.01);
  for (const int n : seen) EXPECT_GT(n, 3);
}

TEST(Synthetic, HasNoEnd) {
  const auto source = open_source(synthetic_images());
  EXPECT_EQ(source->size(), std::nullopt);
  EXPECT_EQ(source->steps_per_epoch(), std::nullopt);
  EXPECT_EQ(source->data_hash(), std::nullopt);
}

}  // namespace
}  // namespace tbd
