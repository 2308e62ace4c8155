// Sorting and searching where most lies in order already.
#pragma once
#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

namespace tbd {

// Sorts runs that lie one after the other; `ends` are the places where they end, the last one the vector's. What is in
// order within its run costs one look; equal elements keep their order.
template <class Values, class Before>
void merge_runs(Values& values, std::vector<size_t> ends, Before before) {
  const auto at = [&](size_t i) { return values.begin() + static_cast<std::ptrdiff_t>(i); };
  size_t begin = 0;
  for (const size_t end : ends) {
    if (!std::is_sorted(at(begin), at(end), before)) std::stable_sort(at(begin), at(end), before);
    begin = end;
  }
  while (ends.size() > 1) {  // neighbours by pairs
    std::vector<size_t> merged;
    for (size_t i = 0; i < ends.size(); i += 2) {
      const size_t from = i == 0 ? 0 : ends[i - 1], to = ends[std::min(i + 1, ends.size() - 1)];
      if (to != ends[i]) std::inplace_merge(at(from), at(ends[i]), at(to), before);
      merged.push_back(to);
    }
    ends = std::move(merged);
  }
}

// How many of the first elements of the partitioned `values` satisfy `holds`: std::partition_point, looked for from
// `hint` on in growing steps, since questions come one near the other.
template <class Values, class Holds>
size_t partition_near(const Values& values, size_t hint, Holds holds) {
  const size_t size = std::size(values);
  hint = std::min(hint, size);
  size_t from = hint, to = hint;  // all before `from` hold, all from `to` on do not
  if (hint < size && holds(values[hint])) {
    for (size_t step = 1; to < size && holds(values[to]); step *= 2) {
      from = to + 1;
      to = std::min(size, to + step);
    }
  } else {
    for (size_t step = 1; from > 0 && !holds(values[from - 1]); step *= 2) {
      to = from - 1;
      from = from > step ? from - step : 0;
    }
  }
  const auto begin = std::begin(values);
  const auto found =
      std::partition_point(begin + static_cast<std::ptrdiff_t>(from), begin + static_cast<std::ptrdiff_t>(to), holds);
  return static_cast<size_t>(found - begin);
}

}  // namespace tbd
