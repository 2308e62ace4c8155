#include "data/text/text_spec.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
using testing_text::refusal_of;

TextSpec spec_from(const Json& json) {
  TextSpec spec;
  from_json_value(json, spec);
  return spec;
}

TEST(TextSpec, SurvivesJson) {
  const TextSpec spec{.task = TextTask::squad,
                      .vocabulary = 11,
                      .target_vocabulary = 12,
                      .vocabulary_file = "v",
                      .strict = true,
                      .languages = {"de", "en"},
                      .stem = "s",
                      .merges_file = "m",
                      .ids = {.bos = 4, .pad = 3, .eos = 2, .unk = 1},
                      .start_with_bos = true,
                      .shared_vocabulary = true,
                      .reverse_source = true,
                      .count_targets = false,
                      .buckets = {{7, 6}, {9, 9}},
                      .bucket = Bucket{7, 6},
                      .target_slots = 64,
                      .length = 16,
                      .predictions = 3,
                      .duplicates = 2,
                      .stride = 8,
                      .query = 5};
  EXPECT_EQ(spec_from(parse_json(to_json_value(spec).dump(), "spec")), spec);
  EXPECT_EQ(spec_from(parse_json(to_json_value(TextSpec{}).dump(), "spec")), TextSpec{});
}

TEST(TextSpec, AbsentKeysKeepTheirDefaults) { EXPECT_EQ(spec_from(Json::object()), TextSpec{}); }

TEST(TextSpec, NamesWhatIsWrong) {
  const auto refusal = [](const char* json) { return refusal_of([&] { spec_from(parse_json(json, "spec")); }); };
  EXPECT_NE(refusal(R"({"task": "squat"})").find("squad"), std::string::npos);
  EXPECT_EQ(refusal(R"({"buckets": [[10]]})"), "element 0: a bucket is [source, target], got [10]");
  EXPECT_EQ(refusal(R"({"ids": {"bos": 0, "pad": 1, "eos": 2}})"), "'ids': 'unk' is missing");
  EXPECT_EQ(refusal(R"({"length": "long"})"), "'length': expected an integer, got \"long\"");
}

TEST(TextSpec, ConventionsAreThoseOfTheReferences) {
  EXPECT_EQ(text_conventions("fairseq"), TextSpec{});
  EXPECT_EQ(text_conventions("fairseq-shared").buckets.size(), 10);
  EXPECT_EQ(text_conventions("fairseq-shared").buckets.back(), (Bucket{256, 256}));
  EXPECT_TRUE(text_conventions("fairseq-shared").shared_vocabulary);
  EXPECT_EQ(text_conventions("gnmt").ids.pad, 0);
  EXPECT_EQ(text_conventions("gnmt").buckets.back(), (Bucket{50, 50}));
  EXPECT_NE(refusal_of([] { text_conventions("gnmd"); }).find("gnmt"), std::string::npos);
}

TEST(TextSpec, KeysComeOnTopOfConventions) {
  const TextSpec spec = spec_from(parse_json(R"({"conventions": "gnmt", "vocabulary": 8})", "spec"));
  EXPECT_EQ(spec.ids, text_conventions("gnmt").ids);
  EXPECT_EQ(spec.vocabulary, 8);
}

}  // namespace
}  // namespace tbd
