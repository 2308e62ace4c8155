// One phase of a program made ready for the gates: it stands alone, and in a tapped form that shows every value.
#pragma once
#include "base/tensor.h"
#include "graph/graph.h"

namespace tbd {

// A shape as an input of a program declares it: nothing in it is bound later.
std::vector<Dim> dims(const Shape& shape);

// The program with this phase as its only one, run once a step (a phase that repeats is compared one run at a time).
Program alone(const Program& program, const std::string& phase);

// A program whose single phase shows every result of a node as an output "tap/<value>" and, as the gradient of a
// parameter "probe/<value>", the gradient of the loss by that result: a probe is a zero that is added to the result.
// Micro-batches are not accumulated, and nothing is updated. `program` stands alone.
Program tapped(const Program& program, const Bindings& bindings);

// Results of host calls as inputs in their place, so that every framework goes on from the same ones.
// They are named host/<value>; `values`: tap/<value> of each micro-batch.
struct Injected {
  Program program;
  TensorMap inputs;  // to add to the step's inputs
};
bool has_host_calls(const Program& program);
Injected with_host_results(const Program& program, const Bindings& bindings, const std::vector<TensorMap>& values);

// The inputs of one micro-batch of a program that stands alone, as its phase names them. Norms are left out.
TensorMap inputs_of_run(const Program& program, const TensorMap& inputs, int64_t run);

}  // namespace tbd
