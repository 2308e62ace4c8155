#include "base/tensor.h"

#include <bit>
#include <cmath>

namespace tbd {
namespace {

float from_bf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t to_bf16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

template <class From, class Read>
void widen(const HostTensor& tensor, std::vector<double>& out, Read read) {
  for (const From& element : tensor.as<From>()) out.push_back(static_cast<double>(read(element)));
}

template <class To, class Round>
void narrow(std::span<const double> values, HostTensor& out, Round round) {
  std::span<To> elements = out.as<To>();
  for (size_t i = 0; i < values.size(); ++i) elements[i] = round(values[i]);
}

constexpr auto kSame = [](auto element) { return element; };
template <class To>
constexpr auto kCast = [](double value) { return static_cast<To>(value); };

}  // namespace

std::vector<double> as_doubles(const HostTensor& tensor) {
  std::vector<double> out;
  out.reserve(static_cast<size_t>(tensor.shape().elements()));
  switch (tensor.dtype()) {
    case DType::f64:
      widen<double>(tensor, out, kSame);
      break;
    case DType::f32:
      widen<float>(tensor, out, kSame);
      break;
    case DType::bf16:
      widen<uint16_t>(tensor, out, from_bf16);
      break;
    case DType::f16:
      widen<_Float16>(tensor, out, kSame);
      break;
    case DType::i64:
      widen<int64_t>(tensor, out, kSame);
      break;
    case DType::i32:
      widen<int32_t>(tensor, out, kSame);
      break;
    case DType::u8:
    case DType::boolean:
      widen<uint8_t>(tensor, out, kSame);
      break;
  }
  return out;
}

HostTensor converted(const HostTensor& tensor, DType dtype) {
  if (dtype == tensor.dtype()) return tensor;
  const std::vector<double> values = as_doubles(tensor);
  HostTensor out(dtype, tensor.shape());
  switch (dtype) {
    case DType::f64:
      narrow<double>(values, out, kCast<double>);
      break;
    case DType::f32:
      narrow<float>(values, out, kCast<float>);
      break;
    case DType::bf16:
      narrow<uint16_t>(values, out, [](double v) { return to_bf16(static_cast<float>(v)); });
      break;
    case DType::f16:
      narrow<_Float16>(values, out, kCast<_Float16>);
      break;
    case DType::i64:
      narrow<int64_t>(values, out, kCast<int64_t>);
      break;
    case DType::i32:
      narrow<int32_t>(values, out, kCast<int32_t>);
      break;
    case DType::u8:
      narrow<uint8_t>(values, out, kCast<uint8_t>);
      break;
    case DType::boolean:
      narrow<uint8_t>(values, out, [](double v) { return static_cast<uint8_t>(v != 0); });
      break;
  }
  return out;
}

}  // namespace tbd
