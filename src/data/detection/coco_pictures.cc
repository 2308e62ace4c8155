#include "data/detection/coco_pictures.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "data/detection/picture_plan.h"
#include "data/image_file.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

const char* year_folder(Split split) { return split == Split::train ? "train2017" : "val2017"; }

std::string with_noun(int64_t count, std::string_view one, std::string_view many) {
  return cat(grouped(count), " ", count == 1 ? one : many);
}

}  // namespace

fs::path coco_annotations(const fs::path& path, Split split) {
  return path / "annotations" / cat("instances_", year_folder(split), ".json");
}
fs::path coco_images(const fs::path& path, Split split) { return path / year_folder(split); }

void add_object(ObjectCounts& counts, double area) {
  ++counts.objects;
  ++(area < 32 * 32 ? counts.small : area < 96 * 96 ? counts.medium : counts.large);
}

std::string objects_note(const ObjectCounts& counts, int64_t images) {
  const auto ratio = [](int64_t part, int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(std::max<int64_t>(1, whole));
  };
  const auto share = [&](int64_t part) { return format_percent(ratio(part, counts.objects)); };
  return cat(significant(ratio(counts.objects, images), 2), " objects an image, at most ", counts.most, "; by area ",
             share(counts.small), " small, ", share(counts.medium), " medium, ", share(counts.large), " large");
}

RgbImage read_coco_image(const SourceSpec& spec, const CocoImage& image) {
  const std::string bytes = read_file(coco_images(spec.path, spec.split) / image.file_name);
  RgbImage pixels = decode_image(std::as_bytes(std::span(bytes)));
  require(pixels.size == image.size, "it has ", pixels.size.width, " x ", pixels.size.height,
          " pixels, its annotations are of ", image.size.width, " x ", image.size.height);
  return pixels;
}

bool is_object(const CocoAnnotation& annotation, const CocoImage& image) {
  return !annotation.crowd && clipped_box(annotation.box, image.size).has_value();
}

CocoPictures::CocoPictures(const SourceSpec& spec, bool reads_masks)
    : file_(coco_annotations(spec.path, spec.split), spec.detection.slots) {
  for (size_t image = 0; image < file_.images().size(); ++image) {
    if (!keeps(image, spec)) continue;
    kept_.push_back(static_cast<uint32_t>(image));
    count_objects(image, reads_masks);
  }
  const std::string file = file_.path().string();
  require(!file_.images().empty(), file, " lists no image");
  if (kept_.empty()) fail(ErrorKind::invalid, file, " has no image that can be used: ", join(notes(), "; "));
}

bool CocoPictures::keeps(size_t image, const SourceSpec& spec) {
  const std::span<const CocoAnnotation> all = file_.of_image(image);
  const bool usable = std::ranges::any_of(all, [](const CocoAnnotation& a) { return a.box[2] > 1 && a.box[3] > 1; });
  if (spec.split == Split::train && !usable) {
    ++left_out_.empty;
    return false;
  }
  if (spec.detection.task != DetectionTask::two_stage || fits_canvas(file_.images()[image].size, spec.detection))
    return true;
  ++left_out_.not_fitting;
  return false;
}

void CocoPictures::count_objects(size_t image, bool reads_masks) {
  int64_t objects = 0;
  for (const CocoAnnotation& annotation : file_.of_image(image)) {
    if (annotation.crowd) {
      ++left_out_.crowds;
      continue;
    }
    if (!is_object(annotation, file_.images()[image])) {
      ++left_out_.without_area;
      continue;
    }
    require(annotation.masked || !reads_masks, file_.path().string(), ": annotation ", annotation.id,
            " has no 'segmentation', which the network reads");
    ++objects;
    add_object(counts_, annotation.area);
  }
  counts_.most = std::max(counts_.most, objects);
}

std::vector<std::string> CocoPictures::notes() const {
  std::vector<std::string> notes;
  const auto note = [&](int64_t count, std::string_view one, std::string_view many, std::string_view rest) {
    if (count > 0) notes.push_back(cat(with_noun(count, one, many), rest));
  };
  note(left_out_.empty, "image", "images", " without an object left out");
  note(left_out_.not_fitting, "image", "images", " left out: resized they do not fit the network's input");
  note(left_out_.crowds, "crowd annotation", "crowd annotations", " left out");
  note(left_out_.without_area, "box", "boxes", " without area inside the image left out");
  return notes;
}

}  // namespace tbd
