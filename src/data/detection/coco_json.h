// The entries of a COCO file of annotations, one JSON object each.
// Format: cocodataset.org, "Data format" of object detection; Lin et al. 2014, arXiv:1405.0312.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "data/crop_plan.h"
#include "host/run_lengths.h"

namespace tbd {

struct CocoImage {
  int64_t id = 0;
  ImageSize size;
  std::string file_name;  // below the folder of the split
};

struct CocoCategory {
  int64_t id = 0;
  std::string name;
};

// A mask in one of its written forms.
struct CocoSegmentation {
  using Polygons = std::vector<std::vector<double>>;  // each x1 y1 x2 y2 ..., or of four numbers x y width height
  using Counts = std::vector<int32_t>;                // run lengths
  std::variant<Polygons, Counts, std::string> form;   // text: run lengths, compressed
  std::optional<ImageSize> size;                      // of run lengths, as written
};
// Throws Error(invalid) for a polygon of an odd count of numbers or of fewer than 6 but 4, for run lengths that do not
// fill an image of this size, and for a `size` that is another one.
void check_segmentation(const CocoSegmentation& segmentation, ImageSize image);
// The mask, checked so.
RunLengths mask_of(const CocoSegmentation& segmentation, ImageSize image);

struct CocoEntry {  // of the list of annotations
  std::optional<int64_t> id;
  int64_t image_id = 0, category_id = 0;
  std::array<double, 4> box = {};  // x y width height in pixels
  double area = 0;                 // of the object in pixels
  bool crowd = false;              // stands for many objects
  std::optional<CocoSegmentation> segmentation;
};

// Keeps simdjson's memory from entry to entry; one per thread. `text` is the JSON object and is followed by
// kJsonPadding readable bytes. Every member throws Error(invalid) that names the key, or says what is no JSON.
class CocoJson {
 public:
  static constexpr size_t kJsonPadding = 64;
  CocoJson();
  ~CocoJson();
  CocoJson(const CocoJson&) = delete;
  CocoJson& operator=(const CocoJson&) = delete;

  CocoImage image(char* text, size_t size);
  CocoCategory category(char* text, size_t size);
  // The sentence of an Error begins with "annotation ID: " where the ID could be read.
  CocoEntry annotation(char* text, size_t size);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace tbd
