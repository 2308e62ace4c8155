#include "data/speech/speech_spec.h"

#include <algorithm>

#include "base/json.h"

namespace tbd {

Json speech_spec_json(const SpeechSpec& spec) {
  return {
      {"wanted", spec.wanted}, {"buckets", spec.buckets}, {"bucket", or_null(spec.bucket)}, {"labels", spec.labels}};
}

SpeechSpec speech_spec_from(const Json& json, SpeechSpec spec) {
  spec.wanted = maybe<bool>(json, "wanted").value_or(spec.wanted);
  if (auto buckets = maybe<std::vector<int64_t>>(json, "buckets")) spec.buckets = std::move(*buckets);
  if (const auto bucket = maybe<int64_t>(json, "bucket")) spec.bucket = bucket;
  spec.labels = maybe<int64_t>(json, "labels").value_or(spec.labels);
  return spec;
}

void check(const SpeechSpec& spec) {
  constexpr int64_t kLongest = 1 << 20;
  require(spec.labels >= 1 && spec.labels <= kLongest, "labels must be from 1 to ", kLongest, ", got ", spec.labels);
  require(!spec.buckets.empty() && spec.buckets.size() < 1 << 10, "one to 1023 buckets of speech, got ",
          spec.buckets.size());
  for (size_t i = 0; i < spec.buckets.size(); ++i) {
    const int64_t frames = spec.buckets[i];
    require(frames >= 2 && frames <= kLongest, "a bucket's frames must be from 2 to ", kLongest, ", got ", frames);
    require(i == 0 || frames > spec.buckets[i - 1], "buckets of speech must ascend; number ", i + 1, " is ", frames);
  }
  require(!spec.bucket || std::ranges::count(spec.buckets, *spec.bucket),
          "the bucket asked for is not among the buckets of speech");
}

}  // namespace tbd
