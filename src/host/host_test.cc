#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/registry.h"
#include "host/settings.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(HostRegistry, OffersTheNearestName) {
  try {
    find_host_function("top_row");
    FAIL() << "an unknown function was found";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::not_found);
    EXPECT_THAT(e.what(), HasSubstr("top_rows"));
  }
}

TEST(TopRows, PicksTheLargestAndTheFirstOnTies) {
  const float scores[] = {1, 5, 5, 0, -2, -7, -2, -1};
  const std::vector<HostTensor> in = {HostTensor(DType::f32, {2, 4}, std::span<const float>(scores))};
  std::vector<HostTensor> out = {HostTensor(DType::i32, {2, 2})};
  find_host_function("top_rows")(in, {}, out);
  EXPECT_THAT(out[0].as<int32_t>(), ElementsAre(1, 2, 3, 0));
}

TEST(TopRows, RefusesMoreThanThereAre) {
  const std::vector<HostTensor> in = {HostTensor(DType::f32, {2, 4})};
  std::vector<HostTensor> out = {HostTensor(DType::i32, {2, 5})};
  EXPECT_THROW(find_host_function("top_rows")(in, {}, out), Error);
}

TEST(TopRows, RefusesSettings) {
  const std::vector<HostTensor> in = {HostTensor(DType::f32, {2, 4})};
  std::vector<HostTensor> out = {HostTensor(DType::i32, {2, 2})};
  try {
    find_host_function("top_rows")(in, {{"k", {2}}}, out);
    FAIL() << "a setting was taken that the function does not know";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::invalid);
    EXPECT_THAT(e.what(), HasSubstr("'k'"));
  }
}

TEST(HostSettings, AreFoundByNameAndCounted) {
  const HostNumbers numbers = {{"overlap", {0.5}}, {"sizes", {8, 16}}};
  EXPECT_EQ(setting("f", numbers, "overlap"), 0.5);
  EXPECT_THAT(setting_list("f", numbers, "sizes"), ElementsAre(8, 16));
  EXPECT_EQ(setting("f", numbers, "least", 1e-3), 1e-3);
  EXPECT_THROW(setting("f", numbers, "sizes"), Error);
  EXPECT_THROW(setting("f", numbers, "least"), Error);
  EXPECT_THROW(refuse_unknown_settings("f", numbers, {"overlap", "size"}), Error);
}

}  // namespace
}  // namespace tbd
