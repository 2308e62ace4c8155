#include "data/sets/stamp_set.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "data/jpeg_encoder.h"
#include "data/sets/mask_outline.h"
#include "data/sets/photo_source.h"
#include "data/sets/stamp_picture.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kTrainPhotographs[] = {"Aqua", "Blinds", "Dune", "GreenMeadow", "RainDrops"};
constexpr std::string_view kValPhotographs[] = {"Storm", "Wood"};
constexpr int64_t kCrowdEvery = 20;

RgbImage photograph_of(const std::vector<PhotoSource>& photos, std::string_view name) {
  const auto found = std::ranges::find(photos, name, &PhotoSource::name);
  require(found != photos.end(), "the photograph ", name, " of mate-backgrounds is missing");
  const std::string bytes = read_file(found->file);
  JpegDecoder decoder;
  decoder.open(std::as_bytes(std::span(bytes)));
  return decoder.image(kDecoded);
}

std::vector<RgbImage> photographs_of(const std::vector<PhotoSource>& photos, std::span<const std::string_view> names) {
  std::vector<RgbImage> out;
  for (const std::string_view name : names) out.push_back(photograph_of(photos, name));
  return out;
}

// Writes one split's pictures and remembers their annotations.
class SplitWriter {
 public:
  SplitWriter(const fs::path& folder, const StampSetOptions& options, std::span<const StampCategory> categories)
      : folder_(folder), options_(options), categories_(categories) {}

  StampSplit write(Split split, int64_t count, const std::vector<RgbImage>& photographs) {
    images_ = annotations_ = Json::array();
    made_ = {};
    const bool training = split == Split::train;
    make_folder(coco_images(folder_, split));
    const Philox stream(options_.seed, "data/compose");
    for (int64_t k = 0; k < count; ++k) {
      Draws draws(stream.at(training ? 0 : 1, static_cast<uint32_t>(k)));
      add(split, compose_stamps(photographs, categories_, settings(split, k), draws));
    }
    make_folder(folder_ / "annotations");
    write_file(coco_annotations(folder_, split), set().dump() + "\n");
    return made_;
  }

 private:
  StampPictureSettings settings(Split split, int64_t k) const {
    const int64_t most = options_.most > 0 ? options_.most : options_.size.width / 2;
    return {.size = options_.size,
            .split = split,
            .least = static_cast<double>(options_.least),
            .most = static_cast<double>(most),
            .objects = options_.objects,
            .crowd = k % kCrowdEvery == kCrowdEvery - 1};
  }

  void add(Split split, const StampPicture& picture) {
    const std::string digits = cat(++image_);
    const std::string name = std::string(12 - digits.size(), '0') + digits + ".jpg";
    write_file(coco_images(folder_, split) / name, encode_jpeg(picture.image));
    images_.push_back(
        {{"id", image_}, {"file_name", name}, {"width", options_.size.width}, {"height", options_.size.height}});
    int64_t objects = 0;
    for (const PastedObject& object : picture.objects) {
      annotations_.push_back(annotation(object));
      if (object.crowd) {
        ++made_.crowds;
        continue;
      }
      ++objects;
      made_.truncated += object.truncated;
      add_object(made_.objects, static_cast<double>(area(object.mask)));
    }
    made_.objects.most = std::max(made_.objects.most, objects);
    ++made_.images;
  }

  Json annotation(const PastedObject& object) {
    const PixelBox box = tight_box(object.mask);
    return {{"id", ++annotation_},
            {"image_id", image_},
            {"category_id", object.category + 1},
            {"bbox", {box.x, box.y, box.width, box.height}},
            {"area", area(object.mask)},
            {"iscrowd", object.crowd ? 1 : 0},
            {"segmentation", segmentation(object)}};
  }

  Json segmentation(const PastedObject& object) {
    if (!object.crowd)
      if (const auto polygons = outline(object.mask)) return *polygons;
    Json counts = ++runs_ % 2 == 1 ? Json(compress(object.mask)) : Json(object.mask.runs);
    return {{"size", {object.mask.height, object.mask.width}}, {"counts", std::move(counts)}};
  }

  Json set() const {
    Json categories = Json::array();
    for (size_t i = 0; i < categories_.size(); ++i)
      categories.push_back({{"id", i + 1}, {"name", categories_[i].name}});
    return {{"images", images_}, {"annotations", annotations_}, {"categories", categories}};
  }

  fs::path folder_;
  StampSetOptions options_;
  std::span<const StampCategory> categories_;
  Json images_, annotations_;
  StampSplit made_;
  int64_t image_ = 0, annotation_ = 0, runs_ = 0;  // the last ones' numbers
};

Json split_json(const StampSplit& split) {
  const ObjectCounts& objects = split.objects;
  return {{"images", split.images},       {"objects", objects.objects}, {"most_objects", objects.most},
          {"small", objects.small},       {"medium", objects.medium},   {"large", objects.large},
          {"truncated", split.truncated}, {"crowds", split.crowds}};
}

Json stamps_description(const StampSetSummary& made, const StampSetOptions& options,
                        std::span<const StampCategory> categories) {
  Json counts = Json::object();
  for (const StampCategory& category : categories) counts[std::string(category.name)] = category.stamps.size();
  return {{"size", {options.size.width, options.size.height}},
          {"seed", options.seed},
          {"train", split_json(made.train)},
          {"val", split_json(made.val)},
          {"stamps", counts},
          {"sources",
           {{{"package", "tuxpaint-stamps-default"}, {"licence", "GPL-2"}, {"used_as", "objects"}},
            {{"package", "mate-backgrounds"}, {"licence", "GPL-2+"}, {"used_as", "photographs behind them"}}}}};
}

void check_stamp_options(const StampSetOptions& options) {
  require(options.images >= 5 && options.images <= 1'000'000, "a set of stamps has from 5 to 1,000,000 images, got ",
          options.images);
  const auto [width, height] = options.size;
  require(std::min(width, height) >= 64 && std::max(width, height) <= 1200, "pictures of stamps have sides from 64 to ",
          "1200 pixels, got ", width, " x ", height);
  require(options.categories >= 1 && options.categories <= stamp_category_count(), "stamps have 1 to ",
          stamp_category_count(), " categories, got ", options.categories);
  require(options.objects >= 1 && options.objects <= 8, "a picture of stamps has 1 to 8 objects at most, got ",
          options.objects);
  require(options.least >= 8 && (options.most == 0 || options.most >= options.least), "objects of ", options.least,
          " to ", options.most, " pixels make no sense");
}

}  // namespace

StampSetSummary make_stamp_set(const fs::path& source_dir, const fs::path& out_dir, const StampSetOptions& options) {
  check_stamp_options(options);
  MadeSet made(out_dir);
  const std::vector<StampCategory> categories = find_stamps(source_dir, options.categories);
  const std::vector<PhotoSource> photos = find_photos(source_dir, kLeastSource);
  SplitWriter writer(made.folder(), options, categories);
  StampSetSummary summary{.categories = options.categories};
  for (const StampCategory& category : categories) summary.stamps += static_cast<int64_t>(category.stamps.size());
  summary.train = writer.write(Split::train, options.images, photographs_of(photos, kTrainPhotographs));
  summary.val = writer.write(Split::val, options.images / 5, photographs_of(photos, kValPhotographs));
  summary.set = made.finish("stamps", stamps_description(summary, options, categories));
  return summary;
}

}  // namespace tbd
