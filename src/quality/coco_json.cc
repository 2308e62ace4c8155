#include "quality/coco_json.h"

#include <unordered_map>

#include "base/json.h"

namespace tbd {
namespace {

struct Extents {
  int64_t height, width;
};

Extents extents_of(const Json& runs) {
  const auto size = at<std::vector<int64_t>>(runs, "size");
  require(size.size() == 2, "'size' has ", size.size(), " numbers; it needs height and width");
  return {size[0], size[1]};
}

std::vector<int32_t> listed_runs(const Json& counts) {
  std::vector<int32_t> runs;
  for (const Json& count : counts) {
    require(count.is_number_integer() && fits<int>(count), "a run length is ", count.dump().substr(0, 60));
    runs.push_back(count.get<int32_t>());
  }
  return runs;
}

RunLengths mask_of_runs(const Json& segmentation) {
  const auto [height, width] = extents_of(segmentation);
  const Json counts = at<Json>(segmentation, "counts");
  if (counts.is_string()) return decompress(counts.get<std::string>(), height, width);
  require(counts.is_array(), "'counts' is neither a list nor a text");
  RunLengths mask{height, width, listed_runs(counts)};
  require_valid(mask);
  return mask;
}

std::vector<double> numbers(const Json& list, const char* what) {
  require(list.is_array(), what, " is no list");
  std::vector<double> values;
  values.reserve(list.size());
  for (const Json& value : list) {
    require(value.is_number(), what, " holds ", value.dump().substr(0, 60));
    values.push_back(value.get<double>());
  }
  return values;
}

CocoBox read_box(const Json& item) {
  const std::vector<double> box = numbers(at<Json>(item, "bbox"), "'bbox'");
  require(box.size() == 4, "'bbox' has ", box.size(), " numbers; it needs x, y, width and height");
  return {box[0], box[1], box[2], box[3]};
}

const Json& list(const Json& set, const char* key) {
  require(set.is_object() && set.contains(key) && set.at(key).is_array(), "the list '", key, "' is missing");
  return set.at(key);
}

CocoObject object_of(const Json& annotation, const std::unordered_map<int64_t, Extents>& images, CocoRegion region) {
  CocoObject object{.image = at<int64_t>(annotation, "image_id"),
                    .category = at<int64_t>(annotation, "category_id"),
                    .box = read_box(annotation),
                    .area = at<double>(annotation, "area"),
                    .crowd = maybe<int64_t>(annotation, "iscrowd").value_or(0) != 0,
                    .mask = {}};
  const auto image = images.find(object.image);
  require(image != images.end(), "image ", object.image, " is not in the set");
  if (region == CocoRegion::mask)
    object.mask = segmentation_mask(at<Json>(annotation, "segmentation"), image->second.height, image->second.width);
  return object;
}

CocoDetection detection_of(const Json& result, CocoRegion region) {
  CocoDetection detection{.image = at<int64_t>(result, "image_id"),
                          .category = at<int64_t>(result, "category_id"),
                          .score = at<double>(result, "score"),
                          .box = {},
                          .mask = {}};
  if (region == CocoRegion::box)
    detection.box = read_box(result);
  else
    detection.mask = mask_of_runs(at<Json>(result, "segmentation"));
  return detection;
}

}  // namespace

RunLengths segmentation_mask(const Json& segmentation, int64_t height, int64_t width) {
  if (segmentation.is_object()) {
    const auto [rows, columns] = extents_of(segmentation);
    require(rows == height && columns == width, "the mask has ", rows, " x ", columns, " pixels, its image ", height,
            " x ", width);
    return mask_of_runs(segmentation);
  }
  require(segmentation.is_array(), "'segmentation' is neither polygons nor run lengths");
  std::vector<std::vector<double>> polygons;
  for (const Json& points : segmentation) polygons.push_back(numbers(points, "a polygon"));
  return polygons_mask(polygons, height, width);
}

CocoGroundTruth coco_ground_truth(const Json& set, CocoRegion region) {
  CocoGroundTruth truth;
  std::unordered_map<int64_t, Extents> images;
  for (const Json& image : list(set, "images")) {
    truth.images.push_back(at<int64_t>(image, "id"));
    images[truth.images.back()] = {at<int64_t>(image, "height"), at<int64_t>(image, "width")};
  }
  for (const Json& category : list(set, "categories")) truth.categories.push_back(at<int64_t>(category, "id"));
  for (const Json& annotation : list(set, "annotations")) try {
      truth.objects.push_back(object_of(annotation, images, region));
    } catch (const Error& e) {
      const Json id = annotation.is_object() && annotation.contains("id") ? annotation.at("id") : Json(nullptr);
      throw e.within(cat("annotation ", id.dump().substr(0, 60)));
    }
  return truth;
}

std::vector<CocoDetection> coco_detections(const Json& results, CocoRegion region) {
  require(results.is_array(), "results are no list");
  std::vector<CocoDetection> detections;
  for (const Json& result : results) try {
      detections.push_back(detection_of(result, region));
    } catch (const Error& e) {
      throw e.within(cat("result ", detections.size()));
    }
  return detections;
}

Json coco_results(std::span<const CocoDetection> detections) {
  Json results = Json::array();
  for (const CocoDetection& detection : detections) {
    const CocoBox& box = detection.box;
    Json result = {{"image_id", detection.image},
                   {"category_id", detection.category},
                   {"bbox", {box.x, box.y, box.width, box.height}},
                   {"score", detection.score}};
    if (!detection.mask.runs.empty())
      result["segmentation"] = {{"size", {detection.mask.height, detection.mask.width}},
                                {"counts", compress(detection.mask)}};
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace tbd
