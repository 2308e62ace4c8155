// Differences of tensors against a reference in double.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/tensor.h"

namespace tbd {

// The element that differs most. Not-a-number, or a value that is infinite on one side, differs most of all.
struct WorstElement {
  std::vector<int64_t> index;
  double got = 0, expected = 0;
};

// Throws Error(invalid) when shapes differ.
WorstElement worst_element(const HostTensor& got, const HostTensor& expected);

double largest(const HostTensor& tensor);                             // max |x|; 0 for no element
double norm(const HostTensor& tensor);                                // the 2-norm
double largest_difference(const HostTensor& a, const HostTensor& b);  // max |a - b|; infinite for not-a-number
// |got - expected|_2 / |expected|_2; |got|_2 where all that is expected is 0.
double relative_error(const HostTensor& got, const HostTensor& expected);
double factor(const HostTensor& got, const HostTensor& expected);  // <got, expected> / <expected, expected>

// The f with x ~ f y by least squares; not a number where y is 0.
double fitted_factor(const std::vector<double>& x, const std::vector<double>& y);

}  // namespace tbd
