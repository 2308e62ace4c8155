#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// 1 on every axis but one.
Shape along(int64_t rank, int64_t axis, int64_t extent) {
  Shape shape(std::vector<int64_t>(static_cast<size_t>(rank), 1));
  shape[axis] = extent;
  return shape;
}

// Is the index below the sample's length? Once for all nodes that ask for it.
TF_Output valid(const Args& in, const Shape& shape, int64_t axis, TF_Output lengths) {
  const auto make = [&] {
    std::vector<int64_t> indices;
    for (int64_t t = 0; t < shape[axis]; ++t) indices.push_back(t);
    const TF_Output index = in.reshape(in.graph().constant(indices), along(shape.rank(), axis, shape[axis]));
    return in.binary("Less", index, in.reshape(lengths, along(shape.rank(), 0, shape[0]))).oper;
  };
  return {in.shared(cat("valid ", name_of(lengths), " ", shape.rank(), " ", axis, " ", shape[axis]), make), 0};
}

}  // namespace

// A select, since what it masks may be infinite.
TF_Output masked(const Args& in, TF_Output x, DType dtype, const Shape& shape, int64_t axis, TF_Output lengths) {
  return in.op("SelectV2").in(valid(in, shape, axis, lengths)).in(x).in(in.number(0, dtype)).out();
}

// n at least 1: floor((n - 1) / stride) + 1.
Operand lower(const StridedLength& op, const Args& in) {
  const auto number = [&](int64_t value) { return in.number(static_cast<double>(value), in[0].dtype); };
  return {in.binary("FloorDiv", in.binary("AddV2", in.row(0), number(op.stride - 1)), number(op.stride))};
}
LoweredAs lowered_as(const StridedLength&, size_t) { return composed("AddV2, FloorDiv"); }

Operand lower(const SequenceMask& op, const Args& in) {
  const Operand& x = in[0];
  return {masked(in, x.output, x.dtype, x.physical(), physical_axis(op.axis, x.layout), in.row(1)), x.layout};
}
LoweredAs lowered_as(const SequenceMask&, size_t) { return composed("Less, SelectV2"); }

}  // namespace tbd::tensorflow
