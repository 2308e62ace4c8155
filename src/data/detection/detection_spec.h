// What a source of pictures with boxes and masks is asked for: the part of SourceSpec that other data do not need.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

namespace tbd {

// Which inputs a detection source gives (docs/data.md): those of a network that samples anchors and proposals, or those
// of one that classifies every anchor.
enum class DetectionTask { none, two_stage, one_stage };

struct DetectionSpec {
  DetectionTask task = DetectionTask::none;
  int64_t height = 800, width = 1344;  // of a padded picture
  int64_t slots = 91;                  // labels are below it; 0 is the background

  // Two stages. Defaults: Mask R-CNN with a feature pyramid, arXiv:1703.06870 and 1612.03144.
  int64_t objects = 100;          // rows for boxes of a picture
  int64_t mask_runs = 131072;     // places for run lengths of a picture; 0: no masks
  int64_t roi_keys = 2100;        // proposals and rows for boxes
  int64_t sampled_anchors = 256;  // places for anchors that the loss sees
  int64_t positive_anchors = 128;
  std::vector<std::vector<int64_t>> anchor_sizes = {{32}, {64}, {128}, {256}, {512}};  // by level
  int64_t first_stride = 4;  // of the first level, in pixels; each next one has twice the last one's

  // One stage: levels 3 to 7. EfficientDet, arXiv:1911.09070.
  double anchor_scale = 4;                   // side of an anchor over the stride of its level, at octave 0
  double least_scale = 0.1, most_scale = 2;  // of a picture on the canvas in training, drawn between them

  // Files: the shorter side becomes short_side unless the longer one would exceed long_side, both at most the padded
  // picture's; with multiscale the shorter side is drawn from 80 to 100 % of short_side in steps of 4 %.
  int64_t short_side = 800, long_side = 1333;
  bool multiscale = false;
  bool operator==(const DetectionSpec&) const = default;
};
nlohmann::ordered_json to_json_value(const DetectionSpec& spec);
// Throws Error(invalid) naming the key; absent keys keep what `spec` has, or with "conventions" what these say.
void from_json_value(const nlohmann::ordered_json& json, DetectionSpec& spec);
// Throws Error(invalid) for extents that make no sense.
void check(const DetectionSpec& spec);

// Slots, anchors and sides as a reference implementation has them, by its name: "torchvision" (the defaults),
// "torchvision-81" (80 categories), "torchvision-tiny" (4 slots, anchors of 8 to 128 pixels), "faster-c4" (one level of
// stride 16 and 21 slots; Zhu et al. 2018), "effdet" (the defaults), "effdet-d7" (larger anchors), "effdet-small"
// (smaller anchors and little scaling: ours, for small pictures with large objects). Throws Error(invalid) for another
// name.
DetectionSpec detection_conventions(std::string_view name);

}  // namespace tbd
