// Two workloads whose launches took turns in one run: launch i of A and launch i of B were neighbours in time.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "analysis/table.h"
#include "record/record.h"
#include "stats/compare.h"

namespace tbd {

struct LaunchPair {
  int64_t number = 0;   // of both launches
  double a = 0, b = 0;  // units/s over all steps after warming up
};

struct PairedComparison {
  std::vector<LaunchPair> pairs;         // of launches that both have, by number
  std::optional<Comparison> result;      // of B against A; absent without a pair
  std::optional<int64_t> pairs_to_find;  // pairs that find `change` in nine runs of ten; kMostLaunches + 1: more
  double margin = kMargin, change = 0.05;
};
PairedComparison paired_comparison(const Record& a, const Record& b, double margin = kMargin, double change = 0.05);

// `a` and `b`: what the sides are called, "mode=eager".
std::string paired_sentence(const PairedComparison& comparison, const std::string& a, const std::string& b);
Table paired_table(const PairedComparison& comparison, const std::string& a, const std::string& b);  // one row
Table pairs_table(const PairedComparison& comparison);                                               // a row a pair

}  // namespace tbd
