#include <cmath>
#include <limits>

#include "backends/tensorflow/lowering.h"

namespace tbd::tensorflow {
namespace {

// (1, T, 1, D): cos beside itself, and -sin beside sin, so that y = x cos + (halves of x swapped) sin.
struct Rotations {
  HostTensor cosine, sine;
  Rotations(int64_t length, int64_t width, double theta)
      : cosine(DType::f64, {1, length, 1, width}), sine(DType::f64, {1, length, 1, width}) {
    const int64_t half = width / 2;
    for (int64_t t = 0; t < length; ++t)
      for (int64_t j = 0; j < half; ++j) {
        const double exponent = -2 * static_cast<double>(j) / static_cast<double>(width);
        const double angle = static_cast<double>(t) * std::pow(theta, exponent);
        const auto a = static_cast<size_t>(t * width + j), b = a + static_cast<size_t>(half);
        cosine.as<double>()[a] = cosine.as<double>()[b] = std::cos(angle);
        sine.as<double>()[a] = -(sine.as<double>()[b] = std::sin(angle));
      }
  }
};

// The operands of one attention, and how its heads lie: (N, heads, T, d), or (N, T, d) where there is one.
class Heads {
 public:
  Heads(const Attention& op, const Args& in) : op_(op), in_(in), width_(in[0].shape[2] / op.heads) {
    for (size_t i = 0; i < in.size(); ++i) shapes_.push_back(in[i].shape);
  }

  TF_Output scores() const;
  TF_Output masked(TF_Output scores) const;
  TF_Output probabilities(TF_Output masked) const;
  TF_Output result(TF_Output probabilities) const;

 private:
  int64_t samples() const { return shapes_[0][0]; }
  int64_t queries() const { return shapes_[0][1]; }
  int64_t keys() const { return shapes_[1][1]; }
  int64_t group() const { return op_.heads / op_.key_heads(); }  // query heads of a key head
  DType dtype() const { return in_[0].dtype; }
  // (..., rows, columns) of each of `heads`.
  Shape matrices(int64_t heads, int64_t rows, int64_t columns) const {
    return op_.heads == 1 ? Shape{samples(), rows, columns} : Shape{samples(), heads, rows, columns};
  }
  // Between heads and the query heads of each key head, whose rows lie one after another.
  TF_Output grouped(TF_Output x, int64_t columns) const {
    return group() == 1 ? x : in_.reshape(x, matrices(op_.key_heads(), group() * queries(), columns));
  }
  TF_Output ungrouped(TF_Output x, int64_t columns) const {
    return group() == 1 ? x : in_.reshape(x, matrices(op_.heads, queries(), columns));
  }
  // (N, T, heads d) -> (N, heads, T, d).
  TF_Output apart(TF_Output x, int64_t length, int64_t heads) const {
    if (op_.heads == 1) return x;
    const int64_t order[] = {0, 2, 1, 3};
    return in_.transpose(in_.reshape(x, {samples(), length, heads, width_}), order);
  }

  const Attention& op_;
  const Args& in_;
  int64_t width_;
  std::vector<Shape> shapes_;
};

TF_Output Heads::scores() const {
  const TF_Output q = in_.times(in_.row(0), 1 / std::sqrt(static_cast<double>(width_)), dtype());
  const TF_Output products = in_.op("BatchMatMulV2")
                                 .in(grouped(apart(q, queries(), op_.heads), width_))
                                 .in(apart(in_.row(1), keys(), op_.key_heads()))
                                 .boolean("adj_y", true)
                                 .out();
  return in_.cast(ungrouped(products, keys()), dtype(), inner_type(dtype()));
}

// Both masks are one before they meet the scores.
TF_Output Heads::masked(TF_Output scores) const {
  const std::optional<size_t> additive = attention_masks(shapes_).additive;
  TF_Output mask = {};
  if (additive)
    mask = in_.cast(in_.reshape(in_.detached(*additive), matrices(1, 1, keys())), dtype(), inner_type(dtype()));
  if (op_.causal) {
    HostTensor later(DType::f64, {queries(), keys()});
    for (int64_t i = 0; i < queries(); ++i)
      for (int64_t j = i + 1; j < keys(); ++j)
        later.as<double>()[static_cast<size_t>(i * keys() + j)] = -std::numeric_limits<double>::infinity();
    const TF_Output causal = in_.graph().constant(converted(later, inner_type(dtype())));
    mask = additive ? in_.binary("AddV2", mask, causal) : causal;
  }
  return mask.oper ? in_.binary("AddV2", scores, mask) : scores;
}

TF_Output Heads::probabilities(TF_Output masked) const {
  const TF_Output p = in_.unary("Softmax", masked);
  if (op_.dropout == 0) return in_.cast(p, inner_type(dtype()), dtype());
  const Shape shape = matrices(op_.heads, queries(), keys());
  const std::optional<size_t> given = attention_masks(shapes_).dropout;
  TF_Output mask = {};
  if (given) mask = in_.cast(in_.reshape(in_.detached(*given), shape), dtype(), inner_type(dtype()));
  const TF_Output y = dropped(in_, p, inner_type(dtype()), shape, op_.dropout, given ? &mask : nullptr);
  return in_.cast(y, inner_type(dtype()), dtype());
}

TF_Output Heads::result(TF_Output probabilities) const {
  const TF_Output y =
      in_.op("BatchMatMulV2").in(grouped(probabilities, keys())).in(apart(in_.row(2), keys(), op_.key_heads())).out();
  if (op_.heads == 1) return y;
  const int64_t order[] = {0, 2, 1, 3};
  return in_.reshape(in_.transpose(ungrouped(y, width_), order), shapes_[0]);
}

}  // namespace

// x (N, T, heads, D).
Operand lower(const Rotary& op, const Args& in) {
  const Shape& shape = in[0].shape;
  const DType dtype = inner_type(in[0].dtype);
  const Rotations rotations(shape[1], shape[3], op.theta);
  const TF_Output x = in.cast(in.row(0), in[0].dtype, dtype);
  const std::vector<TF_Output> halves = in.split(x, 3, 2);
  const TF_Output swapped = in.concat(std::vector{halves[1], halves[0]}, 3);
  const auto times = [&](TF_Output y, const HostTensor& table) {
    return in.binary("Mul", y, in.graph().constant(converted(table, dtype)));
  };
  const TF_Output y = in.binary("AddV2", times(x, rotations.cosine), times(swapped, rotations.sine));
  return {in.cast(y, dtype, in[0].dtype)};
}
LoweredAs lowered_as(const Rotary&, size_t) { return composed("Split, ConcatV2, Mul by constant tables, AddV2"); }

Operand lower(const Attention& op, const Args& in) {
  const Heads heads(op, in);
  return {heads.result(heads.probabilities(heads.masked(heads.scores())))};
}
LoweredAs lowered_as(const Attention& op, size_t) {
  const char* dropout = op.dropout > 0 ? ", dropout as there" : "";
  return composed(cat("Transpose, BatchMatMulV2, AddV2 of masks, Softmax in fp32", dropout));
}

}  // namespace tbd::tensorflow
