// Every op in every form: small operations that between them set all attributes, with odd extents, broadcasts, axes and
// groups. One table for the back-ends' gradient tests, for op conformance and for docs/backends-matrix.md.
#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/tensor.h"
#include "graph/passes.h"

namespace tbd {

struct OpCase {
  enum class Values { normal, positive, distinct };  // distinct: no two are equal
  std::string name;                                  // "conv2d.3": prefix of its nodes, parameters and inputs
  Op op;
  std::vector<Shape> operands = {};
  std::vector<size_t> fixed = {};     // operands that are inputs and not trained: masks, scores, weights of rows
  std::vector<size_t> integers = {};  // operands that are i32, so not trained either: labels, ids, positions, lengths
  Values values = Values::normal;
  std::map<size_t, std::vector<double>> given = {};  // operands with values of their own, repeated to their size
  std::vector<size_t> unread = {};                   // results that no loss reads: their upstream gradient is absent
  std::vector<Op> inner = {};                        // of input_gradient: y = tanh(inner(x))
};

std::vector<OpCase> op_cases();                         // all kinds, in the order of all_kinds()
std::vector<OpCase> op_cases(const std::string& kind);  // throws Error(internal) for a kind without cases
std::vector<OpCase> large_op_cases();  // a few with extents that blocked and vector kernels are made for
// Without a mask: no two frameworks draw alike.
OpCase drawn_dropout();
// One head whose probabilities are all 1 / keys; keys' values are the rows of the identity, so that the result shows
// the mask.
OpCase drawn_attention();

// What tells the case from the plain form of its op, as far as a lowering may care: {"dilation", "groups"}.
std::vector<std::string> features(const OpCase& c);

// Losses run in fp32 whatever the precision: the precision pass gives them no low type.
bool takes_low_types(const Op& op);

// One phase `train` in which each case is a branch of its own, after the precision pass. Data operands and parameters
// are trained, the result is the output named like the case (further ones <case>.r1, ...), and the weighted sum of each
// is a loss term; where nothing else is trained, the weights are. Under a low precision data operands are cast before
// the op and results after it.
Program op_program(std::span<const OpCase> cases, Precision precision);

// Parameters ("param/..."), buffers ("buffer/...") and inputs (by their names) of op_program(cases, precision), in the
// types it stores: the same numbers for every program of that case, each rounded to `rounded`.
TensorMap op_values(std::span<const OpCase> cases, Precision precision, DType rounded);

// Shapes of the case's node: data operands, then parameters and buffers.
std::vector<Shape> operand_shapes(const OpCase& c);

}  // namespace tbd
