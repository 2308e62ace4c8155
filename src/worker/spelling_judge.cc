#include "worker/spelling_judge.h"

#include <cstring>

#include "data/transcripts.h"
#include "quality/ctc_decoding.h"
#include "quality/error_rate.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

// (N, T, labels) of any float type -> f32 (T, N, labels)
HostTensor steps_first(const HostTensor& logits) {
  const HostTensor from = converted(logits, DType::f32);
  const int64_t samples = from.shape()[0], steps = from.shape()[1], labels = from.shape()[2];
  HostTensor out(DType::f32, {steps, samples, labels});
  const float* source = from.as<float>().data();
  float* target = out.as<float>().data();
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t t = 0; t < steps; ++t)
      std::memcpy(target + (t * samples + n) * labels, source + (n * steps + t) * labels,
                  static_cast<size_t>(labels) * sizeof(float));
  return out;
}

class SpellingJudge final : public Judge {
 public:
  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    const auto rows = [&](const char* name) { return converted(sample_rows(batch.at(name), 0, samples), DType::i32); };
    const HostTensor frames = rows("frames"), labels = rows("labels"), lengths = rows("label_len");
    std::vector<int32_t> steps;
    for (const int32_t each : frames.as<int32_t>()) steps.push_back(static_cast<int32_t>(speech_steps(each)));
    const auto found = greedy_ctc(steps_first(sample_rows(answers.at("logits"), 0, samples)), steps, kBlankLabel);
    const auto places = static_cast<size_t>(labels.shape()[1]);
    for (size_t n = 0; n < found.size(); ++n) {
      const auto length = static_cast<size_t>(lengths.as<int32_t>()[n]);
      said_.push_back(spelled(labels.as<int32_t>().subspan(n * places, length)));
      heard_.push_back(spelled(found[n]));
    }
  }

  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics;
    if (const auto rate = word_errors(said_, heard_).rate()) metrics["wer"] = *rate;
    if (const auto rate = character_errors(said_, heard_).rate()) metrics["cer"] = *rate;
    return metrics;
  }

 private:
  std::vector<std::string> said_, heard_;
};

}  // namespace

std::unique_ptr<Judge> spelling_judge() { return std::make_unique<SpellingJudge>(); }

}  // namespace tbd
