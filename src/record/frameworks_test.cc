#include "record/frameworks.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace tbd {
namespace {

TEST(Frameworks, MxnetIsMarkedAsRetired) {
  EXPECT_EQ(framework_note("mxnet"), "retired upstream");
  EXPECT_EQ(framework_note("tensorflow"), "");
  EXPECT_EQ(framework_note("somebody's own"), "");
  EXPECT_EQ(find_framework("tensorflow")->label, "TensorFlow");
  EXPECT_EQ(find_framework("caffe"), nullptr);
}

TEST(Frameworks, FactsOfAnotherBuildAreThoseOfItsFramework) {
  EXPECT_TRUE(known_framework_names().starts_with("pytorch, tensorflow, mxnet"));
  EXPECT_EQ(usual_layout("tensorflow@2.20"), ImageLayout::kNhwc);
  EXPECT_EQ(usual_start_seconds("mxnet@/a/folder"), usual_start_seconds("mxnet"));
  EXPECT_EQ(usual_layout("somebody's own"), ImageLayout::kNchw);
  EXPECT_GT(usual_start_seconds("somebody's own"), 0);
}

}  // namespace
}  // namespace tbd
