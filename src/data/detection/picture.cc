#include "data/detection/picture.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "data/detection/bitmap_font.h"

namespace tbd {
namespace {

using Colour = std::array<uint8_t, 3>;

// Told apart by colour-blind readers too: Wong 2011, "Points of view: color blindness", Nature Methods 8, 441.
constexpr Colour kColours[] = {{230, 159, 0}, {86, 180, 233}, {0, 158, 115},   {240, 228, 66},
                               {0, 114, 178}, {213, 94, 0},   {204, 121, 167}, {255, 255, 255}};
constexpr Colour kBlack = {0, 0, 0}, kWhite = {255, 255, 255};
constexpr int kMaskShare = 115;  // of 256, of a mask's colour

Colour colour_of(const DrawnObject& object) { return kColours[object.category % std::size(kColours)]; }
// Black or white, whichever is easier to read on it (luma of Rec. 601).
Colour ink_on(const Colour& paper) {
  return 299 * paper[0] + 587 * paper[1] + 114 * paper[2] > 128'000 ? kBlack : kWhite;
}

struct Pixels {  // of pixels; right and bottom are not in it
  int64_t left, top, right, bottom;
};

class Canvas {
 public:
  explicit Canvas(RgbImage& image) : image_(image) {}

  int64_t width() const { return image_.size.width; }
  int64_t height() const { return image_.size.height; }

  void fill(const Pixels& area, const Colour& colour) {
    for (int64_t y = std::max<int64_t>(area.top, 0); y < std::min(area.bottom, height()); ++y)
      for (int64_t x = std::max<int64_t>(area.left, 0); x < std::min(area.right, width()); ++x)
        std::ranges::copy(colour, pixel(x, y));
  }
  void tint(int64_t x, int64_t y, const Colour& colour) {
    uint8_t* at = pixel(x, y);
    for (size_t c = 0; c < colour.size(); ++c)
      at[c] = static_cast<uint8_t>((at[c] * (256 - kMaskShare) + colour[c] * kMaskShare + 128) / 256);
  }

 private:
  uint8_t* pixel(int64_t x, int64_t y) { return image_.pixels.data() + 3 * (y * width() + x); }

  RgbImage& image_;
};

// Thickness of a frame, and side of a glyph's pixel.
int64_t stroke_for(const Canvas& canvas) {
  return std::max<int64_t>(1, std::min(canvas.width(), canvas.height()) / 200);
}

Pixels pixels_of(const std::array<float, 4>& box, const Canvas& canvas) {
  const auto cut = [](float edge, int64_t most) {
    return static_cast<int64_t>(std::lround(std::clamp(edge, 0.0f, static_cast<float>(most))));
  };
  return {cut(box[0], canvas.width()), cut(box[1], canvas.height()), cut(box[2], canvas.width()),
          cut(box[3], canvas.height())};
}

void tint_mask(Canvas& canvas, const DrawnObject& object) {
  const Colour colour = colour_of(object);
  int64_t begin = 0;
  for (size_t i = 0; i < object.mask.runs.size(); ++i) {
    const int64_t end = begin + object.mask.runs[i];
    for (int64_t at = begin; i % 2 == 1 && at < end; ++at)
      canvas.tint(at / object.mask.height, at % object.mask.height, colour);
    begin = end;
  }
}

void draw_frame(Canvas& canvas, const DrawnObject& object) {
  const Pixels box = pixels_of(object.box, canvas);
  const int64_t stroke = stroke_for(canvas);
  const Colour colour = colour_of(object);
  canvas.fill({box.left, box.top, box.right, std::min(box.top + stroke, box.bottom)}, colour);
  canvas.fill({box.left, std::max(box.bottom - stroke, box.top), box.right, box.bottom}, colour);
  canvas.fill({box.left, box.top, std::min(box.left + stroke, box.right), box.bottom}, colour);
  canvas.fill({std::max(box.right - stroke, box.left), box.top, box.right, box.bottom}, colour);
}

std::string label_text(const DrawnObject& object) {
  if (!object.score) return object.label;
  return cat(object.label, object.label.empty() ? "" : " ", std::lround(100 * *object.score), "%");
}

void draw_label(Canvas& canvas, const DrawnObject& object) {
  const std::string text = label_text(object);
  if (text.empty()) return;
  const int64_t dot = stroke_for(canvas), advance = (kGlyphWidth + 1) * dot;
  const int64_t width = static_cast<int64_t>(text.size()) * advance + dot, height = (kGlyphHeight + 2) * dot;
  const Pixels box = pixels_of(object.box, canvas);
  const int64_t left = std::max<int64_t>(0, std::min(box.left, canvas.width() - width));
  const int64_t top = box.top >= height ? box.top - height : box.top;
  const Colour paper = colour_of(object), ink = ink_on(paper);
  canvas.fill({left, top, left + width, top + height}, paper);
  for (size_t i = 0; i < text.size(); ++i)
    for (int64_t row = 0; row < kGlyphHeight; ++row)
      for (int64_t column = 0; column < kGlyphWidth; ++column) {
        const bool set = (glyph_of(text[i])[static_cast<size_t>(row)] >> (kGlyphWidth - 1 - column) & 1) != 0;
        const int64_t x = left + static_cast<int64_t>(i) * advance + (column + 1) * dot, y = top + (row + 1) * dot;
        if (set) canvas.fill({x, y, x + dot, y + dot}, ink);
      }
}

void require_drawable(const DrawnObject& object, const Canvas& canvas) {
  for (const float edge : object.box) require(std::isfinite(edge), "the box has the edge ", edge);
  if (object.mask.runs.empty()) return;
  require_valid(object.mask);
  require(object.mask.width == canvas.width() && object.mask.height == canvas.height(), "the mask has ",
          object.mask.width, " x ", object.mask.height, " pixels, the image ", canvas.width(), " x ", canvas.height());
}

}  // namespace

RgbImage image_of_input(std::span<const float> input, ImageSize size, const Normalisation& normalisation) {
  const auto plane = static_cast<size_t>(size.width * size.height);
  require(input.size() == 3 * plane, "an image of ", size.width, " x ", size.height, " pixels has ", input.size(),
          " values");
  RgbImage image{.size = size, .pixels = std::vector<uint8_t>(3 * plane)};
  for (size_t c = 0; c < 3; ++c)
    for (size_t i = 0; i < plane; ++i) {
      const float value = 255 * (input[c * plane + i] * normalisation.deviation[c] + normalisation.mean[c]);
      image.pixels[3 * i + c] = value > 0 ? static_cast<uint8_t>(std::lround(std::min(value, 255.0f))) : 0;  // NaN: 0
    }
  return image;
}

RgbImage draw_objects(RgbImage image, std::span<const DrawnObject> objects) {
  Canvas canvas(image);
  for (size_t i = 0; i < objects.size(); ++i) try {
      require_drawable(objects[i], canvas);
    } catch (const Error& e) {
      throw e.within(cat("object ", i));
    }
  for (const DrawnObject& object : objects) tint_mask(canvas, object);
  for (const DrawnObject& object : objects) draw_frame(canvas, object);
  for (const DrawnObject& object : objects) draw_label(canvas, object);
  return image;
}

}  // namespace tbd
