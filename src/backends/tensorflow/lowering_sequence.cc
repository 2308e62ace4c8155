#include <cmath>

#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// (1, T, width): the waves of positions first .. first + T - 1, rounded to fp32 unless double is asked for.
TF_Output waves(const Args& in, const Sinusoid& op, int64_t length, DType dtype) {
  HostTensor table(DType::f64, {1, length, op.width});
  const int64_t half = op.width / 2;
  for (int64_t t = 0; t < length; ++t)
    for (int64_t j = 0; j < half; ++j) {
      const double frequency = std::pow(10000.0, -static_cast<double>(j) / static_cast<double>(half - 1));
      const double angle = static_cast<double>(op.first + t) * frequency;
      double* row = &table.as<double>()[static_cast<size_t>(t * op.width)];
      row[j] = std::sin(angle);
      row[half + j] = std::cos(angle);
    }
  return in.graph().constant(converted(converted(table, inner_type(dtype)), dtype));
}

}  // namespace

// Gather has no gradient in TensorFlow's registry: ours reads the attributes, which the op itself does not know.
TF_Output table_rows(const Args& in, TF_Output table, int64_t rows, TF_Output ids, int64_t pad) {
  return in.op("Gather").in(table).in(ids).integer("_tbd_rows", rows).integer("_tbd_pad", pad).out();
}

Operand lower(const Embedding& op, const Args& in) { return {table_rows(in, in.row(1), op.rows, in.row(0), op.pad)}; }
LoweredAs lowered_as(const Embedding&, size_t) { return native("Gather; dense gradient by UnsortedSegmentSum"); }

// x (N, S, ...), positions (N, P).
Operand lower(const Gather&, const Args& in) {
  return {in.op("GatherV2").in(in.row(0)).in(in.row(1)).in(in.number(1, DType::i32)).integer("batch_dims", 1).out()};
}
LoweredAs lowered_as(const Gather&, size_t) { return native("GatherV2"); }

Operand lower(const Equals& op, const Args& in) {
  const TF_Output equal = in.binary("Equal", in.row(0), in.number(static_cast<double>(op.value), in[0].dtype));
  return {in.op("Cast").in(equal).type("DstT", op.to).out()};
}
LoweredAs lowered_as(const Equals&, size_t) { return native("Equal, Cast"); }

// valid (N, T).
Operand lower(const Sinusoid& op, const Args& in) {
  const Shape& valid = in[0].shape;
  const TF_Output column = in.reshape(in.detached(0), {valid[0], valid[1], 1});
  return {in.binary("Mul", column, waves(in, op, valid[1], in[0].dtype))};
}
LoweredAs lowered_as(const Sinusoid&, size_t) { return composed("Mul by a constant table"); }

}  // namespace tbd::tensorflow
