// Every op's gradient against central differences in double, through the session: each operand is a parameter.
#pragma once
#include <set>

#include "backend_suite/support.h"
#include "op_cases.h"

namespace tbd {

inline std::vector<std::string> differentiable_kinds() {
  const std::set<std::string> without = {"stop_gradient", "host_call",      "equals",
                                         "sinusoid",      "strided_length", "greater"};
  std::vector<std::string> out;
  for (const std::string& kind : all_kinds())
    if (!without.contains(kind)) out.push_back(kind);
  return out;
}

// The forms of the op that the back-end runs.
inline std::vector<OpCase> cases_that_run(const std::string& kind) {
  std::vector<OpCase> out;
  for (const OpCase& c : op_cases(kind))
    if (runs(op_program({&c, 1}, Precision::kFp32))) out.push_back(c);
  return out;
}

// Of all forms of the op in one program.
inline void expect_central_differences(const std::string& kind) {
  const std::vector<OpCase> cases = op_cases(kind);
  const Program program = op_program(cases, Precision::kFp64);
  const TensorMap values = op_values(cases, Precision::kFp64, DType::f64);
  const bool rounds = kind == "cast";  // through fp32
  expect_gradients(*session_with(program, values), program.phases[0], rounds ? 1e-2 : 1e-5, rounds ? 1e-3 : 1e-6);
}

}  // namespace tbd
