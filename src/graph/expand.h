// The gradient of one value by another, written out in ordinary nodes, for back-ends that differentiate only once.
#pragma once
#include "graph/program.h"

namespace tbd {

// Replaces every input_gradient(y, x) by nodes that compute d sum(y) / d x, named "<node>.<n>"; its readers read the
// last of them. One more, first-order differentiation of the result is the exact second derivative. Rules:
// conv2d -> conv_transpose2d by the same weight; linear -> a product with its weight; relu, leaky_relu -> times
// the 0/1 mask of its operand; tanh; avg_pool of a window that is its stride, without pads -> upsample_nearest /
// window; add, sub, affine, cast, reshape that keeps samples, sums and means within a sample; group_norm with its
// statistics as nodes that carry a gradient. with_precision and with_dropout come before or after it: a norm computes
// in the type of its weight, as it does. Programs without input_gradient come back as they are. Throws
// Error(unsupported) that names the op between y and x that has no rule.
Program expanded(Program program);

// The same for counts of time, which are those of the written form: a program with an op that has no rule comes back as
// it is.
Program expanded_for_counts(Program program);

// For counts of memory: nodes that keep what a framework keeps that differentiates twice itself. A relu's gradient
// keeps no mask of its own and a norm's is one kernel that keeps its operand. Not for running.
Program expanded_for_memory(Program program);

// Whether some phase has an input_gradient.
bool has_input_gradient(const Program& program);

}  // namespace tbd
