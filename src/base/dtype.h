// Element types of tensors, as stored.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <string_view>

namespace tbd {

enum class DType { f64, f32, bf16, f16, i64, i32, u8, boolean };

int64_t size_of(DType dtype);             // bytes of one element
std::string_view name(DType dtype);       // "f32"
DType dtype_from(std::string_view name);  // throws Error(invalid) on an unknown name
constexpr bool is_float(DType d) { return d <= DType::f16; }
std::ostream& operator<<(std::ostream& out, DType dtype);

}  // namespace tbd
