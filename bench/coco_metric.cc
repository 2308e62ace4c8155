// COCO's average precision of a set and results in files, and such files of the size of val2017.
//   bench_coco_metric make FOLDER [IMAGES]         writes FOLDER/set.json and FOLDER/results.json: boxes, 100 an image
//   bench_coco_metric score SET RESULTS [bbox|segm]     one JSON line: seconds of CPU and the numbers
//   bench_coco_metric masks POLYGONS               a list of {"segmentation", "height", "width"}: a JSON line for each
#include <algorithm>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "quality/coco_ap.h"
#include "quality/coco_json.h"

namespace tbd {
namespace {

// Of instances_val2017.json.
constexpr int64_t kImages = 5'000, kObjects = 36'335, kCategories = 80, kHeight = 480, kWidth = 640;
constexpr int64_t kDetectionsPerImage = 100;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Numbers of one object or detection.
class Draw {
 public:
  explicit Draw(const Philox& stream) : stream_(stream) {}
  double uniform(double low, double high) { return low + (high - low) * stream_.uniform(next_++); }
  int64_t below(int64_t limit) { return static_cast<int64_t>(uniform(0, static_cast<double>(limit))); }

 private:
  Philox stream_;
  uint64_t next_ = 0;
};

// Sides are log-uniform, so that small, medium and large objects are about equally many.
CocoBox random_box(Draw& draw) {
  const double width = std::exp(draw.uniform(std::log(8), std::log(400)));
  const double height = std::min(width * std::exp(draw.uniform(-0.7, 0.7)), kHeight - 1.0);
  return {draw.uniform(0, kWidth - width), draw.uniform(0, kHeight - height), width, height};
}
// A third of the objects are of the first category, as persons are in COCO.
int64_t random_category(Draw& draw) { return draw.uniform(0, 3) < 1 ? 1 : 1 + draw.below(kCategories); }

CocoGroundTruth made_truth(int64_t images) {
  CocoGroundTruth truth;
  for (int64_t i = 1; i <= images; ++i) truth.images.push_back(i);
  for (int64_t i = 1; i <= kCategories; ++i) truth.categories.push_back(i);
  const Philox stream(1, "bench/coco_object");
  for (int64_t i = 0; i < kObjects * images / kImages; ++i) {
    Draw draw(stream.at(0, static_cast<uint32_t>(i)));
    CocoObject object{.image = 1 + draw.below(images), .category = random_category(draw), .box = random_box(draw)};
    object.crowd = draw.uniform(0, 80) < 1;
    object.area = object.box.width * object.box.height * draw.uniform(0.4, 1);
    truth.objects.push_back(object);
  }
  return truth;
}

// The first of an image are its objects, moved a little; the others are anywhere, with lower scores.
std::vector<CocoDetection> made_detections(const CocoGroundTruth& truth) {
  std::vector<std::vector<const CocoObject*>> objects(truth.images.size() + 1);
  for (const CocoObject& object : truth.objects) objects[static_cast<size_t>(object.image)].push_back(&object);
  std::vector<CocoDetection> detections;
  const Philox stream(1, "bench/coco_detection");
  for (const int64_t image : truth.images)
    for (int64_t i = 0; i < kDetectionsPerImage; ++i) {
      Draw draw(stream.at(static_cast<uint32_t>(i), static_cast<uint32_t>(image)));
      const std::vector<const CocoObject*>& there = objects[static_cast<size_t>(image)];
      CocoDetection detection{.image = image};
      if (std::cmp_less(i, 2 * there.size())) {
        const CocoObject& object = *there[static_cast<size_t>(i) / 2];
        const double moved = 0.15 * draw.uniform(0, 1);
        detection.category = object.category;
        detection.box = object.box;
        detection.box.x += moved * object.box.width * draw.uniform(-1, 1);
        detection.box.y += moved * object.box.height * draw.uniform(-1, 1);
      } else {
        detection.category = random_category(draw);
        detection.box = random_box(draw);
      }
      // Three digits, so that scores are often equal.
      const double most = std::cmp_less(i, 2 * there.size()) ? 1 : 0.6;
      detection.score = std::round(1000 * draw.uniform(0.05, most)) / 1000;
      detections.push_back(detection);
    }
  return detections;
}

Json set_json(const CocoGroundTruth& truth) {
  Json set = {{"images", Json::array()}, {"annotations", Json::array()}, {"categories", Json::array()}};
  for (const int64_t id : truth.images) set["images"].push_back({{"id", id}, {"height", kHeight}, {"width", kWidth}});
  for (const int64_t id : truth.categories) set["categories"].push_back({{"id", id}, {"name", cat("category ", id)}});
  for (const CocoObject& object : truth.objects) {
    const CocoBox& box = object.box;
    set["annotations"].push_back({{"id", set["annotations"].size() + 1},
                                  {"image_id", object.image},
                                  {"category_id", object.category},
                                  {"bbox", {box.x, box.y, box.width, box.height}},
                                  {"area", object.area},
                                  {"iscrowd", object.crowd ? 1 : 0}});
  }
  return set;
}

void make(const std::filesystem::path& folder, int64_t images) {
  const CocoGroundTruth truth = made_truth(images);
  make_folder(folder);
  write_file(folder / "set.json", set_json(truth).dump());
  write_file(folder / "results.json", coco_results(made_detections(truth)).dump());
}

Json numbers_of(const CocoAp& ap) {
  Json stats = Json::array(), categories = Json::object();
  for (const std::optional<double>& value : {ap.ap, ap.ap_50, ap.ap_75, ap.ap_small, ap.ap_medium, ap.ap_large, ap.ar_1,
                                             ap.ar_10, ap.ar_100, ap.ar_small, ap.ar_medium, ap.ar_large})
    stats.push_back(or_null(value));
  for (const auto& [category, value] : ap.by_category) categories[std::to_string(category)] = or_null(value);
  return {{"stats", stats}, {"by_category", categories}};
}

void score(const std::string& set, const std::string& results, const std::string& kind) {
  require(kind == "bbox" || kind == "segm", "regions are bbox or segm, got ", kind);
  const CocoRegion region = kind == "bbox" ? CocoRegion::box : CocoRegion::mask;
  const double start = cpu_seconds();
  const CocoGroundTruth truth = coco_ground_truth(parse_json(read_file(set), set), region);
  const std::vector<CocoDetection> detections = coco_detections(parse_json(read_file(results), results), region);
  const double read = cpu_seconds();
  const CocoAp ap = coco_ap(coco_curves(truth, detections, region));
  const double judged = cpu_seconds();
  Json line = {{"objects", truth.objects.size()},
               {"detections", detections.size()},
               {"read_s", read - start},
               {"judge_s", judged - read}};
  line.update(numbers_of(ap));
  std::cout << line.dump() << "\n";
}

void masks(const std::string& path) {
  for (const Json& item : parse_json(read_file(path), path)) {
    const RunLengths mask = segmentation_mask(item.at("segmentation"), item.at("height"), item.at("width"));
    const PixelBox box = tight_box(mask);
    std::cout << Json{{"counts", mask.runs},
                      {"string", compress(mask)},
                      {"area", area(mask)},
                      {"bbox", {box.x, box.y, box.width, box.height}}}
                     .dump()
              << "\n";
  }
}

int run(const std::vector<std::string>& arguments) {
  const size_t count = arguments.size();
  const std::string verb = count > 1 ? arguments[1] : "";
  if (verb == "make" && count > 2)
    make(arguments[2], count > 3 ? std::stoll(arguments[3]) : kImages);
  else if (verb == "score" && count > 3)
    score(arguments[2], arguments[3], count > 4 ? arguments[4] : "bbox");
  else if (verb == "masks" && count > 2)
    masks(arguments[2]);
  else
    fail(ErrorKind::usage, "bench_coco_metric make FOLDER [IMAGES] | score SET RESULTS [bbox|segm] | masks POLYGONS");
  return 0;
}

}  // namespace
}  // namespace tbd

int main(int count, char** arguments) try {
  return tbd::run({arguments, arguments + count});
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 2;
}
