// Numbers printed by the paper (Zhu et al. 2018, "TBD: Benchmarking and Analyzing Deep Neural Network Training", IISWC
// 2018, arXiv:1803.06905), by its project site and by its repository, each with where it stands and how surely it was
// read. Charts are not read off: their numbers are not printed.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "analysis/table.h"

namespace tbd {

enum class Confidence {
  read,         // read in a copy of the source itself
  secondary,    // read in another source than the one that prints it first
  unconfirmed,  // written down from memory of the paper's text, not checked against the print
};
std::string_view name(Confidence confidence);
std::string_view meaning(Confidence confidence);

enum class Relation { equal, below };  // "below": the source gives a bound, not a value

// What of our records stands beside it.
enum class Counterpart {
  none,               // nothing that is measured here
  model_count,        // networks in the records
  domain_count,       // their domains
  framework_count,    // frameworks in the records
  layers,             // of the network's card
  throughput,         // units per second
  gain_of_doubling,   // throughput at batch 2b over that at b, less 1
  feature_map_share,  // of tracked bytes at the peak
  longest_below,      // share of op time of the longest op with below-average utilization
  peak_fp32,          // FLOP/s, measured instruction peak
  bandwidth,          // B/s, measured
  memory,             // B, of the machine
};

struct PrintedValue {
  std::string_view what;
  std::string_view model, config;  // as this program names them; empty: not of one network, any config
  std::string_view framework;      // as this program names it, or the paper's "cntk"; empty: several or none
  int64_t batch = 0;               // 0: not said; the smaller one of a doubling
  std::string_view device;
  double value = 0;
  Relation relation = Relation::equal;
  Unit unit = Unit::none;
  std::string_view unit_text;  // beyond the unit's symbol: "images/s"
  std::string_view source, where;
  Confidence confidence = Confidence::unconfirmed;
  Counterpart counterpart = Counterpart::none;
  std::string_view differs;  // between what was measured there and what is here
};

std::span<const PrintedValue> printed_values();
// The network of tables 5 and 6, as this program names it.
inline constexpr std::string_view kPrintedKernelsModel = "resnet50";

}  // namespace tbd
