#include "graph/ops/common.h"

namespace tbd {

std::ostream& operator<<(std::ostream& out, const Cost& c) {
  return out << "{model " << c.model << ", valid " << c.valid << ", simd " << c.simd << ", trans " << c.trans
             << ", bytes " << c.bytes << '}';
}

int64_t bytes_touched_forward(const Operands& o) {
  int64_t bytes = 0;
  for (size_t i = 0; i < o.in.size(); ++i) bytes += o.in_bytes(i);
  for (size_t i = 0; i < o.out.size(); ++i) bytes += o.out_bytes(i);
  return bytes;
}

int64_t elements_needing_gradient(const Operands& o) {
  int64_t elements = 0;
  for (size_t i = 0; i < o.in.size(); ++i)
    if (o.needs(i)) elements += o.in[i].elements();
  return elements;
}

}  // namespace tbd
