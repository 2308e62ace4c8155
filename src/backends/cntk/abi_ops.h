// The ops of CNTK 2.7 that lowerings call (abi.h).
#pragma once
#include "backends/cntk/abi.h"

namespace CNTK {

// clang-format off
#define TBD_CNTK_UNARY(Op) FunctionPtr Op(const Variable& x, const std::wstring& name);
TBD_CNTK_UNARY(Abs) TBD_CNTK_UNARY(Exp) TBD_CNTK_UNARY(Floor) TBD_CNTK_UNARY(Log) TBD_CNTK_UNARY(Negate) TBD_CNTK_UNARY(ReLU)
TBD_CNTK_UNARY(Sigmoid) TBD_CNTK_UNARY(Sqrt) TBD_CNTK_UNARY(Square) TBD_CNTK_UNARY(StopGradient)
TBD_CNTK_UNARY(Tanh) TBD_CNTK_UNARY(ToBatch) TBD_CNTK_UNARY(UnpackBatch) TBD_CNTK_UNARY(Alias)
#undef TBD_CNTK_UNARY
#define TBD_CNTK_BINARY(Op) FunctionPtr Op(const Variable& a, const Variable& b, const std::wstring& name);
TBD_CNTK_BINARY(Plus) TBD_CNTK_BINARY(Minus) TBD_CNTK_BINARY(ElementTimes) TBD_CNTK_BINARY(ElementDivide) TBD_CNTK_BINARY(Equal)
TBD_CNTK_BINARY(Greater) TBD_CNTK_BINARY(NotEqual) TBD_CNTK_BINARY(GatherOp)
#undef TBD_CNTK_BINARY
    // clang-format on

    FunctionPtr ElementSelect(const Variable& where, const Variable& a, const Variable& b, const std::wstring& name);
FunctionPtr Clip(const Variable& x, const Variable& low, const Variable& high, const std::wstring& name);
FunctionPtr LeakyReLU(const Variable& x, double slope, const std::wstring& name);
FunctionPtr Dropout(const Variable& x, double rate, unsigned long seed, const std::wstring& name);
FunctionPtr Combine(const std::vector<Variable>& results, const std::wstring& name);

FunctionPtr Convolution(const Variable& kernel, const Variable& x, const NDShape& strides,
                        const std::vector<bool>& sharing, const std::vector<bool>& auto_padding,
                        const NDShape& dilation, size_t reduction_rank, size_t groups, size_t max_temp_samples,
                        bool sequential, const std::wstring& name);
FunctionPtr Pooling(const Variable& x, PoolingType type, const NDShape& window, const NDShape& strides,
                    const std::vector<size_t>& lower_pads, const std::vector<size_t>& upper_pads, bool ceil_out,
                    bool include_pad, const std::wstring& name);
FunctionPtr Pad(const Variable& x, PaddingMode mode, const std::vector<size_t>& head, const std::vector<size_t>& foot,
                double value, const std::wstring& name);
FunctionPtr BatchNormalization(const Variable& x, const Variable& scale, const Variable& bias, const Variable& mean,
                               const Variable& variance, const Variable& count, bool spatial, double time_constant,
                               double blend_time_constant, double epsilon, bool use_cudnn, bool disable_regularization,
                               const std::wstring& name);

// Products over `output_rank` axes of the first operand's result; the last axes of a meet the first of b.
FunctionPtr Times(const Variable& a, const Variable& b, size_t output_rank, int inferred_rank,
                  const std::wstring& name);
FunctionPtr TransposeTimes(const Variable& a, const Variable& b, size_t output_rank, const std::wstring& name);

FunctionPtr Reshape(const Variable& x, const NDShape& shape, const Axis& begin, const Axis& end,
                    const std::wstring& name);
FunctionPtr Transpose(const Variable& x, const std::vector<Axis>& permutation, const std::wstring& name);
FunctionPtr TransposeAxes(const Variable& x, const Axis& first, const Axis& second, const std::wstring& name);
FunctionPtr Slice(const Variable& x, const std::vector<Axis>& axes, const std::vector<int>& begin,
                  const std::vector<int>& end, const std::wstring& name);
FunctionPtr Splice(const std::vector<Variable>& parts, const Axis& axis, const std::wstring& name);
FunctionPtr OneHotOp(const Variable& index, size_t classes, bool sparse, Axis& axis, const std::wstring& name);

FunctionPtr ReduceSum(const Variable& x, const Axis& axis, const std::wstring& name);
FunctionPtr ReduceMean(const Variable& x, const Axis& axis, const std::wstring& name);
FunctionPtr ReduceMax(const Variable& x, const Axis& axis, const std::wstring& name);
FunctionPtr LogSoftmax(const Variable& x, const Axis& axis, const std::wstring& name);
FunctionPtr Softmax(const Variable& x, const Axis& axis, const std::wstring& name);
FunctionPtr CrossEntropyWithSoftmax(const Variable& logits, const Variable& target, const Axis& axis,
                                    const std::wstring& name);

}  // namespace CNTK
