// Deep Speech 2 learns to spell: after a short run on short recorded prompts the character error rate of its best paths
// on held-out prompts lies by the amount stated here below 1, that of a network that spells nothing, on the mean of
// three seeds, and after the same run on shuffled transcripts it does not. Prompts are of one voice; no text is in both
// splits. They are made by the set-up (docs/data.md); without them the test is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <future>

#include "base/json.h"
#include "data/transcripts.h"
#include "lesson_worker.h"
#include "quality/ctc_decoding.h"
#include "quality/error_rate.h"
#include "shuffled_sets.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kSpeechBatch = 8, kSpeechSteps = 700, kHeldOutSpeechSteps = 4;
constexpr double kSpeechRate = 5e-3;
// Of the characters of all held-out prompts. When it was set the seeds had 0.38, 0.36 and 0.19, in the mean 0.31,
// shuffled transcripts 0.12.
constexpr double kSpeechAmount = 0.2;

// (N, T, labels) -> (T, N, labels)
HostTensor steps_first(const HostTensor& x) {
  const auto samples = x.shape()[0], steps = x.shape()[1], labels = x.shape()[2];
  HostTensor out(DType::f32, {steps, samples, labels});
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t t = 0; t < steps; ++t)
      std::ranges::copy_n(x.as<float>().begin() + (n * steps + t) * labels, labels,
                          out.as<float>().begin() + (t * samples + n) * labels);
  return out;
}

std::vector<std::string> said(const TensorMap& batch) {
  const HostTensor& labels = batch.at("labels");
  const auto places = static_cast<size_t>(labels.shape()[1]);
  std::vector<std::string> texts;
  for (const int32_t length : batch.at("label_len").as<int32_t>())
    texts.push_back(spelled(labels.as<int32_t>().subspan(texts.size() * places, static_cast<size_t>(length))));
  return texts;
}

std::vector<std::string> best_paths(const LessonWorker::Seen& seen) {
  std::vector<int32_t> steps;
  for (const int32_t frames : seen.inputs.at("frames").as<int32_t>())
    steps.push_back(static_cast<int32_t>(speech_steps(frames)));
  std::vector<std::string> texts;
  for (const auto& labels : greedy_ctc(steps_first(seen.outputs.at("output/logits")), steps))
    texts.push_back(spelled(labels));
  return texts;
}

class SpeechLearning : public testing::TestWithParam<Learner> {
 protected:
  void SetUp() override {
    const std::string not_here = no_lesson(GetParam(), "deep_speech_2", "small", settings_);
    if (!not_here.empty()) GTEST_SKIP() << not_here;
    if (!fs::exists(prompts_ / ".ready")) GTEST_SKIP() << "the set-up made no prompts";
  }
  static Json source(const fs::path& prompts, const std::string& split) {
    return {{"path", prompts.string()}, {"split", split}, {"seed", 1}};
  }

  double error_rate(LessonWorker& worker) const {
    ErrorCount count;
    for (int64_t step = 1; step <= kHeldOutSpeechSteps; ++step) {
      const LessonWorker::Seen seen = worker.look(source(prompts_, "val"), step);
      const ErrorCount each = character_errors(said(seen.inputs), best_paths(seen));
      count.edits += each.edits;
      count.reference += each.reference;
    }
    return count.rate().value();
  }
  // The rate after `steps` of training on `prompts` with this seed. Files lie in a folder of this name.
  double rate_after(int64_t steps, const fs::path& prompts, uint64_t seed, const std::string& name) const {
    const fs::path folder = folder_.path() / name;
    make_folder(folder);
    LessonWorker worker(lesson_cell(GetParam(), "deep_speech_2", "small", kSpeechBatch, seed), settings_, folder);
    if (steps > 0) worker.mean_loss(source(prompts, "train"), steps, kSpeechRate);
    return error_rate(worker);
  }
  // A whole lesson beside others: each has one thread.
  std::future<double> lesson(const fs::path& prompts, uint64_t seed, const std::string& name) const {
    return std::async(std::launch::async, [=, this] { return rate_after(kSpeechSteps, prompts, seed, name); });
  }

  TemporaryFolder folder_{"tbd-speech-learning"};
  RunnerSettings settings_ = lesson_settings(folder_.path() / "cache");
  fs::path prompts_ = small_sets() / "prompts";
};

TEST_P(SpeechLearning, LowersTheCharacterErrorRateOnHeldOutPromptsAndNotOnShuffledTranscripts) {
  std::vector<std::future<double>> rates;
  for (const uint64_t seed : GetParam().seeds) rates.push_back(lesson(prompts_, seed, cat("seed-", seed)));
  if (GetParam().shuffled) {
    const fs::path shuffled = folder_.path() / "shuffled";
    shuffle_transcripts(prompts_, shuffled);
    EXPECT_GT(lesson(shuffled, 1, "control").get(), 1 - kSpeechAmount) << "shuffled transcripts";
  }
  double sum = 0;
  for (std::future<double>& rate : rates) sum += rate.get();
  EXPECT_LE(sum / static_cast<double>(rates.size()), 1 - kSpeechAmount);
  EXPECT_GE(rate_after(0, prompts_, 1, "untrained"), 1) << "nothing is known before training";
}
INSTANTIATE_TEST_SUITE_P(Frameworks, SpeechLearning, testing::ValuesIn(learners({1, 2, 3})),
                         testing::PrintToStringParamName());

}  // namespace
}  // namespace tbd
