// For the tests of this folder: golden numbers, boxes drawn from a stream, what an error says.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "host/detection/boxes.h"

namespace tbd::testing_detection {

// The numbers at a JSON pointer of golden/FILE.json, nested lists one after the other. They are of torchvision 0.29.2
// and effdet 0.4.1 in float64 unless said.
std::vector<double> golden(std::string_view file, std::string_view pointer);
std::vector<int32_t> golden_integers(std::string_view file, std::string_view pointer);
std::vector<detection::Box> golden_boxes(std::string_view file, std::string_view pointer);

// The sum of the values, and of each times 1 + (index mod 97), which sees their order.
std::vector<double> signature(std::span<const double> values);
// That signature(values) is the one at the pointer: the sum within the tolerance, the other within 97 times it.
void expect_signature(std::span<const double> values, std::string_view file, const std::string& pointer,
                      double tolerance);

// `count` boxes with sides of 1 ... `most_side` pixels and corners on multiples of 1/4, so that equal overlaps are
// common.
std::vector<detection::Box> random_boxes(uint32_t seed, int64_t count, const detection::Extent& image,
                                         double most_side);

// What the Error(invalid) of `call` says; empty if it throws none.
template <class Call>
std::string complaint(const Call& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.kind() == ErrorKind::invalid ? e.what() : cat("not invalid: ", e.what());
  }
  return "";
}

}  // namespace tbd::testing_detection
