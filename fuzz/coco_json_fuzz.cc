// Any bytes as a COCO set or as results: read and judged against themselves, or one Error. What is read as results is
// written and read back alike.
#include <cstdlib>

#include "base/json.h"
#include "quality/coco_ap.h"
#include "quality/coco_json.h"

namespace {

using tbd::CocoDetection, tbd::CocoGroundTruth, tbd::CocoObject, tbd::CocoRegion;

void judge(const CocoGroundTruth& truth, const std::vector<CocoDetection>& detections, CocoRegion region) {
  const tbd::CocoAp ap = tbd::coco_ap(tbd::coco_curves(truth, detections, region));
  for (const std::optional<double>& value : {ap.ap, ap.ap_small, ap.ar_1, ap.ar_100})
    if (value && !(*value >= 0 && *value <= 1)) std::abort();
}

// Each object found where it is.
void judge_set(const tbd::Json& json, CocoRegion region) {
  const CocoGroundTruth truth = tbd::coco_ground_truth(json, region);
  std::vector<CocoDetection> detections;
  for (const CocoObject& object : truth.objects)
    detections.push_back({object.image, object.category, object.area, object.box, object.mask});
  judge(truth, detections, region);
}

// Each detection is an object, too.
void judge_results(const tbd::Json& json, CocoRegion region) {
  const std::vector<CocoDetection> detections = tbd::coco_detections(json, region);
  CocoGroundTruth truth;
  for (const CocoDetection& detection : detections) {
    truth.images.push_back(detection.image);
    truth.categories.push_back(detection.category);
    truth.objects.push_back({detection.image, detection.category, detection.box, 100, false, detection.mask});
  }
  judge(truth, detections, region);
  const tbd::Json written = tbd::coco_results(detections);
  if (tbd::coco_results(tbd::coco_detections(written, region)) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  for (const CocoRegion region : {CocoRegion::box, CocoRegion::mask}) try {
      const tbd::Json json = tbd::parse_json({reinterpret_cast<const char*>(data), size}, "fuzz");
      if (json.is_array())
        judge_results(json, region);
      else
        judge_set(json, region);
    } catch (const tbd::Error&) {
    }
  return 0;
}
