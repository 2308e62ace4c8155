// COCO's average precision and recall of boxes and masks.
// Source: Lin et al. 2014, arXiv:1405.0312, and the behaviour of pycocotools 2.0.11 (COCOeval), which the numbers
// equal.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "host/run_lengths.h"

namespace tbd {

struct CocoBox {  // pixels; x, y is the upper left corner
  double x = 0, y = 0, width = 0, height = 0;
};

// Ids are those of the set's files. Masks may be empty where only boxes are judged.
struct CocoObject {
  int64_t image = 0, category = 0;
  CocoBox box;
  double area = 0;     // of the object in pixels, as annotated: its size, for boxes too
  bool crowd = false;  // stands for many objects: any number of detections may match it, and none of them counts
  RunLengths mask;
};
struct CocoDetection {
  int64_t image = 0, category = 0;
  double score = 0;
  CocoBox box;
  RunLengths mask;
};
// Objects of a category that is not listed do not count, nor do detections of it.
struct CocoGroundTruth {
  std::vector<int64_t> images, categories;
  std::vector<CocoObject> objects;
};

enum class CocoRegion { box, mask };

// Cells of the metric: an object is found at an overlap (intersection over union) of 0.5, 0.55, ... 0.95, among the
// first 1, 10 or 100 detections of an image and category; objects of all areas, up to 32², from 32² to 96², from 96².
constexpr size_t kCocoOverlaps = 10, kCocoLimits = 3, kCocoAreas = 4, kCocoRecalls = 101;

struct CocoCurve {
  std::array<double, kCocoRecalls> precision{};  // at recall 0, 0.01, ... 1: the best at this recall or above
  double recall = 0;                             // of all detections
};
class CocoCurves {
 public:
  explicit CocoCurves(std::vector<int64_t> categories);

  const std::vector<int64_t>& categories() const { return categories_; }  // ids, ascending
  // nullopt where the category has no object of the area to be found. Indices go by the lists above.
  std::optional<CocoCurve>& at(size_t category, size_t area, size_t limit, size_t overlap);
  const std::optional<CocoCurve>& at(size_t category, size_t area, size_t limit, size_t overlap) const;

 private:
  std::vector<int64_t> categories_;
  std::vector<std::optional<CocoCurve>> curves_;
};

// Throws Error(invalid) for an object or detection of an image that is not listed, a score, box or area that is not
// finite, a box with a negative side, and, for masks, run lengths that do not fill their extents or masks of one image
// that differ in them. The first such is named by its number.
CocoCurves coco_curves(const CocoGroundTruth& truth, std::span<const CocoDetection> detections, CocoRegion region);

// Means over overlaps, recalls and categories of the cells that there are; nullopt where there is none. Average
// precision (ap) and recall (ar) take the first 100 detections, ar_1 and ar_10 the first 1 and 10.
struct CocoAp {
  std::optional<double> ap, ap_50, ap_75, ap_small, ap_medium, ap_large;
  std::optional<double> ar_1, ar_10, ar_100, ar_small, ar_medium, ar_large;
  struct Category {
    int64_t category = 0;
    std::optional<double> ap;
  };
  std::vector<Category> by_category;  // by ascending id
};
CocoAp coco_ap(const CocoCurves& curves);

}  // namespace tbd
