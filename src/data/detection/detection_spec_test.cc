#include "data/detection/detection_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/json.h"
#include "data/source.h"

namespace tbd {
namespace {
using testing::HasSubstr;

SourceSpec detection_source(const Json& detection) {
  return source_spec_from({{"kind", "synthetic"}, {"detection", detection}});
}
std::string detection_refusal(const Json& detection) {
  try {
    check(detection_source(detection).detection);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(DetectionSpec, SurvivesJson) {
  SourceSpec spec;
  spec.detection = {.task = DetectionTask::two_stage,
                    .height = 96,
                    .width = 128,
                    .slots = 5,
                    .objects = 6,
                    .mask_runs = 7,
                    .roi_keys = 8,
                    .sampled_anchors = 9,
                    .positive_anchors = 4,
                    .anchor_sizes = {{8, 12}, {16, 24}},
                    .first_stride = 2,
                    .anchor_scale = 3.5,
                    .least_scale = 0.5,
                    .most_scale = 1.5,
                    .short_side = 90,
                    .long_side = 120,
                    .multiscale = true};
  EXPECT_EQ(source_spec_from(parse_json(source_spec_json(spec).dump(), "spec")), spec);
}

TEST(DetectionSpec, ConventionsComeFirstAndOtherKeysOnTop) {
  const DetectionSpec spec = detection_source({{"conventions", "torchvision-tiny"}, {"slots", 7}}).detection;
  EXPECT_EQ(spec.slots, 7);
  EXPECT_EQ(spec.anchor_sizes, (std::vector<std::vector<int64_t>>{{8}, {16}, {32}, {64}, {128}}));
  EXPECT_EQ(detection_conventions("torchvision"), DetectionSpec{});
  EXPECT_EQ(detection_conventions("faster-c4").anchor_sizes.size(), 1);
  EXPECT_EQ(detection_conventions("effdet-d7").anchor_scale, 5);
  EXPECT_EQ(detection_conventions("effdet").most_scale, 2);
  EXPECT_EQ(detection_conventions("effdet-small").anchor_scale, 3);
}

TEST(DetectionSpec, NamesWhatIsWrong) {
  EXPECT_EQ(detection_refusal({}), "");
  EXPECT_THAT(detection_refusal({{"conventions", "torchvisio"}}), HasSubstr("did you mean 'torchvision'"));
  EXPECT_THAT(detection_refusal({{"slots", 1}}), HasSubstr("slots of detection must be from 2 to 65536, got 1"));
  EXPECT_THAT(detection_refusal({{"least_scale", 3}}), HasSubstr("scales of a picture must rise"));
  EXPECT_THAT(detection_refusal({{"height", 0}}), HasSubstr("an extent of detection must be from 1"));
  EXPECT_THAT(detection_refusal({{"short_side", 900}, {"long_side", 800}}),
              HasSubstr("short_side 900 of detection exceeds long_side 800"));
  EXPECT_THAT(detection_refusal({{"positive_anchors", 257}}), HasSubstr("positive_anchors"));
  EXPECT_THAT(detection_refusal({{"anchor_sizes", Json::array()}}), HasSubstr("the number of levels"));
  EXPECT_THAT(detection_refusal({{"anchor_sizes", {{0}}}}), HasSubstr("an anchor size"));
  EXPECT_THAT(detection_refusal({{"anchor_scale", 0}}), HasSubstr("anchor_scale must be above 0"));
}

}  // namespace
}  // namespace tbd
