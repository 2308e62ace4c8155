// How far one op may lie from the same op in float64 on the same operands and upstream gradients.
#pragma once
#include "graph/op.h"

namespace tbd {

// The distance from 1 to the next number: 2^-52, 2^-23, 2^-7, 2^-10. Throws Error(invalid) for types that are no float.
double epsilon(DType dtype);

// The longest sum among the op's results and gradients. `in`: data operands, then parameters and buffers.
int64_t reduction_length(const Op& op, Shapes in);

// c x epsilon x sqrt(reduction length): the bound on max |value - reference| / max |reference| of each result, gradient
// and buffer. c is the op's own and stands, with its reason, in ops/*.cc.
double tolerance(const Op& op, Shapes in, DType dtype);

}  // namespace tbd
