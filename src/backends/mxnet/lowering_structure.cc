#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

const char* type_name(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return "float64";
    case DType::f32:
      return "float32";
    case DType::i64:
      return "int64";
    case DType::i32:
      return "int32";
    case DType::u8:
      return "uint8";
    default:
      fail(ErrorKind::unsupported, "mxnet's CPU kernels do not run in ", dtype);
  }
}

}  // namespace

Symbol lower(const Cast& op, const Args& in) { return in.op("Cast", {in[0]}, {{"dtype", type_name(op.to)}}); }

Symbol lower(const Reshape&, const Args& in) { return in.op("Reshape", {in[0]}, {{"shape", shape_text(in.out())}}); }

Symbol lower(const Reduce& op, const Args& in) {
  Attributes attributes = {{"keepdims", text(op.keep)}};
  if (!op.axes.empty()) attributes.emplace_back("axis", text(op.axes));
  return in.op(op.function == Reduce::Function::sum ? "sum" : "mean", {in[0]}, attributes);
}

Symbol lower(const StopGradient&, const Args& in) { return in.op("BlockGrad", {in[0]}); }

Symbol lower(const HostCall& op, const Args&) { fail(ErrorKind::internal, "the host call ", op.function, " lowered"); }
Symbol lower(const InputGradient& op, const Args&) { fail(ErrorKind::unsupported, lowered_as(op).detail); }

}  // namespace tbd::mxnet
