// Objects and detections are sorted by category, then image, so that one category after the other is judged: its images
// give each detection a fate for every area and overlap, and the fates in the order of scores give the curves.
#include "quality/coco_ap.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <tuple>

#include "base/error.h"

namespace tbd {
namespace {

constexpr size_t kLimits[kCocoLimits] = {1, 10, 100};
constexpr size_t kMostDetections = kLimits[kCocoLimits - 1];  // of an image and category

struct AreaRange {
  double low, high;  // both in it
};
constexpr AreaRange kAreas[kCocoAreas] = {{0, 1e10}, {0, 32 * 32}, {32 * 32, 96 * 96}, {96 * 96, 1e10}};
bool within(const AreaRange& range, double area) { return area >= range.low && area <= range.high; }

// As numpy.linspace computes them.
double overlap_at(size_t i) {
  return i + 1 == kCocoOverlaps ? 0.95 : static_cast<double>(i) * ((0.95 - 0.5) / 9) + 0.5;
}
double recall_at(size_t i) { return i + 1 == kCocoRecalls ? 1 : static_cast<double>(i) * 0.01; }

struct Region {
  size_t item = 0;  // its number among the objects or detections
  size_t category = 0, image = 0;
  double score = 0;  // of a detection
  CocoBox box;
  double area = 0;
  bool crowd = false;
  const RunLengths* mask = nullptr;
};

std::vector<int64_t> ascending(std::vector<int64_t> ids) {
  std::ranges::sort(ids);
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return ids;
}
std::optional<size_t> place_of(int64_t id, const std::vector<int64_t>& ids) {
  const auto found = std::ranges::lower_bound(ids, id);
  if (found == ids.end() || *found != id) return std::nullopt;
  return static_cast<size_t>(found - ids.begin());
}

void require_finite(const CocoBox& box) {
  require(std::isfinite(box.x) && std::isfinite(box.y) && std::isfinite(box.width) && std::isfinite(box.height) &&
              box.width >= 0 && box.height >= 0,
          "box ", box.x, " ", box.y, " ", box.width, " ", box.height, " is none");
}

CocoBox tight_box_of(const RunLengths& mask) {
  const PixelBox box = tight_box(mask);
  return {static_cast<double>(box.x), static_cast<double>(box.y), static_cast<double>(box.width),
          static_cast<double>(box.height)};
}

class Ids {
 public:
  explicit Ids(const CocoGroundTruth& truth)
      : categories_(ascending(truth.categories)), images_(ascending(truth.images)) {}

  const std::vector<int64_t>& categories() const { return categories_; }

  // What an object and a detection have in common; nullopt for a category that is not listed.
  template <class Item>
  std::optional<Region> region_of(const Item& item, size_t number, CocoRegion kind) const {
    const std::optional<size_t> image = place_of(item.image, images_), category = place_of(item.category, categories_);
    require(image.has_value(), "image ", item.image, " is not in the set");
    if (!category) return std::nullopt;
    Region region{.item = number, .category = *category, .image = *image, .box = item.box};
    if (kind == CocoRegion::mask) {
      require_valid(item.mask);
      region.mask = &item.mask;
      region.box = tight_box_of(item.mask);
    }
    require_finite(region.box);
    return region;
  }

 private:
  std::vector<int64_t> categories_, images_;
};

// One region for each item of a listed category; `finish` adds what only this kind of item has.
template <class Item, class Finish>
std::vector<Region> regions_of(const char* what, std::span<const Item> items, const Ids& ids, CocoRegion kind,
                               const Finish& finish) {
  std::vector<Region> regions;
  regions.reserve(items.size());
  for (size_t i = 0; i < items.size(); ++i) try {
      std::optional<Region> region = ids.region_of(items[i], i, kind);
      if (!region) continue;
      finish(*region, items[i]);
      regions.push_back(*region);
    } catch (const Error& e) {
      throw e.within(cat(what, " ", i));
    }
  return regions;
}

std::vector<Region> objects_of(const CocoGroundTruth& truth, const Ids& ids, CocoRegion kind) {
  const auto finish = [](Region& region, const CocoObject& object) {
    require(std::isfinite(object.area), "area ", object.area, " is none");
    region.area = object.area;
    region.crowd = object.crowd;
  };
  std::vector<Region> objects = regions_of("object", std::span(truth.objects), ids, kind, finish);
  std::ranges::stable_sort(objects, [](const Region& a, const Region& b) {
    return std::tie(a.category, a.image) < std::tie(b.category, b.image);
  });
  return objects;
}

// By falling score within an image and category.
std::vector<Region> detections_of(std::span<const CocoDetection> items, const Ids& ids, CocoRegion kind) {
  const auto finish = [&](Region& region, const CocoDetection& detection) {
    require(std::isfinite(detection.score), "score ", detection.score, " is none");
    region.score = detection.score;
    region.area = kind == CocoRegion::mask ? static_cast<double>(area(detection.mask))
                                           : detection.box.width * detection.box.height;
  };
  std::vector<Region> detections = regions_of("detection", items, ids, kind, finish);
  std::ranges::stable_sort(detections, [](const Region& a, const Region& b) {
    return std::tie(a.category, a.image, b.score) < std::tie(b.category, b.image, a.score);
  });
  return detections;
}

using Regions = std::span<const Region>;

// Takes those that `key` says are not behind `value` off the front of `rest`, which is sorted by `key`.
Regions take_front(Regions& rest, size_t Region::*key, size_t value) {
  const size_t count = static_cast<size_t>(std::ranges::upper_bound(rest, value, {}, key) - rest.begin());
  const Regions front = rest.first(count);
  rest = rest.subspan(count);
  return front;
}

// Of the detection alone where the object is a crowd.
double overlap_of_boxes(const Region& detection, const Region& object) {
  const CocoBox &a = detection.box, &b = object.box;
  const double width = std::min(a.width + a.x, b.width + b.x) - std::max(a.x, b.x);
  const double height = std::min(a.height + a.y, b.height + b.y) - std::max(a.y, b.y);
  if (width <= 0 || height <= 0) return 0;
  const double common = width * height, own = a.width * a.height;
  return common / (object.crowd ? own : own + b.width * b.height - common);
}
double overlap_of(const Region& detection, const Region& object) {
  const double boxes = overlap_of_boxes(detection, object);
  if (detection.mask == nullptr || boxes <= 0) return boxes;
  const int64_t common = intersection(*detection.mask, *object.mask);
  if (common == 0) return 0;
  const int64_t own = area(*detection.mask);
  return static_cast<double>(common) / static_cast<double>(object.crowd ? own : own + area(*object.mask) - common);
}

enum class Fate : uint8_t { hit, miss, ignored };

// Detections of one image and category, by falling score, against its objects.
class ImageJudge {
 public:
  ImageJudge(Regions detections, Regions objects) : detections_(detections), objects_(objects) {
    overlaps_.reserve(detections.size() * objects.size());
    for (const Region& detection : detections) try {
        for (const Region& object : objects) overlaps_.push_back(overlap_of(detection, object));
      } catch (const Error& e) {
        throw e.within(cat("detection ", detection.item));
      }
  }

  // Sorts the objects for an area: those that count come first. Returns how many they are.
  size_t choose(const AreaRange& area) {
    const auto counts = [&](size_t i) { return !objects_[i].crowd && within(area, objects_[i].area); };
    order_.resize(objects_.size());
    std::iota(order_.begin(), order_.end(), size_t{0});
    const auto ignored = std::stable_partition(order_.begin(), order_.end(), counts);
    counted_ = static_cast<size_t>(ignored - order_.begin());
    area_ = area;
    return counted_;
  }

  // One fate a detection is added to `fates`.
  void judge(double least, std::vector<Fate>& fates) {
    taken_.assign(objects_.size(), false);
    for (size_t d = 0; d < detections_.size(); ++d) {
      const std::optional<size_t> match = best_match(d, std::min(least, 1 - 1e-10));
      if (match) taken_[*match] = true;
      const bool ignored = match ? *match >= counted_ : !within(area_, detections_[d].area);
      fates.push_back(ignored ? Fate::ignored : match ? Fate::hit : Fate::miss);
    }
  }

 private:
  // The place in order_ of the object that overlaps most, the last of equals; one that is ignored only where none that
  // counts will do.
  std::optional<size_t> best_match(size_t detection, double least) const {
    std::optional<size_t> best;
    for (size_t i = 0; i < order_.size(); ++i) {
      if (taken_[i] && !objects_[order_[i]].crowd) continue;
      if (best && *best < counted_ && i >= counted_) break;
      const double overlap = overlaps_[detection * objects_.size() + order_[i]];
      if (overlap < least) continue;
      least = overlap;
      best = i;
    }
    return best;
  }

  Regions detections_, objects_;
  std::vector<double> overlaps_;  // [detection][object]
  std::vector<size_t> order_;
  size_t counted_ = 0;
  AreaRange area_{};
  std::vector<bool> taken_;  // by place in order_
};

// What became of the detections of a category, image by image.
struct Fates {
  std::vector<double> scores;
  std::vector<size_t> ranks;  // by score among those of the image
  std::vector<Fate> fates[kCocoAreas][kCocoOverlaps];
  size_t counted[kCocoAreas] = {};  // objects to be found
};

void judge_image(Regions detections, Regions objects, Fates& all) {
  detections = detections.first(std::min(detections.size(), kMostDetections));
  for (size_t rank = 0; rank < detections.size(); ++rank) {
    all.scores.push_back(detections[rank].score);
    all.ranks.push_back(rank);
  }
  ImageJudge judge(detections, objects);
  for (size_t area = 0; area < kCocoAreas; ++area) {
    all.counted[area] += judge.choose(kAreas[area]);
    for (size_t i = 0; i < kCocoOverlaps; ++i) judge.judge(overlap_at(i), all.fates[area][i]);
  }
}

Fates judge_category(Regions detections, Regions objects) {
  Fates all;
  while (!detections.empty() || !objects.empty()) {
    const size_t in_detections = detections.empty() ? SIZE_MAX : detections[0].image;
    const size_t in_objects = objects.empty() ? SIZE_MAX : objects[0].image;
    const size_t image = std::min(in_detections, in_objects);
    const Regions found = take_front(detections, &Region::image, image);
    judge_image(found, take_front(objects, &Region::image, image), all);
  }
  return all;
}

// Detections of the first `limit` of their image, by falling score.
std::vector<size_t> by_score(const Fates& all, size_t limit) {
  std::vector<size_t> order;
  for (size_t i = 0; i < all.ranks.size(); ++i)
    if (all.ranks[i] < limit) order.push_back(i);
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return all.scores[i]; });
  return order;
}

struct Point {
  double recall, precision;
};

CocoCurve curve_of(const std::vector<Fate>& fates, const std::vector<size_t>& order, size_t counted) {
  constexpr double kTiny = 0x1p-52;  // pycocotools divides by the sum and this
  std::vector<Point> points;
  points.reserve(order.size());
  double hits = 0, misses = 0;
  for (const size_t i : order) {
    if (fates[i] == Fate::hit) ++hits;
    if (fates[i] == Fate::miss) ++misses;
    points.push_back({hits / static_cast<double>(counted), hits / (misses + hits + kTiny)});
  }
  for (size_t i = points.size(); i-- > 1;)
    points[i - 1].precision = std::max(points[i - 1].precision, points[i].precision);

  CocoCurve curve{.recall = points.empty() ? 0 : points.back().recall};
  size_t at = 0;
  for (size_t i = 0; i < kCocoRecalls; ++i) {
    while (at < points.size() && points[at].recall < recall_at(i)) ++at;
    if (at == points.size()) break;
    curve.precision[i] = points[at].precision;
  }
  return curve;
}

struct Mean {
  double sum = 0;
  size_t count = 0;

  void add(double value, size_t values) {
    sum += value;
    count += values;
  }
  std::optional<double> value() const {
    if (count == 0) return std::nullopt;
    return sum / static_cast<double>(count);
  }
};

struct Indices {
  size_t first, last;  // `last` is not in it
};
constexpr Indices kAllOverlaps = {0, kCocoOverlaps};
constexpr size_t kHundred = kCocoLimits - 1;

std::optional<double> mean_precision(const CocoCurves& curves, size_t area, Indices categories, Indices overlaps) {
  Mean mean;
  for (size_t category = categories.first; category < categories.last; ++category)
    for (size_t overlap = overlaps.first; overlap < overlaps.last; ++overlap)
      if (const std::optional<CocoCurve>& curve = curves.at(category, area, kHundred, overlap))
        mean.add(std::reduce(curve->precision.begin(), curve->precision.end()), kCocoRecalls);
  return mean.value();
}
std::optional<double> mean_recall(const CocoCurves& curves, size_t area, size_t limit) {
  Mean mean;
  for (size_t category = 0; category < curves.categories().size(); ++category)
    for (size_t overlap = 0; overlap < kCocoOverlaps; ++overlap)
      if (const std::optional<CocoCurve>& curve = curves.at(category, area, limit, overlap)) mean.add(curve->recall, 1);
  return mean.value();
}

}  // namespace

CocoCurves::CocoCurves(std::vector<int64_t> categories)
    : categories_(std::move(categories)), curves_(categories_.size() * kCocoAreas * kCocoLimits * kCocoOverlaps) {}

std::optional<CocoCurve>& CocoCurves::at(size_t category, size_t area, size_t limit, size_t overlap) {
  return curves_[((category * kCocoAreas + area) * kCocoLimits + limit) * kCocoOverlaps + overlap];
}
const std::optional<CocoCurve>& CocoCurves::at(size_t category, size_t area, size_t limit, size_t overlap) const {
  return curves_[((category * kCocoAreas + area) * kCocoLimits + limit) * kCocoOverlaps + overlap];
}

CocoCurves coco_curves(const CocoGroundTruth& truth, std::span<const CocoDetection> items, CocoRegion region) {
  const Ids ids(truth);
  const std::vector<Region> objects = objects_of(truth, ids, region), detections = detections_of(items, ids, region);
  CocoCurves curves(ids.categories());
  Regions objects_left = objects, detections_left = detections;
  for (size_t category = 0; category < ids.categories().size(); ++category) {
    const Regions found = take_front(detections_left, &Region::category, category);
    const Fates all = judge_category(found, take_front(objects_left, &Region::category, category));
    for (size_t limit = 0; limit < kCocoLimits; ++limit) {
      const std::vector<size_t> order = by_score(all, kLimits[limit]);
      for (size_t area = 0; area < kCocoAreas; ++area)
        for (size_t overlap = 0; overlap < kCocoOverlaps && all.counted[area] > 0; ++overlap)
          curves.at(category, area, limit, overlap) = curve_of(all.fates[area][overlap], order, all.counted[area]);
    }
  }
  return curves;
}

CocoAp coco_ap(const CocoCurves& curves) {
  const Indices all = {0, curves.categories().size()};
  const auto precision = [&](size_t area) { return mean_precision(curves, area, all, kAllOverlaps); };
  const auto recall = [&](size_t area) { return mean_recall(curves, area, kHundred); };
  CocoAp ap{.ap = precision(0),
            .ap_50 = mean_precision(curves, 0, all, {0, 1}),
            .ap_75 = mean_precision(curves, 0, all, {5, 6}),
            .ap_small = precision(1),
            .ap_medium = precision(2),
            .ap_large = precision(3),
            .ar_1 = mean_recall(curves, 0, 0),
            .ar_10 = mean_recall(curves, 0, 1),
            .ar_100 = recall(0),
            .ar_small = recall(1),
            .ar_medium = recall(2),
            .ar_large = recall(3)};
  for (size_t i = 0; i < all.last; ++i)
    ap.by_category.push_back({curves.categories()[i], mean_precision(curves, 0, {i, i + 1}, kAllOverlaps)});
  return ap;
}

}  // namespace tbd
