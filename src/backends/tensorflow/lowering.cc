#include "backends/tensorflow/lowering.h"

#include <algorithm>

namespace tbd::tensorflow {
namespace {

// From physical positions to row-major ones: where each logical axis stands.
std::vector<int64_t> to_row(Layout layout) {
  const std::vector<int64_t> axes = physical_axes(layout);
  std::vector<int64_t> out(axes.size());
  for (size_t at = 0; at < axes.size(); ++at) out[static_cast<size_t>(axes[at])] = static_cast<int64_t>(at);
  return out;
}

std::vector<int64_t> paddings(const Pads& p) { return {0, 0, p.top, p.bottom, p.left, p.right, 0, 0}; }

}  // namespace

TF_Output Args::as(size_t i, Layout layout) const {
  const Operand& operand = (*this)[i];
  if (operand.layout == layout) return operand.output;
  TF_Output& cached = context_.relaid[{operand.output.oper, operand.output.index, layout}];
  if (cached.oper) return cached;
  TF_Output x = operand.output;
  if (operand.layout != Layout::row) x = transpose(x, to_row(operand.layout));
  if (layout != Layout::row) x = transpose(x, physical_axes(layout));
  return cached = x;
}

TF_Operation* Args::shared(const std::string& what, const std::function<TF_Operation*()>& make) const {
  TF_Operation*& known = context_.shared[what];
  if (!known) known = make();
  return known;
}

TF_Output Args::weight(size_t i, int64_t rows) const {
  const int64_t count = context_.weight_uses[ids_[i]];
  const Shape& shape = (*this)[i].shape;
  if (count < 2 || !worth_stacking(rows, shape[1], shape[0])) return row(i);
  auto [left, is_new] = context_.unused.try_emplace(ids_[i]);
  if (is_new) left->second = uses(row(i), count);
  const TF_Output out = left->second.back();
  left->second.pop_back();
  return out;
}

std::vector<TF_Output> Args::uses(TF_Output weight, int64_t count) const {
  const std::vector<TF_Output> same(static_cast<size_t>(count), weight);
  const std::vector<DType> types(same.size(), dtype_of(TF_OperationOutputType(weight)));
  TF_Operation* node = op("IdentityN").list(same).types("T", types).finish();
  std::vector<TF_Output> out;
  for (int k = 0; k < static_cast<int>(count); ++k) out.push_back({node, k});
  return out;
}

TF_Output Args::cast(TF_Output x, DType from, DType to) const {
  return from == to ? x : op("Cast").in(x).type("DstT", to).out();
}

TF_Output Args::reshape(TF_Output x, const Shape& shape) const {
  return op("Reshape").in(x).in(graph().constant(shape.extents())).out();
}

Shape Args::with_rows_of(size_t i, Shape shape) const {
  if ((*this)[i].cut) shape[0] = -1;
  return shape;
}

std::vector<TF_Output> Args::split(TF_Output x, int64_t axis, int64_t parts) const {
  const auto make = [&] { return number(static_cast<double>(axis), DType::i32).oper; };
  const TF_Output along = {shared(cat("axis ", axis), make), 0};  // layers split at every step
  TF_Operation* node = op("Split").in(along).in(x).integer("num_split", parts).finish();
  std::vector<TF_Output> out;
  for (int i = 0; i < parts; ++i) out.push_back({node, i});
  return out;
}

TF_Output Args::concat(std::span<const TF_Output> parts, int64_t axis) const {
  return op("ConcatV2").list(parts).in(number(static_cast<double>(axis), DType::i32)).out();
}

TF_Output Args::transpose(TF_Output x, std::span<const int64_t> permutation) const {
  return op("Transpose").in(x).in(graph().constant(permutation)).out();
}

TF_Output Args::reduce(const char* kind, TF_Output x, std::span<const int64_t> axes, bool keep) const {
  return op(kind).in(x).in(graph().constant(axes)).boolean("keep_dims", keep).out();
}

TF_Output Args::pad(TF_Output x, const Pads& pads) const {
  if (pads == Pads{}) return x;
  return op("Pad").in(x).in(reshape(graph().constant(paddings(pads)), {4, 2})).out();
}

TF_Output Args::pad(TF_Output x, const Pads& pads, double value, DType dtype) const {
  if (pads == Pads{}) return x;
  const TF_Output extents = reshape(graph().constant(paddings(pads)), {4, 2});
  return op("PadV2").in(x).in(extents).in(graph().constant(value, dtype)).out();
}

std::string name_of(TF_Output x) { return cat(TF_OperationName(x.oper), ":", x.index); }

int64_t physical_axis(int64_t axis, Layout layout) {
  if (layout == Layout::row) return axis;
  const std::vector<int64_t> order = physical_axes(layout);
  return std::ranges::find(order, axis) - order.begin();
}

}  // namespace tbd::tensorflow
