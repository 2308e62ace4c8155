// The annotations of a COCO data set: who is in which image and where, and masks read again when they are asked for.
#pragma once
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "data/detection/coco_json.h"

namespace tbd {

struct CocoAnnotation {
  int64_t id = 0;
  uint32_t image = 0;  // a place in images()
  int32_t category = 0;
  bool crowd = false, masked = false;  // masked: it has a segmentation
  std::array<double, 4> box = {};      // x y width height in pixels
  double area = 0;                     // of the object in pixels
  int64_t begin = 0;                   // of its text in the file
  uint32_t bytes = 0;
};

// A file of annotations, read once from its begin to its end, and once more where it names annotations before images.
// What stays in memory is below 100 bytes an annotation and 200 an image, whatever masks there are.
class CocoFile {
 public:
  // Categories are from 1 to slots - 1. Throws Error(not_found or io) for a file that cannot be read; Error(invalid)
  // with the file's name for one that is no JSON or ends early, by its byte, for an entry longer than 1 MiB, for an
  // image id that comes twice, and by the annotation's id for an unknown image, a category beyond the slots, a missing
  // or malformed member, and a mask as check_segmentation says.
  CocoFile(std::filesystem::path file, int64_t slots);
  ~CocoFile();
  CocoFile(CocoFile&&) noexcept;

  const std::filesystem::path& path() const;
  const std::vector<CocoImage>& images() const;            // by ascending id
  const std::vector<CocoCategory>& categories() const;     // as listed
  const std::vector<CocoAnnotation>& annotations() const;  // by image, else as listed
  std::span<const CocoAnnotation> of_image(size_t image) const;

  // Reads its text again. Thread-safe with a CocoJson of one's own. Throws Error(invalid) by file and id where it has
  // no mask or changed since it was first read.
  RunLengths mask(const CocoAnnotation& annotation, CocoJson& json) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tbd
