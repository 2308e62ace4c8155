// Pictures of what a detector found: masks, boxes and labels drawn on an image.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>

#include "data/crop_plan.h"
#include "data/jpeg_decoder.h"
#include "host/run_lengths.h"

namespace tbd {

struct DrawnObject {
  std::array<float, 4> box = {};  // x1 y1 x2 y2 in pixels; it is cut to the image
  std::string label;              // a category's name; bitmap_font.h has the letters that show
  std::optional<double> score;    // shown as whole percent
  size_t category = 0;            // picks the colour; 8 colours take turns
  RunLengths mask;                // of the image's size; without runs for none
};

// The image of a network's input (3, height, width), `normalisation` undone, cut to 0 ... 255.
// Throws Error(invalid) when the count of values is another one.
RgbImage image_of_input(std::span<const float> input, ImageSize size, const Normalisation& normalisation = {});

// First the masks, translucent, then frames, then labels; within each later objects over earlier ones. A label is above
// its box, or in it where there is no room above. Throws Error(invalid) for a mask of another size or a box that is not
// finite, naming the object by its index.
RgbImage draw_objects(RgbImage image, std::span<const DrawnObject> objects);

}  // namespace tbd
