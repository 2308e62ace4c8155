#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"
#include "host/detection/testing_golden.h"

namespace tbd::testing_detection {
namespace {

void flatten(const Json& value, std::vector<double>& out) {
  if (value.is_number()) return out.push_back(value.get<double>());
  for (const Json& part : value) flatten(part, out);
}

}  // namespace

std::vector<double> golden(std::string_view file, std::string_view pointer) {
  const std::string path = cat(TBD_SOURCE_DIR "/src/host/detection/golden/", file, ".json");
  std::vector<double> out;
  flatten(parse_json(read_file(path), path).at(Json::json_pointer(std::string(pointer))), out);
  require(!out.empty(), path, ": no numbers at ", pointer);
  return out;
}

std::vector<int32_t> golden_integers(std::string_view file, std::string_view pointer) {
  std::vector<int32_t> out;
  for (const double value : golden(file, pointer)) out.push_back(static_cast<int32_t>(value));
  return out;
}

std::vector<detection::Box> golden_boxes(std::string_view file, std::string_view pointer) {
  const std::vector<double> corners = golden(file, pointer);
  std::vector<detection::Box> boxes;
  for (size_t i = 0; i < corners.size(); i += 4)
    boxes.push_back({corners[i], corners[i + 1], corners[i + 2], corners.at(i + 3)});
  return boxes;
}

std::vector<double> signature(std::span<const double> values) {
  std::vector<double> sums(2);
  for (size_t i = 0; i < values.size(); ++i) {
    sums[0] += values[i];
    sums[1] += values[i] * static_cast<double>(1 + i % 97);
  }
  return sums;
}

void expect_signature(std::span<const double> values, std::string_view file, const std::string& pointer,
                      double tolerance) {
  const std::vector<double> got = signature(values), want = golden(file, pointer);
  EXPECT_NEAR(got[0], want[0], tolerance) << pointer;
  EXPECT_NEAR(got[1], want.at(1), 97 * tolerance) << pointer;
}

std::vector<detection::Box> random_boxes(uint32_t seed, int64_t count, const detection::Extent& image,
                                         double most_side) {
  const Philox draw(seed, "test/boxes");
  const auto quarter = [](double value) { return std::floor(4 * value) / 4; };
  std::vector<detection::Box> boxes;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<uint64_t>(4 * i);
    const double width = quarter(1 + draw.uniform(at) * (most_side - 1));
    const double height = quarter(1 + draw.uniform(at + 1) * (most_side - 1));
    const double x = quarter(draw.uniform(at + 2) * (static_cast<double>(image.width) - width));
    const double y = quarter(draw.uniform(at + 3) * (static_cast<double>(image.height) - height));
    boxes.push_back({x, y, x + width, y + height});
  }
  return boxes;
}

}  // namespace tbd::testing_detection
