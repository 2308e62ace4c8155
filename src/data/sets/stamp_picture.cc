// The canvas knows for each pixel which object is uppermost: masks, and what a new object would hide, follow from it.
#include "data/sets/stamp_picture.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "data/sets/reduced.h"

namespace tbd {
namespace {

constexpr int kPlaceTries = 20;
constexpr double kSeen = 0.4;     // of an object's pixels at least
constexpr double kBeyond = 0.75;  // of an object beyond the border at most
constexpr uint8_t kSolid = 128;
constexpr int32_t kNobody = -1;

double drawn_between(Draws& draws, double low, double high) { return low + draws.uniform() * (high - low); }
double log_between(Draws& draws, double low, double high) { return low * std::pow(high / low, draws.uniform()); }

void mirror_rows(RgbImage& image) {
  const int64_t width = image.size.width;
  for (int64_t y = 0; y < image.size.height; ++y)
    for (int64_t x = 0; x < width / 2; ++x)
      std::swap_ranges(image.pixels.begin() + 3 * (y * width + x), image.pixels.begin() + 3 * (y * width + x + 1),
                       image.pixels.begin() + 3 * (y * width + width - 1 - x));
}

RgbImage at_size(const RgbImage& image, ImageSize size) {
  const auto [width, height] = image.size;
  return reduced(image, {0, 0, static_cast<double>(width), static_cast<double>(height)}, {0, 0, width, height}, size);
}

// A stamp as it is painted.
struct Cutout {
  RgbImage color;     // times opacity
  RgbImage opacity;   // three times the same
  int64_t solid = 0;  // pixels

  bool is_solid(int64_t y, int64_t x) const {
    return opacity.pixels[static_cast<size_t>(3 * (y * opacity.size.width + x))] >= kSolid;
  }
};

Cutout scaled_cutout(const RgbaImage& stamp, double longer, bool flip) {
  RgbImage color{.size = stamp.size, .pixels = {}}, opacity = color;
  for (size_t i = 0; i < stamp.pixels.size(); i += 4)
    for (size_t c = 0; c < 3; ++c) {
      color.pixels.push_back(static_cast<uint8_t>((stamp.pixels[i + c] * stamp.pixels[i + 3] + 127) / 255));
      opacity.pixels.push_back(stamp.pixels[i + 3]);
    }
  const double scale = longer / static_cast<double>(std::max(stamp.size.width, stamp.size.height));
  const auto extent = [&](int64_t n) { return std::max<int64_t>(1, std::lround(static_cast<double>(n) * scale)); };
  const ImageSize size{extent(stamp.size.width), extent(stamp.size.height)};
  Cutout out{.color = at_size(color, size), .opacity = at_size(opacity, size)};
  if (flip) {
    mirror_rows(out.color);
    mirror_rows(out.opacity);
  }
  for (size_t i = 0; i < out.opacity.pixels.size(); i += 3) out.solid += out.opacity.pixels[i] >= kSolid;
  return out;
}

class Collage {
 public:
  explicit Collage(RgbImage photograph) : image_(std::move(photograph)), owner_(image_.pixels.size() / 3, kNobody) {}

  // Whether enough of it and of those before would be seen with its upper left corner there.
  bool has_place_for(const Cutout& cutout, int64_t top, int64_t left) const {
    std::vector<int64_t> hidden(objects_.size());
    int64_t inside = 0;
    for_solid(cutout, top, left, [&](size_t pixel) {
      ++inside;
      if (owner_[pixel] != kNobody) ++hidden[static_cast<size_t>(owner_[pixel])];
    });
    if (inside == 0 || static_cast<double>(inside) < kSeen * static_cast<double>(cutout.solid)) return false;
    for (size_t i = 0; i < objects_.size(); ++i)
      if (hidden[i] > 0 &&
          static_cast<double>(objects_[i].seen - hidden[i]) < kSeen * static_cast<double>(objects_[i].own))
        return false;
    return true;
  }

  // A new object, or more of the last one.
  void paint(const Cutout& cutout, int64_t top, int64_t left, double brightness, bool joins) {
    blend(cutout, top, left, brightness);
    if (!joins) objects_.emplace_back();
    const auto number = static_cast<int32_t>(objects_.size() - 1);
    objects_.back().own += cutout.solid;
    int64_t inside = 0;
    for_solid(cutout, top, left, [&](size_t pixel) {
      ++inside;
      if (owner_[pixel] != kNobody) --objects_[static_cast<size_t>(owner_[pixel])].seen;
      owner_[pixel] = number;
      ++objects_.back().seen;
    });
    objects_.back().truncated = objects_.back().truncated || inside < cutout.solid;
  }

  RunLengths mask(size_t object) const {
    std::vector<uint8_t> pixels(owner_.size());
    std::ranges::transform(owner_, pixels.begin(),
                           [&](int32_t owner) { return owner == static_cast<int32_t>(object); });
    return bitmap_mask(pixels, image_.size.height, image_.size.width);
  }
  size_t objects() const { return objects_.size(); }
  bool truncated(size_t object) const { return objects_[object].truncated; }
  RgbImage take_image() { return std::move(image_); }
  ImageSize size() const { return image_.size; }

 private:
  struct Object {
    int64_t own = 0, seen = 0;  // pixels
    bool truncated = false;
  };

  template <class Each>
  void for_solid(const Cutout& cutout, int64_t top, int64_t left, const Each& each) const {
    for_inside(cutout, top, left, [&](int64_t y, int64_t x, size_t pixel) {
      if (cutout.is_solid(y, x)) each(pixel);
    });
  }
  template <class Each>
  void for_inside(const Cutout& cutout, int64_t top, int64_t left, const Each& each) const {
    const auto [width, height] = cutout.opacity.size;
    for (int64_t y = std::max<int64_t>(0, -top); y < std::min(height, image_.size.height - top); ++y)
      for (int64_t x = std::max<int64_t>(0, -left); x < std::min(width, image_.size.width - left); ++x)
        each(y, x, static_cast<size_t>((y + top) * image_.size.width + x + left));
  }
  void blend(const Cutout& cutout, int64_t top, int64_t left, double brightness) {
    for_inside(cutout, top, left, [&](int64_t y, int64_t x, size_t pixel) {
      const auto from = static_cast<size_t>(3 * (y * cutout.opacity.size.width + x));
      for (size_t c = 0; c < 3; ++c) {
        uint8_t& level = image_.pixels[3 * pixel + c];
        const double opacity = cutout.opacity.pixels[from + c] / 255.0;
        const double color = std::min(brightness * cutout.color.pixels[from + c], 255 * opacity);
        level = static_cast<uint8_t>(std::lround(color + (1 - opacity) * level));
      }
    });
  }

  RgbImage image_;
  std::vector<int32_t> owner_;
  std::vector<Object> objects_;
};

RgbImage part_of_photograph(std::span<const RgbImage> photographs, ImageSize size, Draws& draws) {
  const RgbImage& photograph = photographs[static_cast<size_t>(draws.below(static_cast<int64_t>(photographs.size())))];
  const auto whole_width = static_cast<double>(photograph.size.width),
             whole_height = static_cast<double>(photograph.size.height);
  const double aspect = static_cast<double>(size.width) / static_cast<double>(size.height);
  const double most = std::min(whole_width, whole_height * aspect);
  Window window{.width = drawn_between(draws, most / 2, most)};
  window.height = std::min(whole_height, window.width / aspect);
  window.left = draws.uniform() * (whole_width - window.width);
  window.top = draws.uniform() * (whole_height - window.height);
  RgbImage part = reduced(photograph, window, {0, 0, photograph.size.width, photograph.size.height}, size);
  if (draws.chance(0.5)) mirror_rows(part);
  return part;
}

std::vector<const Stamp*> stamps_of(const StampCategory& category, Split split) {
  std::vector<const Stamp*> out;
  for (const Stamp& stamp : category.stamps)
    if (stamp.split == split) out.push_back(&stamp);
  return out;
}

Cutout drawn_cutout(const StampCategory& category, Split split, double least, double most, Draws& draws) {
  const std::vector<const Stamp*> stamps = stamps_of(category, split);
  const Stamp& stamp = *stamps[static_cast<size_t>(draws.below(static_cast<int64_t>(stamps.size())))];
  const double longer = log_between(draws, least, most);
  return scaled_cutout(stamp.picture, longer, draws.chance(0.5));
}

// Near each other: the middle of each is in a window of a third of the picture. Returns how many were painted.
int paint_crowd(Collage& canvas, const StampCategory& category, Split split, Draws& draws) {
  const auto width = static_cast<double>(canvas.size().width), height = static_cast<double>(canvas.size().height);
  const double left = draws.uniform() * width * 2 / 3, top = draws.uniform() * height * 2 / 3;
  const int64_t count = draws.between(8, 15);
  int painted = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Cutout cutout = drawn_cutout(category, split, width / 32, width / 16, draws);
    const double brightness = drawn_between(draws, 0.7, 1.3);
    const auto y = static_cast<int64_t>(top + draws.uniform() * height / 3) - cutout.opacity.size.height / 2;
    const auto x = static_cast<int64_t>(left + draws.uniform() * width / 3) - cutout.opacity.size.width / 2;
    if (cutout.solid == 0) continue;
    canvas.paint(cutout, y, x, brightness, painted > 0);
    ++painted;
  }
  return painted;
}

bool paint_object(Collage& canvas, const Cutout& cutout, Draws& draws) {
  const double brightness = drawn_between(draws, 0.7, 1.3);
  const auto place = [&](int64_t own, int64_t whole) {
    const auto side = static_cast<double>(own);
    return static_cast<int64_t>(
        std::floor(drawn_between(draws, -kBeyond * side, static_cast<double>(whole) - (1 - kBeyond) * side)));
  };
  for (int attempt = 0; attempt < kPlaceTries; ++attempt) {
    const int64_t top = place(cutout.opacity.size.height, canvas.size().height);
    const int64_t left = place(cutout.opacity.size.width, canvas.size().width);
    if (!canvas.has_place_for(cutout, top, left)) continue;
    canvas.paint(cutout, top, left, brightness, false);
    return true;
  }
  return false;
}

}  // namespace

StampPicture compose_stamps(std::span<const RgbImage> photographs, std::span<const StampCategory> categories,
                            const StampPictureSettings& settings, Draws& draws) {
  Collage canvas(part_of_photograph(photographs, settings.size, draws));
  std::vector<size_t> painted;  // categories
  const auto drawn_category = [&] { return static_cast<size_t>(draws.below(static_cast<int64_t>(categories.size()))); };
  if (settings.crowd) {
    const size_t category = drawn_category();
    if (paint_crowd(canvas, categories[category], settings.split, draws) > 0) painted.push_back(category);
  }
  const size_t crowds = painted.size();
  const double u = draws.uniform();
  const auto count = 1 + static_cast<int64_t>(8 * u * draws.uniform());
  const size_t most = crowds + static_cast<size_t>(settings.objects);
  for (int64_t i = 0; i < count && painted.size() < most; ++i) {
    const size_t category = drawn_category();
    const Cutout cutout = drawn_cutout(categories[category], settings.split, settings.least, settings.most, draws);
    if (paint_object(canvas, cutout, draws)) painted.push_back(category);
  }
  StampPicture out;
  for (size_t i = 0; i < painted.size(); ++i) {
    RunLengths mask = canvas.mask(i);
    if (area(mask) > 0) out.objects.push_back({painted[i], i < crowds, canvas.truncated(i), std::move(mask)});
  }
  out.image = canvas.take_image();
  return out;
}

}  // namespace tbd
