// What makes a mask hands its intervals of ones, in ascending order, to a RunWriter; what reads one walks its runs.
// A polygon toggles pixels: of each edge only the points are computed where it passes from a column to the next.
#include "host/run_lengths.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace tbd {
namespace {

struct Interval {  // of pixel numbers; `end` is not in it
  int64_t begin, end;
};

void require_extents(int64_t height, int64_t width) {
  require(height > 0 && width > 0, "a mask of ", height, " x ", width, " pixels has none");
  require(std::max(height, width) <= kMostMaskSide, "a mask of ", height, " x ", width, " pixels has a side beyond ",
          kMostMaskSide);
  require(height * width <= kMostMaskPixels, "a mask of ", height, " x ", width, " pixels is larger than ",
          kMostMaskPixels, " pixels");
}
void require_same_extents(const RunLengths& a, const RunLengths& b) {
  require(a.height == b.height && a.width == b.width, "a mask has ", a.height, " x ", a.width, " pixels, another one ",
          b.height, " x ", b.width);
}

// Makes runs of intervals of ones that come in ascending order and do not overlap.
class RunWriter {
 public:
  RunWriter(int64_t height, int64_t width) : mask_{height, width, {}} {}

  void add(int64_t begin, int64_t end) {
    if (begin == end) return;
    const bool touches = begin == end_ && !mask_.runs.empty();
    if (!touches) {
      append(begin - end_);
      append(0);
    }
    mask_.runs.back() += static_cast<int32_t>(end - begin);
    end_ = end;
  }
  RunLengths finish() {
    const int64_t rest = mask_.height * mask_.width - end_;
    if (rest > 0) append(rest);
    return std::move(mask_);
  }

 private:
  void append(int64_t run) { mask_.runs.push_back(static_cast<int32_t>(run)); }

  RunLengths mask_;
  int64_t end_ = 0;  // of what is written
};

// visit(begin, end) for each run of ones that is not empty.
template <class Visit>
void for_each_interval(const RunLengths& mask, const Visit& visit) {
  int64_t begin = 0;
  for (size_t i = 0; i < mask.runs.size(); ++i) {
    const int64_t end = begin + mask.runs[i];
    if (i % 2 == 1 && end > begin) visit(begin, end);
    begin = end;
  }
}

// The intervals of each column, by row. Those of column x are intervals[first[x]] to intervals[first[x + 1]].
struct Columns {
  std::vector<Interval> intervals;
  std::vector<size_t> first;

  std::span<const Interval> at(int64_t x) const {
    const auto column = static_cast<size_t>(x);
    return std::span(intervals).subspan(first[column], first[column + 1] - first[column]);
  }
};

Columns columns_of(const RunLengths& mask) {
  Columns columns;
  for_each_interval(mask, [&](int64_t begin, int64_t end) {
    while (begin < end) {
      const int64_t x = begin / mask.height, start = x * mask.height;
      const int64_t stop = std::min(end, start + mask.height);
      while (std::cmp_less_equal(columns.first.size(), x)) columns.first.push_back(columns.intervals.size());
      columns.intervals.push_back({begin - start, stop - start});
      begin = stop;
    }
  });
  columns.first.resize(static_cast<size_t>(mask.width) + 1, columns.intervals.size());
  return columns;
}

// What polygons toggle or set is joined as soon as it is more than this and twice what was left the last time, so that
// memory stays in proportion to the mask.
constexpr size_t kCompactAbove = size_t{1} << 20;

constexpr int64_t kFine = 5;  // points of the fine grid along a pixel's side

struct Corner {  // on the fine grid
  int64_t x, y;
};

std::vector<Corner> fine_corners(std::span<const double> points) {
  require(points.size() % 2 == 0, "a polygon has ", points.size(), " numbers, an odd count");
  require(points.size() >= 6, "a polygon has ", points.size(), " numbers; it needs three corners");
  for (const double value : points)
    require(std::abs(value) <= kMostCoordinate, "a polygon has the coordinate ", value, ", beyond ", kMostCoordinate);
  const auto fine = [](double value) { return static_cast<int64_t>(kFine * value + 0.5); };
  std::vector<Corner> corners(points.size() / 2);
  for (size_t i = 0; i < corners.size(); ++i) corners[i] = {fine(points[2 * i]), fine(points[2 * i + 1])};
  return corners;
}

// The pixels from which on an even-odd rule changes its mind, as numbers of pixels.
class Toggles {
 public:
  Toggles(int64_t height, int64_t width) : height_(height), width_(width) {}

  // An edge of the polygon, walked in whole steps along its longer axis (x on a tie).
  void add_edge(Corner from, Corner to) {
    const int64_t dx = std::abs(to.x - from.x), dy = std::abs(to.y - from.y);
    const bool along_x = dx >= dy;
    if (along_x ? from.x > to.x : from.y > to.y) std::swap(from, to);
    if (dx == 0) return;  // it stays in its column
    if (along_x)
      walk_x(from, to);
    else
      walk_y(from, to);
    if (pixels_.size() > limit_) limit_ = std::max(kCompactAbove, 2 * cancel_pairs());
  }

  RunLengths mask() {
    cancel_pairs();
    RunWriter writer(height_, width_);
    pixels_.resize(pixels_.size() + pixels_.size() % 2, static_cast<int32_t>(height_ * width_));
    for (size_t i = 0; i < pixels_.size(); i += 2) writer.add(pixels_[i], pixels_[i + 1]);
    return writer.finish();
  }

 private:
  // Column c begins between the fine abscissas of its centre and the next: 5 c + 2 and 5 c + 3. visit(c) for those that
  // a walk from `low` to `high` crosses.
  template <class Visit>
  void for_each_column(int64_t low, int64_t high, const Visit& visit) const {
    const int64_t first = low <= 2 ? 0 : (low + 2) / kFine;
    const int64_t last = high < 3 ? -1 : std::min((high - 3) / kFine, width_ - 1);
    for (int64_t column = first; column <= last; ++column) visit(column);
  }

  static int64_t point(int64_t start, double slope, int64_t step) {
    return static_cast<int64_t>(static_cast<double>(start) + slope * static_cast<double>(step) + 0.5);
  }

  void walk_x(Corner from, Corner to) {
    const double slope = static_cast<double>(to.y - from.y) / static_cast<double>(to.x - from.x);
    for_each_column(from.x, to.x, [&](int64_t column) {
      const int64_t step = kFine * column + 2 - from.x;
      toggle(column, std::min(point(from.y, slope, step), point(from.y, slope, step + 1)));
    });
  }

  void walk_y(Corner from, Corner to) {
    const int64_t steps = to.y - from.y;
    const double slope = static_cast<double>(to.x - from.x) / static_cast<double>(steps);
    const bool rises = to.x > from.x;
    const auto [left, right] = std::minmax({point(from.x, slope, 0), point(from.x, slope, steps)});
    for_each_column(left, right, [&](int64_t column) {
      int64_t low = 1, step = steps;  // the first step on the far side is in between
      while (low < step) {
        const int64_t middle = (low + step) / 2;
        const bool passed = (point(from.x, slope, middle) >= kFine * column + 3) == rises;
        if (passed)
          step = middle;
        else
          low = middle + 1;
      }
      toggle(column, from.y + step - 1);
    });
  }

  // `y`: the smaller ordinate of the two points between which the column begins.
  void toggle(int64_t column, int64_t y) {
    const int64_t row = y <= 2 ? 0 : std::min((y + 2) / kFine, height_);
    pixels_.push_back(static_cast<int32_t>(column * height_ + row));
  }

  // Sorts, and drops what two edges toggle alike. Returns how many are left.
  size_t cancel_pairs() {
    std::ranges::sort(pixels_);
    size_t kept = 0;
    for (const int32_t pixel : pixels_)
      if (kept > 0 && pixels_[kept - 1] == pixel)
        --kept;
      else
        pixels_[kept++] = pixel;
    pixels_.resize(kept);
    return kept;
  }

  int64_t height_, width_;
  std::vector<int32_t> pixels_;
  size_t limit_ = kCompactAbove;
};

// The run that begins at text[at], which moves behind it.
int64_t read_run(std::string_view text, size_t& at) {
  constexpr int kMostBits = 35;  // of a run of 32 bits in groups of five
  const size_t start = at;
  int64_t run = 0;
  for (int bits = 0; bits < kMostBits; bits += 5) {
    require(at < text.size(), "run lengths end within the run at character ", start);
    const int group = text[at] - '0';
    require(group >= 0 && group < 64, "character ", at, " of run lengths is none of '0' to 'o'");
    ++at;
    run |= int64_t{group & 31} << bits;
    if ((group & 32) != 0) continue;
    const bool negative = (group & 16) != 0;
    return negative ? run - (int64_t{32} << bits) : run;
  }
  fail(ErrorKind::invalid, "the run at character ", start, " of run lengths has more than ", kMostBits, " bits");
}

void append_run(std::string& text, int64_t run) {
  bool more = true;
  while (more) {
    int group = static_cast<int>(run & 31);
    run >>= 5;
    more = run != ((group & 16) != 0 ? -1 : 0);
    if (more) group |= 32;
    text += static_cast<char>('0' + group);
  }
}

// The pixel of an axis of `old` pixels that pixel `i` of one of `extent` pixels shows.
int64_t nearest_source(int64_t i, int64_t old, int64_t extent) {
  const float ratio = static_cast<float>(old) / static_cast<float>(extent);
  return std::min(static_cast<int64_t>(static_cast<float>(i) * ratio), old - 1);
}

}  // namespace

void require_valid(std::span<const int32_t> runs, int64_t height, int64_t width) {
  require_extents(height, width);
  int64_t sum = 0;
  for (size_t i = 0; i < runs.size(); ++i) {
    require(runs[i] >= 0, "run ", i, " has the length ", runs[i]);
    sum += runs[i];
  }
  require(sum == height * width, "run lengths sum to ", sum, ", but ", height, " x ", width, " pixels are ",
          height * width);
}

RunLengths polygon_mask(std::span<const double> points, int64_t height, int64_t width) {
  require_extents(height, width);
  const std::vector<Corner> corners = fine_corners(points);
  Toggles toggles(height, width);
  for (size_t i = 0; i < corners.size(); ++i) toggles.add_edge(corners[i], corners[(i + 1) % corners.size()]);
  return toggles.mask();
}

RunLengths polygons_mask(std::span<const std::vector<double>> polygons, int64_t height, int64_t width) {
  require_extents(height, width);
  std::vector<RunLengths> masks = {RunWriter(height, width).finish()};
  size_t runs = 0, limit = kCompactAbove;
  for (const std::vector<double>& points : polygons) {
    masks.push_back(polygon_mask(points, height, width));
    runs += masks.back().runs.size();
    if (runs < limit) continue;
    masks = {unite(masks)};
    runs = masks[0].runs.size();
    limit = std::max(kCompactAbove, 2 * runs);
  }
  return unite(masks);
}

RunLengths bitmap_mask(std::span<const uint8_t> pixels, int64_t height, int64_t width) {
  require_extents(height, width);
  require(std::cmp_equal(pixels.size(), height * width), "a bitmap of ", height, " x ", width, " pixels has ",
          pixels.size(), " bytes");
  RunWriter writer(height, width);
  for (int64_t x = 0; x < width; ++x)
    for (int64_t y = 0; y < height; ++y)
      if (pixels[static_cast<size_t>(y * width + x)] != 0) writer.add(x * height + y, x * height + y + 1);
  return writer.finish();
}

std::vector<uint8_t> bitmap(const RunLengths& mask) {
  std::vector<uint8_t> pixels(static_cast<size_t>(mask.height * mask.width));
  for_each_interval(mask, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      pixels[static_cast<size_t>(i % mask.height * mask.width + i / mask.height)] = 1;
  });
  return pixels;
}

RunLengths unite(std::span<const RunLengths> masks) {
  require(!masks.empty(), "a union of no masks has no extents");
  std::vector<Interval> intervals;
  for (const RunLengths& mask : masks) {
    require_same_extents(mask, masks[0]);
    for_each_interval(mask, [&](int64_t begin, int64_t end) { intervals.push_back({begin, end}); });
  }
  std::ranges::sort(intervals, {}, &Interval::begin);
  RunWriter writer(masks[0].height, masks[0].width);
  int64_t covered = 0;
  for (const auto& [begin, end] : intervals) {
    if (end <= covered) continue;
    writer.add(std::max(begin, covered), end);
    covered = end;
  }
  return writer.finish();
}

int64_t area(const RunLengths& mask) {
  int64_t pixels = 0;
  for (size_t i = 1; i < mask.runs.size(); i += 2) pixels += mask.runs[i];
  return pixels;
}

int64_t intersection(const RunLengths& a, const RunLengths& b) {
  require_same_extents(a, b);
  const int64_t pixels = a.height * a.width;
  size_t next_a = 0, next_b = 0;  // odd: the runs before them, in which `position` is, are of 0
  int64_t end_a = 0, end_b = 0, position = 0, common = 0;
  while (position < pixels) {
    while (end_a == position) end_a += a.runs[next_a++];
    while (end_b == position) end_b += b.runs[next_b++];
    const int64_t end = std::min(end_a, end_b);
    if (next_a % 2 == 0 && next_b % 2 == 0) common += end - position;
    position = end;
  }
  return common;
}

PixelBox tight_box(const RunLengths& mask) {
  int64_t left = mask.width, right = -1, top = mask.height, bottom = -1;
  for_each_interval(mask, [&](int64_t begin, int64_t end) {
    const int64_t first = begin / mask.height, last = (end - 1) / mask.height;
    const bool one_column = first == last;
    left = std::min(left, first);
    right = std::max(right, last);
    top = std::min(top, one_column ? begin % mask.height : 0);
    bottom = std::max(bottom, one_column ? (end - 1) % mask.height : mask.height - 1);
  });
  if (right < 0) return {};
  return {.x = left, .y = top, .width = right - left + 1, .height = bottom - top + 1};
}

RunLengths mirror(const RunLengths& mask) {
  const Columns columns = columns_of(mask);
  RunWriter writer(mask.height, mask.width);
  for (int64_t x = 0; x < mask.width; ++x)
    for (const auto& [begin, end] : columns.at(mask.width - 1 - x))
      writer.add(x * mask.height + begin, x * mask.height + end);
  return writer.finish();
}

RunLengths resize(const RunLengths& mask, int64_t height, int64_t width) {
  require_extents(height, width);
  // Rows from above[y] on show row y or one below it.
  std::vector<int64_t> above(static_cast<size_t>(mask.height) + 1, height);
  for (int64_t y = height - 1; y >= 0; --y) above[static_cast<size_t>(nearest_source(y, mask.height, height))] = y;
  for (size_t y = above.size() - 1; y > 0; --y) above[y - 1] = std::min(above[y - 1], above[y]);

  const Columns columns = columns_of(mask);
  RunWriter writer(height, width);
  for (int64_t x = 0; x < width; ++x)
    for (const auto& [begin, end] : columns.at(nearest_source(x, mask.width, width)))
      writer.add(x * height + above[static_cast<size_t>(begin)], x * height + above[static_cast<size_t>(end)]);
  return writer.finish();
}

std::string compress(const RunLengths& mask) {
  std::string text;
  for (size_t i = 0; i < mask.runs.size(); ++i)
    append_run(text, int64_t{mask.runs[i]} - (i > 2 ? mask.runs[i - 2] : 0));
  return text;
}

RunLengths decompress(std::string_view text, int64_t height, int64_t width) {
  RunLengths mask{height, width, {}};
  size_t at = 0;
  while (at < text.size()) {
    const size_t start = at;
    int64_t run = read_run(text, at);
    if (mask.runs.size() > 2) run += mask.runs[mask.runs.size() - 2];
    require(run >= 0 && run <= std::numeric_limits<int32_t>::max(), "the run at character ", start,
            " of run lengths has the length ", run);
    mask.runs.push_back(static_cast<int32_t>(run));
  }
  require_valid(mask);
  return mask;
}

}  // namespace tbd
