#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

// 1 where the index on `axis` lies below the sample's length, else 0: u8 of the operand's shape. Masks of one shape and
// lengths share it.
Symbol inside(const SequenceMask& op, const Args& in) {
  const Shape& x = in.shape(0);
  std::vector<int64_t> column(static_cast<size_t>(x.rank()), 1), row = column;
  column[0] = x[0];
  row[static_cast<size_t>(op.axis)] = x[op.axis];
  std::vector<double> indices(static_cast<size_t>(x[op.axis]));
  for (size_t i = 0; i < indices.size(); ++i) indices[i] = static_cast<double>(i);
  const Symbol lengths = in.part("lengths", "Reshape", {in[1]}, {{"shape", text(column)}});
  const Symbol below =
      in.part("below", "broadcast_lesser", {in.constant("indices", Shape(row), indices, in.dtype(1)), lengths});
  return in.part("inside", "broadcast_to", {in.part("bytes", "Cast", {below}, {{"dtype", "uint8"}})}, to_shape(x));
}

}  // namespace

// On non-negative integers MXNet's division drops the rest.
Symbol lower(const StridedLength& op, const Args& in) {
  const Symbol last = in.part("last", "_minus_scalar", {in[0]}, with_scalar(1));
  const Symbol steps = in.part("steps", "_div_scalar", {last}, with_scalar(static_cast<double>(op.stride)));
  return in.op("_plus_scalar", {steps}, with_scalar(1));
}
LoweredAs lowered_as(const StridedLength&, size_t) { return composed("_minus_scalar, _div_scalar, _plus_scalar"); }

// `where` selects, whatever it leaves out; MXNet's own SequenceMask, a kernel call for each row of an image, takes
// three times as long.
Symbol lower(const SequenceMask& op, const Args& in) {
  const Shape& x = in.shape(0);
  const Symbol mask = in.shared(cat("inside/", in.name(1), "/", op.axis, "/", x), [&] { return inside(op, in); });
  const Symbol zeros = in.shared(cat("zeros/", x, "/", name(in.dtype(0))), [&] {
    return in.part("zeros", "_zeros", {}, {{"shape", shape_text(x)}, {"dtype", type_name(in.dtype(0))}});
  });
  return in.op("where", {mask, in[0], zeros});
}
LoweredAs lowered_as(const SequenceMask&, size_t) { return composed("broadcast_lesser, broadcast_to, where"); }

}  // namespace tbd::mxnet
