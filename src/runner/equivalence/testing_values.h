// Values for tests of the programs of single nodes.
#pragma once
#include "base/tensor.h"
#include "graph/graph.h"

namespace tbd::testing_values {

inline const Bindings kBatch = {{"N", 2}};

// As the reference would give them of the first phase, bound to kBatch; what they hold plays no part.
inline TensorMap values_of(const Program& program) {
  const Graph graph = bind(program, program.phases.front(), kBatch);
  TensorMap values;
  for (const Value& value : graph.values) {
    const HostTensor tensor(is_float(value.dtype) ? DType::f64 : value.dtype, value.shape);
    values[value.kind == Value::Kind::result ? "tap/" + value.name : value.name] = tensor;
    values["grad/probe/" + value.name] = tensor;
  }
  return values;
}

}  // namespace tbd::testing_values
