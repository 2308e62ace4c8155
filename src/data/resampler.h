// Separable resampling of 8-bit RGB rows to normalised float planes, in one pass over the rows.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "data/axis_filter.h"
#include "data/crop_plan.h"

namespace tbd {

// Keeps its buffers from image to image; one per thread.
class Resampler {
 public:
  // Writes the next row, interleaved RGB; called for the rows vertical.begin ... vertical.end - 1, in order.
  using ReadRow = std::function<void(uint8_t* rgb)>;

  // out[c, i, j] = (sum of v(i, k) * h(j, l) * row[k][l, c] / 255 - mean[c]) / deviation[c], float32, with
  // out (3, vertical.size(), horizontal.size()). `width` is the pixels of a row; horizontal counts from its start.
  void run(const AxisFilter& vertical, const AxisFilter& horizontal, int64_t width, const ReadRow& read_row,
           const Normalisation& normalisation, std::span<float> out);

 private:
  const uint8_t* kept(int64_t row) const;

  std::vector<uint8_t> rows_;  // the last `ring_` rows read
  std::vector<float> mixed_;   // one row after the vertical sum
  int64_t ring_ = 0, stride_ = 0;
};

}  // namespace tbd
