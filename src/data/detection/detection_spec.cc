#include "data/detection/detection_spec.h"

#include "base/codec.h"

namespace tbd {

template <>
struct codec::EnumNames<DetectionTask> {
  static constexpr std::string_view kNames[] = {"none", "two_stage", "one_stage"};
};
template <>
struct codec::Noun<DetectionTask> {
  static constexpr std::string_view kText = "detection task";
};

template <codec::Is<DetectionSpec> T>
void fields(T& spec, auto visit) {
  visit("task", spec.task);
  visit("height", spec.height);
  visit("width", spec.width);
  visit("slots", spec.slots);
  visit("objects", spec.objects);
  visit("mask_runs", spec.mask_runs);
  visit("roi_keys", spec.roi_keys);
  visit("sampled_anchors", spec.sampled_anchors);
  visit("positive_anchors", spec.positive_anchors);
  visit("anchor_sizes", spec.anchor_sizes);
  visit("first_stride", spec.first_stride);
  visit("anchor_scale", spec.anchor_scale);
  visit("least_scale", spec.least_scale);
  visit("most_scale", spec.most_scale);
  visit("short_side", spec.short_side);
  visit("long_side", spec.long_side);
  visit("multiscale", spec.multiscale);
}

namespace {

struct Conventions {
  std::string_view name;
  DetectionSpec spec;
};
const std::vector<Conventions>& all_conventions() {
  static const std::vector<Conventions> all = {
      {"torchvision", {}},
      {"torchvision-81", {.slots = 81}},
      {"torchvision-tiny", {.slots = 4, .anchor_sizes = {{8}, {16}, {32}, {64}, {128}}}},
      {"faster-c4",
       {.slots = 21, .anchor_sizes = {{128, 256, 512}}, .first_stride = 16, .short_side = 600, .long_side = 1000}},
      {"effdet", {}},
      {"effdet-d7", {.anchor_scale = 5}},
      {"effdet-small", {.anchor_scale = 3, .least_scale = 0.7, .most_scale = 1.4}}};
  return all;
}

void require_between(const char* what, int64_t value, int64_t low, int64_t high) {
  require(value >= low && value <= high, what, " of detection must be from ", low, " to ", high, ", got ", value);
}

void check_anchors(const DetectionSpec& spec) {
  constexpr int64_t kLargest = 1 << 14;
  require_between("first_stride", spec.first_stride, 1, kLargest);
  require_between("the number of levels", static_cast<int64_t>(spec.anchor_sizes.size()), 1, 8);
  for (const std::vector<int64_t>& level : spec.anchor_sizes) {
    require_between("the number of anchor sizes of a level", static_cast<int64_t>(level.size()), 1, 16);
    for (const int64_t size : level) require_between("an anchor size", size, 1, kLargest);
  }
  require(spec.anchor_scale > 0 && spec.anchor_scale <= 1024, "anchor_scale must be above 0 and at most 1024, got ",
          spec.anchor_scale);
  require(spec.least_scale > 0 && spec.least_scale <= spec.most_scale && spec.most_scale <= 16,
          "scales of a picture must rise from above 0 to at most 16, got ", spec.least_scale, " and ", spec.most_scale);
}

}  // namespace

Json to_json_value(const DetectionSpec& spec) { return codec::write_fields<codec::JsonForm::settings>(spec); }
void from_json_value(const Json& json, DetectionSpec& spec) {
  if (const auto name = maybe<std::string>(json, "conventions")) spec = detection_conventions(*name);
  codec::read_fields<codec::JsonForm::settings>(json, spec);
}

void check(const DetectionSpec& spec) {
  constexpr int64_t kLargest = 1 << 14, kMost = 1 << 24;
  for (const int64_t extent : {spec.height, spec.width, spec.short_side, spec.long_side})
    require_between("an extent", extent, 1, kLargest);
  require(spec.short_side <= spec.long_side, "short_side ", spec.short_side, " of detection exceeds long_side ",
          spec.long_side);
  require_between("slots", spec.slots, 2, 1 << 16);
  require_between("objects", spec.objects, 1, 1 << 16);
  require_between("mask_runs", spec.mask_runs, 0, kMost);
  require_between("roi_keys", spec.roi_keys, 0, kMost);
  require_between("sampled_anchors", spec.sampled_anchors, 1, kMost);
  require_between("positive_anchors", spec.positive_anchors, 0, spec.sampled_anchors);
  check_anchors(spec);
}

DetectionSpec detection_conventions(std::string_view name) {
  std::vector<std::string> known;
  for (const Conventions& each : all_conventions()) {
    if (each.name == name) return each.spec;
    known.emplace_back(each.name);
  }
  fail(ErrorKind::invalid, unknown_name("detection conventions", name, known));
}

}  // namespace tbd
