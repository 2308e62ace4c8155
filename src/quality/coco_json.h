// COCO's files as far as the metric needs them: a set's annotations and a detector's results.
// Format: cocodataset.org, "Data format" and "Results format".
#pragma once
#include <span>
#include <vector>

#include "base/json_fwd.h"
#include "quality/coco_ap.h"

namespace tbd {

// {"images": [{"id", "height", "width"}], "categories": [{"id"}], "annotations": [{"id", "image_id", "category_id",
// "bbox", "area", "iscrowd", "segmentation"}]}. Masks are read for CocoRegion::mask alone: polygons, a list of run
// lengths or their compressed form. Throws Error(invalid) that names the annotation by its id.
CocoGroundTruth coco_ground_truth(const Json& set, CocoRegion region);

// [{"image_id", "category_id", "score", "bbox", "segmentation"}], of which only "bbox" or, for CocoRegion::mask, only
// "segmentation" (run lengths) must be there. Throws Error(invalid) that names the result by its place from 0.
std::vector<CocoDetection> coco_detections(const Json& results, CocoRegion region);
// The same form; a "segmentation" for what has a mask.
Json coco_results(std::span<const CocoDetection> detections);

// The mask of "segmentation" in an image of height x width pixels. Throws Error(invalid) as host/run_lengths.h says,
// and for a "size" that is not the image's.
RunLengths segmentation_mask(const Json& segmentation, int64_t height, int64_t width);

}  // namespace tbd
