// Small data sets in the layout of COCO for tests.
#pragma once
#include <filesystem>
#include <string>

#include "base/json.h"
#include "data/testing_images.h"

namespace tbd::testing_coco {

inline Json coco_image(int64_t id, int64_t width, int64_t height) {
  return {{"id", id}, {"width", width}, {"height", height}, {"file_name", cat(id, ".jpg")}};
}
// A box with the polygon of its corners.
inline Json coco_annotation(int64_t id, int64_t image, int64_t category, std::array<double, 4> box) {
  const auto [x, y, w, h] = box;
  return {{"id", id},
          {"image_id", image},
          {"category_id", category},
          {"bbox", {x, y, w, h}},
          {"area", w * h},
          {"iscrowd", 0},
          {"segmentation", {{x, y, x, y + h, x + w, y + h, x + w, y}}}};
}
inline Json coco_set(Json images, Json annotations) {
  return {{"info", {{"year", 2017}}},
          {"images", std::move(images)},
          {"annotations", std::move(annotations)},
          {"categories", {{{"id", 1}, {"name", "one"}}, {{"id", 2}, {"name", "two"}}}}};
}

// Writes the annotations of training, and each image as a JPEG that `variant` = its id decides.
inline void write_coco(const std::filesystem::path& root, const Json& set, const std::string& split = "train2017") {
  make_folder(root / "annotations");
  write_file(root / "annotations" / cat("instances_", split, ".json"), set.dump());
  for (const Json& image : set["images"])
    testing_images::write_jpeg(root / split / image["file_name"].get<std::string>(), image["id"].get<int64_t>(),
                               {image["width"].get<int64_t>(), image["height"].get<int64_t>()});
}

}  // namespace tbd::testing_coco
