// The pictures of a COCO data set that a network sees, and what is left out.
#pragma once
#include <array>
#include <optional>
#include <vector>

#include "data/detection/coco_file.h"
#include "data/detection/detection_spec.h"
#include "data/jpeg_decoder.h"
#include "data/source.h"

namespace tbd {

// path/annotations/instances_train2017.json or instances_val2017.json, and path/train2017 or path/val2017.
std::filesystem::path coco_annotations(const std::filesystem::path& path, Split split);
std::filesystem::path coco_images(const std::filesystem::path& path, Split split);

// Objects by their area in pixels, as the metric has them: below 32², below 96², others.
struct ObjectCounts {
  int64_t objects = 0, small = 0, medium = 0, large = 0;
  int64_t most = 0;  // in one image
};

struct LeftOutObjects {
  int64_t crowds = 0;        // annotations of many objects
  int64_t without_area = 0;  // boxes of which nothing is inside the image
  int64_t empty = 0;         // images without an annotation that has both sides above 1 pixel
  int64_t not_fitting = 0;   // images whose resized extents exceed the canvas: portraits, mostly
};

void add_object(ObjectCounts& counts, double area);  // `most` is the caller's to set
// "7.3 objects an image, at most 93; by area 41.4 % small, 34.3 % medium, 24.3 % large".
std::string objects_note(const ObjectCounts& counts, int64_t images);

// Training leaves out images without an annotation of which both sides are above 1 pixel, as torchvision's references
// do; networks of two stages leave out those that do not fit their canvas; crowds are no objects.
class CocoPictures {
 public:
  // Throws as CocoFile; Error(invalid) where no image is left, and, by id, for an object without a mask where masks are
  // read.
  CocoPictures(const SourceSpec& spec, bool reads_masks);

  const CocoFile& file() const { return file_; }
  size_t size() const { return kept_.size(); }
  // By ascending id of the image; `position` is a place among those that are left.
  const CocoImage& image(size_t position) const { return file_.images()[kept_[position]]; }
  std::span<const CocoAnnotation> annotations(size_t position) const { return file_.of_image(kept_[position]); }

  const ObjectCounts& counts() const { return counts_; }  // of the images that are left
  const LeftOutObjects& left_out() const { return left_out_; }
  std::vector<std::string> notes() const;  // the counts as sentences

 private:
  bool keeps(size_t image, const SourceSpec& spec);
  void count_objects(size_t image, bool reads_masks);

  CocoFile file_;
  std::vector<uint32_t> kept_;
  ObjectCounts counts_;
  LeftOutObjects left_out_;
};

// The pixels of a file. Throws Error as read_file and decode_image, and Error(invalid) for extents that are not those
// of its annotations.
RgbImage read_coco_image(const SourceSpec& spec, const CocoImage& image);

// Whether an annotation is an object of its image: no crowd, and its box has area inside the image.
bool is_object(const CocoAnnotation& annotation, const CocoImage& image);

}  // namespace tbd
