#include "data/resampler.h"

#include <algorithm>

#include "base/error.h"
#include "data/resample_rows.h"

namespace tbd {

const uint8_t* Resampler::kept(int64_t row) const { return rows_.data() + (row % ring_) * stride_; }

void Resampler::run(const AxisFilter& vertical, const AxisFilter& horizontal, int64_t width, const ReadRow& read_row,
                    const Normalisation& normalisation, std::span<float> out) {
  const int64_t plane = vertical.size() * horizontal.size();
  require(static_cast<int64_t>(out.size()) == 3 * plane, "the output needs ", 3 * plane, " floats, got ", out.size());
  require(horizontal.begin >= 0 && horizontal.end <= width, "the filter reads past a row of ", width, " pixels");
  float scale[3], shift[3];
  for (int c = 0; c < 3; ++c) {
    scale[c] = 1 / (255 * normalisation.deviation[c]);
    shift[c] = -normalisation.mean[c] / normalisation.deviation[c];
  }
  ring_ = vertical.taps;
  stride_ = 3 * width;
  rows_.resize(static_cast<size_t>(ring_ * stride_));
  mixed_.resize(static_cast<size_t>(stride_ + 1));

  // Only the columns that the horizontal filter reads are summed.
  const int64_t from = 3 * horizontal.begin, count = 3 * (horizontal.end - horizontal.begin);
  std::vector<const uint8_t*> rows(static_cast<size_t>(vertical.taps));
  int64_t read = vertical.begin;
  for (int64_t i = 0; i < vertical.size(); ++i) {
    const int64_t first = vertical.first[static_cast<size_t>(i)];
    for (; read < first + vertical.taps; ++read) read_row(rows_.data() + (read % ring_) * stride_);
    for (int64_t k = 0; k < vertical.taps; ++k) rows[static_cast<size_t>(k)] = kept(first + k) + from;
    mix_rows(rows.data(), vertical.row(i), vertical.taps, count, mixed_.data() + from);
    filter_row(horizontal, mixed_.data(), scale, shift, out.data() + i * horizontal.size(), plane);
  }
}

}  // namespace tbd
