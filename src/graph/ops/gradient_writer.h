// What an op needs to write its gradient as ordinary nodes (graph/expand.h).
#pragma once
#include "graph/op.h"

namespace tbd {

// One node between both ends of an input_gradient. Values go by their names.
class GradientWriter {
 public:
  virtual ~GradientWriter() = default;
  virtual const std::string& operand(size_t i) const = 0;
  virtual const std::string& result() const = 0;
  virtual const Shape& shape(size_t i) const = 0;
  virtual const Shape& result_shape() const = 0;
  virtual DType type(size_t i) const = 0;
  // Whether operand i lies on the way, so that its gradient is wanted; whether of all operands none but the first does.
  virtual bool wants(size_t i) const = 0;
  virtual bool wants_first_alone() const = 0;
  // For counts of memory alone: nodes keep what a framework keeps that differentiates twice itself.
  virtual bool counts_memory() const = 0;

  // Adds a node and returns its result.
  virtual std::string put(Op op, std::vector<std::string> inputs) = 0;
  // `gradient` is operand i's, or a part of it.
  virtual void pass(size_t i, const std::string& gradient) = 0;

  std::string put(Binary::Function f, const std::string& a, const std::string& b) { return put(Binary{f}, {a, b}); }
  std::string mul(const std::string& a, const std::string& b) { return put(Binary::Function::mul, a, b); }
};

// The operand's shape for any batch: 0 keeps that of the gradient.
inline std::vector<int64_t> with_any_batch(const Shape& shape) {
  std::vector<int64_t> extents(shape.extents().begin(), shape.extents().end());
  extents.at(0) = 0;
  return extents;
}

}  // namespace tbd
