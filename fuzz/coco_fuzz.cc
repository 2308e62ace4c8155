// Any bytes as a COCO file of annotations: reading gives annotations of listed images with masks that fill them, or
// throws Error, and nothing else. Bytes that begin no JSON object are taken as edits of a good file: each four are
// (position, 16 bit; value; kind 0: replace, 1: cut here, 2: drop a byte, 3: insert).
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "data/detection/coco_file.h"
#include "data/detection/picture_plan.h"

namespace {

constexpr int64_t kMaxPixels = 1 << 16;  // larger masks only cost time

const std::string kGood = R"({"info": {"year": 2017}, "images": [
{"id": 3, "width": 12, "height": 10, "file_name": "3.jpg"}, {"id": 9, "width": 30, "height": 40, "file_name": "a/9.jpg"}],
"annotations": [{"id": 1, "image_id": 3, "category_id": 2, "bbox": [1, 2, 5, 4], "area": 20, "iscrowd": 0,
"segmentation": [[1, 2, 1, 6, 6, 6, 6.5, 2], [8, 8, 2, 1]]},
{"segmentation": {"size": [10, 12], "counts": [50, 20, 50]}, "id": 2, "image_id": 3, "category_id": 90,
"bbox": [-1.5, 2e0, 50, 4], "area": 20.5, "iscrowd": 1},
{"id": 4, "image_id": 9, "category_id": 1, "bbox": [0, 0, 30, 40], "area": 900, "iscrowd": 0,
"segmentation": {"size": [40, 30], "counts": "h>8PO00h0"}}], "categories": [{"id": 1, "name": "one"}]})";

std::string edited(const uint8_t* data, size_t size) {
  std::string text = kGood;
  for (size_t i = 0; i + 4 <= size && !text.empty(); i += 4) {
    const size_t at = (data[i] | size_t{data[i + 1]} << 8) % text.size();
    const auto value = static_cast<char>(data[i + 2]);
    switch (data[i + 3] % 8) {
      case 1:
        text.resize(at);
        break;
      case 2:
        text.erase(at, 1);
        break;
      case 3:
        text.insert(at, 1, value);
        break;
      default:
        text[at] = value;
    }
  }
  return text;
}

void check(bool holds) {
  if (!holds) std::abort();
}

void read(const std::filesystem::path& path) {
  static tbd::CocoJson json;  // reused, as by the pipeline: an error must leave it usable
  const tbd::CocoFile file(path, 91);
  for (size_t i = 0; i < file.images().size(); ++i) {
    const tbd::ImageSize size = file.images()[i].size;
    for (const tbd::CocoAnnotation& annotation : file.of_image(i)) {
      check(annotation.image == i && annotation.category >= 1 && annotation.category < 91);
      if (const auto box = tbd::clipped_box(annotation.box, size)) check((*box)[0] >= 0 && (*box)[2] > (*box)[0]);
      if (!annotation.masked || size.width * size.height > kMaxPixels) continue;
      tbd::require_valid(file.mask(annotation, json));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tbd::TemporaryFolder folder;
  const bool is_object = size > 0 && data[0] == '{';
  const std::string text = is_object ? std::string(reinterpret_cast<const char*>(data), size) : edited(data, size);
  tbd::write_file(folder.path() / "instances.json", text);
  try {
    read(folder.path() / "instances.json");
  } catch (const tbd::Error&) {
    // A refusal is an answer.
  }
  return 0;
}
