#include "base/shape.h"

#include <ostream>

namespace tbd {

int64_t Shape::elements() const {
  int64_t product = 1;
  for (const int64_t extent : extents_) product *= extent;
  return product;
}

std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int64_t axis = 0; axis < shape.rank(); ++axis) out << (axis ? ", " : "") << shape[axis];
  return out << ')';
}

}  // namespace tbd
