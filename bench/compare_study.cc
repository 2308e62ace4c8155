// What verdicts are worth on a real machine: launches of one workload that took turns with themselves (an A/A run of
// `tbd ab`), cut into comparisons of a few pairs each; of B also copies that are faster by 3, 5 and 10 %.
//
//   tbd ab minigo --config 9 --batch 8 --threads 1 --pairs 600 --seconds 1 --out AA
//   compare_study AA/* [PAIRS]
//
// Prints for pairs, and for the same launches as two groups: how often a comparison said faster or slower, and of the
// planted differences how many were found where the comparison said beforehand that it would see them.
#include <cstdio>
#include <cstdlib>

#include "analysis/compare/paired.h"
#include "record/reader.h"
#include "stats/compare.h"

namespace {

using tbd::Comparison;
using tbd::Verdict;

struct Counts {
  int all = 0, faster = 0, slower = 0, same = 0, able = 0, able_found = 0;
  void add(const Comparison& c, double planted) {
    ++all;
    faster += c.verdict == Verdict::faster ? 1 : 0;
    slower += c.verdict == Verdict::slower ? 1 : 0;
    same += c.verdict == Verdict::same ? 1 : 0;
    const bool is_able = planted > 0 && c.power.detectable_change && *c.power.detectable_change <= planted;
    able += is_able ? 1 : 0;
    able_found += is_able && c.verdict == Verdict::faster ? 1 : 0;
  }
};

template <class Compare>
void study(const char* what, const std::vector<tbd::LaunchPair>& pairs, size_t each, Compare compare) {
  for (const double planted : {0.0, 0.03, 0.05, 0.10}) {
    Counts counts;
    for (size_t begin = 0; begin + each <= pairs.size(); begin += each) {
      std::vector<double> a, b;
      for (size_t i = begin; i < begin + each; ++i) {
        a.push_back(pairs[i].a);
        b.push_back(pairs[i].b * (1 + planted));
      }
      counts.add(compare(b, a), planted);
    }
    std::printf("%-8s %4.0f %%  of %d: faster %d, slower %d, same %d", what, 100 * planted, counts.all, counts.faster,
                counts.slower, counts.same);
    if (planted > 0) std::printf("; said to be seen %d, of these found %d", counts.able, counts.able_found);
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: compare_study RECORD_A RECORD_B [PAIRS]\n");
    return 2;
  }
  const size_t each = argc > 3 ? static_cast<size_t>(std::atoi(argv[3])) : 3;
  const auto pairs = tbd::paired_comparison(tbd::read_record(argv[1]), tbd::read_record(argv[2])).pairs;
  std::printf("%zu pairs, comparisons of %zu\n", pairs.size(), each);
  study("pairs", pairs, each, [](const auto& b, const auto& a) { return tbd::compare_pairs(b, a); });
  study("groups", pairs, each, [](const auto& b, const auto& a) { return tbd::compare(b, a); });
}
