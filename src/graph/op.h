// The closed set of ops. A back-end has one overload per member: one that lacks an op does not link.
#pragma once
#include <optional>
#include <span>
#include <variant>

#include "base/json_fwd.h"
#include "graph/ops/attention.h"
#include "graph/ops/bce_with_logits.h"
#include "graph/ops/clip.h"
#include "graph/ops/conv2d.h"
#include "graph/ops/ctc.h"
#include "graph/ops/elementwise.h"
#include "graph/ops/fusion.h"
#include "graph/ops/gru.h"
#include "graph/ops/huber.h"
#include "graph/ops/length.h"
#include "graph/ops/linear.h"
#include "graph/ops/loss.h"
#include "graph/ops/norm.h"
#include "graph/ops/pool.h"
#include "graph/ops/recurrent.h"
#include "graph/ops/roi_align.h"
#include "graph/ops/sequence.h"
#include "graph/ops/sigmoid_focal.h"
#include "graph/ops/structure.h"
#include "graph/ops/upsample.h"

namespace tbd {

// The set. A macro, since a back-end declares functions for each op, which no template can.
// clang-format off
#define TBD_EACH_OP(X)                                                                                        \
  X(Conv2d) X(ConvTranspose2d) X(Linear) X(Matmul)                                                            \
  X(BatchNorm) X(GroupNorm) X(LayerNorm) X(RmsNorm)                                                           \
  X(MaxPool) X(AvgPool) X(GlobalMean) X(UpsampleNearest) X(RoiAlign)                                          \
  X(Unary) X(Binary) X(Affine) X(Clamp) X(Greater) X(Softmax) X(Dropout) X(Cast) X(Equals) X(Fusion)          \
  X(Reshape) X(Concat) X(Slice) X(Transpose) X(Gather) X(Reduce)                                              \
  X(StridedLength) X(SequenceMask) X(Embedding) X(Sinusoid) X(Rotary) X(Attention) X(Lstm) X(LstmCell) X(Gru) \
  X(SoftmaxCrossEntropy) X(SoftCrossEntropy) X(SquaredError) X(CtcLoss) X(Huber)                              \
  X(BceWithLogits) X(SigmoidFocal)                                                                            \
  X(StopGradient) X(HostCall) X(InputGradient)
// clang-format on

template <class None, class... Ops>
struct VariantOf {
  using Type = std::variant<Ops...>;
};
#define TBD_MEMBER(Op) , Op
using OpVariant = VariantOf<void TBD_EACH_OP(TBD_MEMBER)>::Type;
#undef TBD_MEMBER

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
std::vector<size_t> saved_inputs(const Op& op, size_t operands);  // by Traits::saves_inputs, of a node with so many
Rounding rounding(const Op& op, Shapes in);
bool write_gradient(const Op& op, GradientWriter& node, const std::string& g);
std::optional<PythonCall> python_call(const Op& op, const PythonNode& in);
std::span<const OperandRule> operand_rules(const Op& op);
size_t data_operands(const Op& op, size_t given);
Role role(const Op& op, size_t operand, Shapes in);
Integers allowed_integers(const Op& op, size_t operand, Shapes in, const Integers& result);
// A float operand without a gradient where the op has one: a target, weights, a mask.
bool is_constant(const Op& op, size_t operand, Shapes in);

size_t result_count(const Op& op);
// The probability with which the op drops, for ops with a mask (dropout and attention); absent where nothing is
// dropped.
std::optional<double> dropout_rate(const Op& op);
void make_double(Op& op);

// {"out": 64, "kernel": [7, 7], ...}: only what differs from the default. from: throws Error(invalid) on an unknown
// kind or attribute (nearest names offered) or a wrong type.
Json attributes_to_json(const Op& op);
Op op_from_json(std::string_view kind, const Json& attributes);

}  // namespace tbd
