#include "backends/pytorch/op_signature.h"

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>
#include <c10/core/ScalarTypeToTypeMeta.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/text.h"

namespace tbd::pytorch {
namespace {

// What an argument's bytes begin with; a tensor's are its type, rank and sizes, a list's its length and tensors.
enum class Tag : char { other, scalar, scalars, tensor, undefined, tensors };

template <class T>
void put_bytes(std::vector<char>& bytes, const T& value) {
  const char* begin = reinterpret_cast<const char*>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof value);
}

void put_tensor(std::vector<char>& bytes, const at::IValue& value) {
  if (!value.isTensor() || !value.toTensor().defined()) return put_bytes(bytes, Tag::undefined);
  const at::Tensor& tensor = value.toTensor();
  if (tensor.is_nested()) return put_bytes(bytes, Tag::other);  // has no sizes
  const at::IntArrayRef sizes = tensor.sizes();
  put_bytes(bytes, Tag::tensor);
  put_bytes(bytes, static_cast<uint8_t>(tensor.scalar_type()));
  put_bytes(bytes, static_cast<uint8_t>(sizes.size()));
  const char* begin = reinterpret_cast<const char*>(sizes.data());
  bytes.insert(bytes.end(), begin, begin + sizes.size() * sizeof(int64_t));
}

void put_argument(std::vector<char>& bytes, const at::IValue& value) {
  if (value.isTensor()) return put_tensor(bytes, value);
  if (value.isScalar()) return put_bytes(bytes, Tag::scalar);
  if (value.isIntList() || value.isDoubleList() || value.isBoolList()) return put_bytes(bytes, Tag::scalars);
  if (!value.isTensorList() && !value.isOptionalTensorList()) return put_bytes(bytes, Tag::other);
  const auto tensors = value.toListRef();
  put_bytes(bytes, Tag::tensors);
  put_bytes(bytes, static_cast<uint32_t>(tensors.size()));
  for (const at::IValue& tensor : tensors) put_tensor(bytes, tensor);
}

// Reads what was put.
struct Reader {
  std::string_view bytes;
  template <class T>
  T take() {
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    bytes.remove_prefix(sizeof value);
    return value;
  }
};

struct Spelled {
  std::string shapes = "[", types = "[";
  std::optional<at::ScalarType> first = {};  // tensor's
};

void comma(std::string& list) {
  if (list.back() != '[') list += ',';
}

// "[8,3]"; the name of the type where `types` takes it.
void spell_tensor(Reader& in, Spelled& out, bool in_list) {
  const Tag tag = in.take<Tag>();
  const bool defined = tag == Tag::tensor;
  const auto type = defined ? static_cast<at::ScalarType>(in.take<uint8_t>()) : at::ScalarType::Undefined;
  const int rank = defined ? in.take<uint8_t>() : 0;
  comma(out.shapes);
  out.shapes += '[';
  for (int i = 0; i < rank; ++i) {
    comma(out.shapes);
    out.shapes += std::to_string(in.take<int64_t>());
  }
  out.shapes += ']';
  if (defined && !out.first) out.first = type;
  if (in_list) return;
  const std::string_view name = defined ? c10::scalarTypeToTypeMeta(type).name() : std::string_view();
  comma(out.types);
  out.types += cat('"', name, '"');
}

void spell_argument(Reader& in, Spelled& out) {
  const auto named = [&](std::string_view type) {
    comma(out.types);
    out.types += cat('"', type, '"');
  };
  const Tag tag = static_cast<Tag>(in.bytes.front());
  if (tag == Tag::tensor || tag == Tag::undefined) return spell_tensor(in, out, /*in_list=*/false);
  in.take<Tag>();
  if (tag == Tag::tensors) {
    comma(out.shapes);
    out.shapes += '[';
    for (auto left = in.take<uint32_t>(); left > 0; --left) spell_tensor(in, out, /*in_list=*/true);
    out.shapes += ']';
    return named("TensorList");
  }
  comma(out.shapes);
  out.shapes += "[]";
  named(tag == Tag::scalar ? "Scalar" : tag == Tag::scalars ? "ScalarList" : "");
}

// Ops whose work is multiplying matrices: these names, or names that begin so.
bool is_matrix_like(std::string_view name) {
  constexpr std::array<std::string_view, 10> kNames = {"aten::mm",     "aten::addmm",  "aten::bmm", "aten::baddbmm",
                                                       "aten::matmul", "aten::linear", "aten::mv",  "aten::addmv",
                                                       "aten::lstm",   "aten::gru"};
  constexpr std::array<std::string_view, 12> kBeginnings = {
      "aten::conv",          "aten::_conv",      "aten::mkldnn_conv",        "aten::cudnn_conv",
      "aten::slow_conv",     "aten::_slow_conv", "aten::mkldnn_rnn",         "aten::_cudnn_rnn",
      "aten::mkldnn_linear", "mkldnn::_linear",  "aten::scaled_dot_product", "aten::_scaled_dot_product"};
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kBeginnings, [&](std::string_view begin) { return name.starts_with(begin); });
}

std::string_view math_type(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return "fp64";
    case at::kFloat:
      return "fp32";
    case at::kHalf:
      return "fp16";
    case at::kBFloat16:
      return "bf16";
    default:
      return "";
  }
}

}  // namespace

void write_signature(const at::RecordFunction& function, std::vector<char>& bytes) {
  const char* name = function.name();
  bytes.insert(bytes.end(), name, name + std::strlen(name) + 1);
  for (const at::IValue& argument : function.inputs()) put_argument(bytes, argument);
}

OpSignature read_signature(std::string_view bytes) {
  OpSignature out = {.name = std::string(bytes.substr(0, bytes.find('\0')))};
  Reader in{bytes.substr(out.name.size() + 1)};
  if (in.bytes.empty()) return out;
  Spelled spelled;
  while (!in.bytes.empty()) spell_argument(in, spelled);
  out.shapes = spelled.shapes + "]";
  out.types = spelled.types + "]";
  if (spelled.first && is_matrix_like(out.name)) out.math = math_type(*spelled.first);
  return out;
}

}  // namespace tbd::pytorch
