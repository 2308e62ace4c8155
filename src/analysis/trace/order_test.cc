#include "analysis/trace/order.h"

#include <gtest/gtest.h>

#include <random>

namespace tbd {
namespace {

TEST(MergeRuns, EqualsAStableSort) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 500; ++i) {
    std::vector<std::pair<int, int>> values;
    std::vector<size_t> ends;
    for (uint64_t runs = random() % 6; runs > 0; --runs) {
      for (uint64_t size = random() % 9; size > 0; --size)
        values.emplace_back(static_cast<int>(random() % 20), static_cast<int>(values.size()));
      const size_t begin = ends.empty() ? 0 : ends.back();
      if (random() % 2) std::sort(values.begin() + static_cast<std::ptrdiff_t>(begin), values.end());
      ends.push_back(values.size());
    }
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    auto sorted = values;
    std::stable_sort(sorted.begin(), sorted.end(), before);
    merge_runs(values, ends, before);
    ASSERT_EQ(values, sorted);
  }
}

TEST(PartitionNear, EqualsThePartitionPointFromAnyHint) {
  for (int size = 0; size < 40; ++size)
    for (int point = 0; point <= size; ++point)
      for (size_t hint = 0; hint < 45; ++hint) {
        std::vector<int> values;
        for (int i = 0; i < size; ++i) values.push_back(i);
        ASSERT_EQ(partition_near(values, hint, [&](int v) { return v < point; }), static_cast<size_t>(point));
      }
}

}  // namespace
}  // namespace tbd
