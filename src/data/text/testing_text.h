// Helpers of the tests of text readers.
#pragma once
#include <string>
#include <vector>

#include "base/error.h"
#include "base/tensor.h"

namespace tbd::testing_text {

// What the error of `action` says; empty when it throws none.
template <class Action>
std::string refusal_of(const Action& action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

inline std::vector<int32_t> ints(const TensorMap& batch, const std::string& name) {
  const auto values = batch.at(name).as<int32_t>();
  return {values.begin(), values.end()};
}
// Row `row` of a tensor (N, T).
inline std::vector<int32_t> row(const TensorMap& batch, const std::string& name, int64_t row) {
  const HostTensor& tensor = batch.at(name);
  const int64_t each = tensor.shape().elements() / tensor.shape()[0];
  const auto values = tensor.as<int32_t>().subspan(static_cast<size_t>(row * each), static_cast<size_t>(each));
  return {values.begin(), values.end()};
}
inline double count(const TensorMap& batch, const std::string& name) {
  return batch.at("count/" + name).as<double>()[0];
}

}  // namespace tbd::testing_text
