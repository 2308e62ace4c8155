#include "base/dtype.h"

#include <array>
#include <ostream>

#include "base/error.h"

namespace tbd {
namespace {
struct Row {
  DType dtype;
  std::string_view name;
  int64_t size;
};
constexpr std::array<Row, 8> kRows = {{{DType::f64, "f64", 8},
                                       {DType::f32, "f32", 4},
                                       {DType::bf16, "bf16", 2},
                                       {DType::f16, "f16", 2},
                                       {DType::i64, "i64", 8},
                                       {DType::i32, "i32", 4},
                                       {DType::u8, "u8", 1},
                                       {DType::boolean, "bool", 1}}};
const Row& row(DType dtype) { return kRows[static_cast<size_t>(dtype)]; }
}  // namespace

int64_t size_of(DType dtype) { return row(dtype).size; }
std::string_view name(DType dtype) { return row(dtype).name; }

DType dtype_from(std::string_view name) {
  for (const Row& r : kRows)
    if (r.name == name) return r.dtype;
  fail(ErrorKind::invalid, "unknown element type '", name, "'");
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name(dtype); }

}  // namespace tbd
