// WGAN-GP learns: after a short run on crops of photographs the generator's images have nearly the colours of held-out
// crops, and the critic's estimate of their distance from them is small, by the amounts stated here and whatever the
// seed. A critic that trains as often against a generator that stays as it was finds it far away, and no image comes
// nearer. The crops are made by the set-up (docs/data.md); without them the test is skipped.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "base/json.h"
#include "data/image_file.h"
#include "data/png_encoder.h"
#include "lesson_worker.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kCropBatch = 16, kCropSteps = 100, kHeldOutCropSteps = 9;  // of 300 crops, two batches each

constexpr int64_t kCrop = 64, kImage = 16, kChannels = 3;
constexpr double kCropRate = 3e-3;
// Of seeds 1, 2, 3 when the bounds were set: nearer by 0.49, 0.23, 0.39, estimates 2.38, 1.71, 0.79; of the critic
// alone 0 and 32.8.
constexpr double kNearer = 0.15, kEstimate = 5, kFarEstimate = 15;

// Means of squares of pixels.
RgbImage reduced(const RgbImage& crop) {
  constexpr int64_t kFactor = kCrop / kImage;
  RgbImage image{{kImage, kImage}, std::vector<uint8_t>(kImage * kImage * kChannels)};
  for (int64_t i = 0; i < kImage * kImage * kChannels; ++i) {
    const int64_t c = i % kChannels, x = i / kChannels % kImage, y = i / kChannels / kImage;
    int64_t sum = 0;
    for (int64_t p = 0; p < kFactor * kFactor; ++p) {
      const int64_t row = y * kFactor + p / kFactor, column = x * kFactor + p % kFactor;
      sum += crop.pixels[static_cast<size_t>((row * kCrop + column) * kChannels + c)];
    }
    image.pixels[static_cast<size_t>(i)] = static_cast<uint8_t>(sum / (kFactor * kFactor));
  }
  return image;
}

// The set's crops at the size of the smallest configuration.
void reduce_crops(const fs::path& from, const fs::path& to) {
  for (const std::string split : {"train", "valid"}) {
    const fs::path folder = to / cat(split, "_", kImage, "x", kImage);
    make_folder(folder);
    for (const auto& entry : fs::directory_iterator(from / cat(split, "_", kCrop, "x", kCrop)))
      write_file(folder / entry.path().filename(), encode_png(reduced(read_square_image(entry.path(), kCrop))));
  }
}

// Of each colour channel over all pixels of images (N, 3, H, W): mean, and standard deviation, levels from -1 to 1.
class Colours {
 public:
  void add(const HostTensor& images) {
    const std::span<const float> values = images.as<float>();
    const auto plane = static_cast<size_t>(images.shape()[2] * images.shape()[3]);
    for (size_t i = 0; i < values.size(); ++i) {
      const size_t c = i / plane % kChannels;
      sum_[c] += values[i];
      squares_[c] += values[i] * values[i];
    }
    count_ += static_cast<double>(values.size()) / kChannels;
  }
  // Euclidean, of the six numbers.
  double distance(const Colours& other) const {
    double squares = 0;
    for (size_t c = 0; c < kChannels; ++c)
      squares += std::pow(mean(c) - other.mean(c), 2) + std::pow(deviation(c) - other.deviation(c), 2);
    return std::sqrt(squares);
  }

 private:
  double mean(size_t c) const { return sum_[c] / count_; }
  double deviation(size_t c) const { return std::sqrt(squares_[c] / count_ - mean(c) * mean(c)); }
  std::array<double, kChannels> sum_ = {}, squares_ = {};
  double count_ = 0;
};

double mean_of(const HostTensor& tensor) {
  double sum = 0;
  for (const float value : tensor.as<float>()) sum += value;
  return sum / static_cast<double>(tensor.shape().elements());
}

// What is seen of a pair on held-out crops.
struct Seen {
  double distance = 0;  // between the colours of generated and real images
  double estimate = 0;  // mean critic(real) - mean critic(generated)
};

class AdversarialLearning : public testing::TestWithParam<Learner> {
 protected:
  void SetUp() override {
    const std::string not_here = no_lesson(GetParam(), "wgan_gp", "tiny", settings_);
    if (!not_here.empty()) GTEST_SKIP() << not_here;
    if (!fs::exists(small_sets() / "crops/.ready")) GTEST_SKIP() << "the set-up made no crops";
    reduce_crops(small_sets() / "crops", crops());
  }
  fs::path crops() const { return folder_.path() / "crops"; }
  Json source(const std::string& split) const { return {{"path", crops().string()}, {"split", split}, {"seed", 1}}; }

  LessonWorker pair(uint64_t seed) const {
    return LessonWorker(lesson_cell(GetParam(), "wgan_gp", "tiny", kCropBatch, seed), settings_, folder_.path());
  }
  Seen seen(LessonWorker& worker) const {
    Seen seen;
    Colours real, fake;
    for (int64_t step = 1; step <= kHeldOutCropSteps; ++step) {
      const LessonWorker::Seen critic = worker.look(source("val"), step, "critic");
      real.add(critic.inputs.at("critic.0/real"));
      seen.estimate += (mean_of(critic.outputs.at("output/d_real")) - mean_of(critic.outputs.at("output/d_fake"))) /
                       static_cast<double>(kHeldOutCropSteps);
      fake.add(worker.look(source("val"), step, "generator").outputs.at("output/fake"));
    }
    seen.distance = real.distance(fake);
    return seen;
  }

  TemporaryFolder folder_{"tbd-adversarial-learning"};
  RunnerSettings settings_ = lesson_settings(folder_.path() / "cache");
};

TEST_P(AdversarialLearning, BringsColoursAndTheCriticsEstimateNearHeldOutCrops) {
  for (const uint64_t seed : GetParam().seeds) {
    LessonWorker worker = pair(seed);
    const Seen before = seen(worker);
    worker.mean_loss(source("train"), kCropSteps, kCropRate);
    const Seen after = seen(worker);
    EXPECT_GE(before.distance - after.distance, kNearer) << "seed " << seed;
    EXPECT_LE(std::abs(after.estimate), kEstimate) << "seed " << seed;
  }
}

TEST_P(AdversarialLearning, ComesNoNearerWhereOnlyTheCriticLearns) {
  if (!GetParam().shuffled) GTEST_SKIP() << "PyTorch's first lesson shows it";
  constexpr int64_t kCriticSteps = 2;  // of tiny, in a step
  LessonWorker worker = pair(1);
  const Seen before = seen(worker);
  worker.mean_loss(source("train"), kCriticSteps * kCropSteps, kCropRate, "critic");
  const Seen after = seen(worker);
  EXPECT_LT(before.distance - after.distance, kNearer);
  EXPECT_GE(after.estimate, kFarEstimate) << "the critic learns all the same";
}
INSTANTIATE_TEST_SUITE_P(Frameworks, AdversarialLearning, testing::ValuesIn(learners()),
                         testing::PrintToStringParamName());
INSTANTIATE_TEST_SUITE_P(FurtherSeeds, AdversarialLearning, testing::ValuesIn(further_seeds()),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tbd
