// RoIAlign is a product with a sparse matrix (host/detection/roi_plan.h), whose rows a kernel of tbd's makes from the
// boxes. Extents along the boxes are read from the tensors, which may be cut.
#include "backends/tensorflow/host_op.h"
#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

HostCall plan_call(const RoiAlign& op, const Args& in) {
  const size_t maps = op.scales.size();
  const auto rows = ResultExtent::each_sample(op.out * op.out);  // of a box, which is a row of the plan's operands
  const int64_t entries = 4 * op.sampling * op.sampling;
  HostCall call = {.function = "roi_plan", .results = {{{rows, entries}, DType::i32}, {{rows, entries}, in[0].dtype}}};
  std::vector<double>& extents = call.numbers["extents"];
  for (size_t i = 0; i < maps; ++i)
    for (const int64_t axis : {2, 3}) extents.push_back(static_cast<double>(in[i].shape[axis]));
  call.numbers["scales"] = op.scales;
  call.numbers["images"] = {static_cast<double>(in[0].shape[0])};
  call.numbers["out"] = {static_cast<double>(op.out)};
  call.numbers["sampling"] = {static_cast<double>(op.sampling)};
  return call;
}

TF_Output whole(const Args& in, int64_t value) { return in.number(static_cast<double>(value), DType::i32); }

// (cells of all maps, C)
TF_Output cell_table(const RoiAlign& op, const Args& in) {
  std::vector<TF_Output> parts;
  for (size_t i = 0; i < op.scales.size(); ++i) {
    const Shape x = physical_shape(in[i].shape, Layout::nhwc);
    parts.push_back(in.reshape(in.as(i, Layout::nhwc), {x[0] * x[1] * x[2], x[3]}));
  }
  return parts.size() == 1 ? parts.front() : in.concat(parts, 0);
}

}  // namespace

Operand lower(const RoiAlign& op, const Args& in) {
  const size_t maps = op.scales.size();
  const HostCall call = plan_call(op, in);
  const TF_Output operands[] = {in.row(maps), in.row(maps + 1)};
  const Shape shapes[] = {in[maps].shape, in[maps + 1].shape};
  std::vector<Shape> results = output_shapes(call, shapes);
  for (Shape& result : results) result = in.with_rows_of(maps, result);
  TF_Operation* plan = add_host_op(in.graph(), call, operands, results);
  const int64_t flat[] = {-1}, patches[] = {-1, op.out, op.out, in[0].shape[1]};
  const auto reshaped = [&](TF_Output x, std::span<const int64_t> extents) {
    return in.binary("Reshape", x, in.graph().constant(extents));
  };
  const TF_Output columns = reshaped({plan, 0}, flat), values = reshaped({plan, 1}, flat);
  const TF_Output entries = in.unary("Size", columns), each = whole(in, 4 * op.sampling * op.sampling);
  const TF_Output numbers = in.op("Range").in(whole(in, 0)).in(entries).in(whole(in, 1)).out();
  const TF_Output places[] = {in.binary("FloorDiv", numbers, each), columns};
  const TF_Output indices = in.op("Pack").list(places).integer("axis", 1).out();
  const TF_Output table = cell_table(op, in);
  int64_t cells = 0;
  for (size_t i = 0; i < maps; ++i) cells += in[i].shape.elements() / in[i].shape[1];
  const TF_Output sides[] = {in.binary("FloorDiv", entries, each), whole(in, cells)};
  const TF_Output size = in.cast(in.op("Pack").list(sides).integer("axis", 0).out(), DType::i32, DType::i64);
  const TF_Output product = in.op("SparseTensorDenseMatMul").in(indices).in(values).in(size).in(table).out();
  return {reshaped(product, patches), Layout::nhwc};
}
LoweredAs lowered_as(const RoiAlign&, size_t) {
  return composed("ConcatV2, SparseTensorDenseMatMul over a plan of the host's in a kernel of tbd's");
}

}  // namespace tbd::tensorflow
