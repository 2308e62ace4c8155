#include "data/speech/speech_spec.h"

#include <algorithm>

#include "base/codec.h"

namespace tbd {

template <codec::Is<SpeechSpec> T>
void fields(T& spec, auto visit) {
  visit("wanted", spec.wanted);
  visit("buckets", spec.buckets);
  visit("bucket", spec.bucket);
  visit("labels", spec.labels);
}

Json to_json_value(const SpeechSpec& spec) { return codec::write_fields<codec::JsonForm::settings>(spec); }
void from_json_value(const Json& json, SpeechSpec& spec) { codec::read_fields<codec::JsonForm::settings>(json, spec); }

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
          "the requested bucket is not among the buckets of speech");
}

}  // namespace tbd
