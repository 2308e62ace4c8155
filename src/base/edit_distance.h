// How far one sequence is from another.
#pragma once
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace tbd {

// The least number of insertions, deletions and substitutions of one element each that turn `from` into `to`.
// Levenshtein 1966; the table row by row of Wagner and Fischer 1974.
template <class T>
int64_t edit_distance(std::span<const T> from, std::span<const T> to) {
  std::vector<int64_t> row(to.size() + 1);  // distances of the elements of `from` so far to each beginning of `to`
  std::iota(row.begin(), row.end(), int64_t{0});
  for (size_t i = 0; i < from.size(); ++i) {
    int64_t diagonal = row[0];
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < to.size(); ++j) {
      const int64_t substituted = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace tbd
