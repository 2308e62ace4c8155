#include "data/audio_resample.h"

#include <samplerate.h>

#include "base/error.h"

namespace tbd {

int64_t resampled_length(int64_t samples, int64_t from, int64_t to) { return (2 * samples * to + from) / (2 * from); }

std::vector<float> resampled(std::span<const float> samples, int64_t from, int64_t to) {
  if (from == to) return {samples.begin(), samples.end()};
  std::vector<float> out(static_cast<size_t>(resampled_length(static_cast<int64_t>(samples.size()), from, to)));
  SRC_DATA data{.data_in = samples.data(),
                .data_out = out.data(),
                .input_frames = static_cast<long>(samples.size()),
                .output_frames = static_cast<long>(out.size()),
                .src_ratio = static_cast<double>(to) / static_cast<double>(from)};
  // What it gives less at the end stays silence.
  if (const int code = ::src_simple(&data, SRC_SINC_BEST_QUALITY, 1); code != 0)
    fail(ErrorKind::invalid, "resampling from ", from, " to ", to, " Hz: ", ::src_strerror(code));
  return out;
}

}  // namespace tbd
