// Is the input the limit? Two cells alike but for their input mode, side by side (docs/metrics.md).
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/cell.h"

namespace tbd {

enum class InputVerdict {
  input_bound,      // the step loop waits more than 2 % of its time
  cores_shared,     // it does not wait, yet the loader costs it throughput: ratio's interval below 0.98
  not_input_bound,  // it does not wait and loses less than 2 %: interval above 0.98
  undecided,
};
std::string_view name(InputVerdict verdict);  // "input-bound"

struct InputPair {
  const CellResult* resident = nullptr;
  const CellResult* pipeline = nullptr;
  Quotient ratio;  // X(pipeline) / X(resident) and its 95 % interval
  InputVerdict verdict = InputVerdict::undecided;
};
// What the verdict means, for a person; of an undecided one, what is missing.
std::string sentence(const InputPair& pair);
// The pairs among `cells`, in their order; the cells must outlive them.
std::vector<InputPair> input_pairs(std::span<const CellResult> cells);
Table input_table(std::span<const InputPair> pairs);

}  // namespace tbd
