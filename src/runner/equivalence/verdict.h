// What the gates found about one framework: docs/equivalence.md.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "runner/equivalence/compare.h"

namespace tbd {

// One number held against its bound.
struct Finding {
  std::string phase;
  std::string where;  // the node, tensor or rule that is judged: "layer1.0.conv1", "grad/fc.weight"
  std::string what;   // "result", "gradient of x0", "error", "factor", "weight_decay of group 0"
  double error = 0, bound = 0;
  std::string source;  // where the bound comes from: "c eps sqrt(n), n = 576"
  std::optional<WorstElement> worst;
  std::string missing;  // why there is nothing to judge; empty otherwise. A missing value does not pass
  bool ok() const { return missing.empty() && error <= bound; }
  double ratio() const;  // error / bound; infinite when missing
};

enum class Gate { node, rule, whole, ranks };
std::string_view name(Gate gate);  // "each node alone", "update rule", "whole step", "several workers"

struct GateResult {
  Gate gate = Gate::node;
  int64_t compared = 0;          // findings
  std::optional<Finding> worst;  // nearest to its bound, or farthest beyond
  std::vector<Finding> failed;   // in the order of the program
  std::string skipped;           // why it was not applied: its program needs what the worker has not
  void add(Finding finding);
  void merge(const GateResult& other, const std::string& phase);  // its findings are of that phase
};

struct FrameworkVerdict {
  std::string framework, version;  // as --framework names it
  std::vector<GateResult> gates;
  std::string fault;                  // why the framework could not be judged; empty otherwise
  std::vector<std::string> left_out;  // nodes that were not judged alone, with the reason
  std::string reproduction;           // the folder that repeats the first difference; empty without one
  double seconds = 0;                 // that judging took, without the reference's part
  bool passed() const;
  // The first node that fails alone; else the first part of the rule; else the first tensor of the step.
  const Finding* guilty() const;
};

Json to_json(const Finding& finding);
Json to_json(const FrameworkVerdict& verdict);
// One sentence for a person: "conv2d 'layer1.0.conv1': result is off by ..., at (0, 1, 2, 3) 0.1 in place of 0.2".
std::string sentence(const Finding& finding);

}  // namespace tbd
