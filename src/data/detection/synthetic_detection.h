// Pictures of noise with random boxes and elliptic masks, for gates and for measuring without a data set.
#pragma once
#include <memory>

#include "data/detection/detection_sample.h"
#include "data/samples.h"

namespace tbd {

// The objects of sample `slot` of the batch of `step`. The picture is the whole of spec.detection.height x width; for
// odd slots an eighth of either extent, rounded down, is padding. Draws: uniforms of stream data/synthetic_box (step,
// sample = slot). 0: the number of boxes, 1 + floor(u * min(objects, 12)). Box k: 5 k + 1 its longer side, log-uniform
// from max(8, height / 32) to 0.8 of the picture's shorter side; 5 k + 2 height over width, log-uniform from 1/2 to 2;
// 5 k + 3 and 5 k + 4 x and y of the centre, uniform; 5 k + 5 the label, 1 + floor(u * (slots - 1)). Boxes are clipped
// to the picture and rounded to float32.
DetectionSample synthetic_objects(const SourceSpec& spec, int64_t step, int64_t slot, bool with_masks);

// The pixels (y, x) with (2x+1-X1-X2)^2 (Y2-Y1)^2 + (2y+1-Y1-Y2)^2 (X2-X1)^2 <= (X2-X1)^2 (Y2-Y1)^2, where X1 and Y1
// are the box's upper left corner rounded down and X2 and Y2 the lower right one rounded up; as DetectionSample has
// masks.
RunLengths ellipse_mask(const std::array<float, 4>& box, ImageSize size);

// image: noise as of synthetic_samples, its index counting elements of the padded image, and 0 in the padding. No end.
std::unique_ptr<Samples> synthetic_detection_samples(const SourceSpec& spec);

}  // namespace tbd
