// The closed set of ops. A back-end is one overload per member: a forgotten op does not compile.
#pragma once
#include <optional>
#include <span>
#include <variant>

#include "base/json_fwd.h"
#include "graph/ops/attention.h"
#include "graph/ops/clip.h"
#include "graph/ops/conv2d.h"
#include "graph/ops/ctc.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/gru.h"
#include "graph/ops/length.h"
#include "graph/ops/linear.h"
#include "graph/ops/loss.h"
#include "graph/ops/norm.h"
#include "graph/ops/pool.h"
#include "graph/ops/recurrent.h"
#include "graph/ops/sequence.h"
#include "graph/ops/structure.h"
#include "graph/ops/upsample.h"

namespace tbd {

using OpVariant =
    std::variant<Conv2d, ConvTranspose2d, Linear, Matmul, BatchNorm, GroupNorm, LayerNorm, RmsNorm, MaxPool, AvgPool,
                 GlobalMean, UpsampleNearest, Unary, Binary, Affine, Clamp, Greater, Softmax, Dropout, Cast, Equals,
                 Reshape, Concat, Slice, Transpose, Gather, Reduce, StridedLength, SequenceMask, Embedding, Sinusoid,
                 Rotary, Attention, Lstm, LstmCell, Gru, SoftmaxCrossEntropy, SoftCrossEntropy, SquaredError, CtcLoss,
                 StopGradient, HostCall, InputGradient>;

// The variant as a class of its own: its copies and its end are compiled once, not by all who hold a graph.
struct Op : OpVariant {
  using OpVariant::OpVariant;
  using OpVariant::operator=;
  Op();
  Op(const Op& other);
  Op(Op&& other) noexcept;
  Op& operator=(const Op& other);
  Op& operator=(Op&& other) noexcept;
  ~Op();
};

// The op's name in programs and tables: "conv2d"; unary, binary and reduce ops go by their function: "relu", "add".
std::string kind(const Op& op);
std::vector<std::string> all_kinds();

// The rules of ops/*.h by visit.
std::vector<Shape> output_shapes(const Op& op, Shapes in);
std::vector<ParameterSpec> parameters(const Op& op, const Shape& x);
DType output_dtype(const Op& op, size_t output, std::span<const DType> in);
Cost forward_cost(const Op& op, const Operands& o);
Cost backward_cost(const Op& op, const Operands& o);
int64_t kept_bytes(const Op& op, const Operands& o);
Traits traits(const Op& op);

size_t result_count(const Op& op);
// The probability with which the op drops, for ops with a mask (dropout and attention); absent where nothing is
// dropped.
std::optional<double> dropout_rate(const Op& op);

// {"out": 64, "kernel": [7, 7], ...}: only what differs from the default. from: throws Error(invalid) on an unknown
// kind or attribute (nearest names offered) or a wrong type.
Json attributes_to_json(const Op& op);
Op op_from_json(std::string_view kind, const Json& attributes);

}  // namespace tbd
