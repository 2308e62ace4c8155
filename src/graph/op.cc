#include "graph/keeping.h"

#include <algorithm>

#include "base/codec.h"

namespace tbd {
namespace codec {

template <>
struct EnumNames<Unary::Function> {
  static constexpr std::string_view kNames[] = {"relu", "leaky_relu", "sigmoid", "tanh", "exp",  "log",
                                                "sqrt", "square",     "abs",     "neg",  "gelu", "silu"};
};
template <>
struct EnumNames<Binary::Function> {
  static constexpr std::string_view kNames[] = {"add", "sub", "mul", "div"};
};
template <>
struct EnumNames<Reduce::Function> {
  static constexpr std::string_view kNames[] = {"sum", "mean"};
};
template <>
struct EnumNames<BatchNorm::Stats> {
  static constexpr std::string_view kNames[] = {"running", "batch", "frozen"};
};
template <>
struct EnumNames<SoftmaxCrossEntropy::Spread> {
  static constexpr std::string_view kNames[] = {"all", "others"};
};
template <>
struct Noun<HostCall::Result> {
  static constexpr std::string_view kText = "result";
};

}  // namespace codec

template <codec::Is<HostCall::Result> Result>
void fields(Result& result, auto visit) {
  visit("shape", result.shape);
  visit("dtype", result.dtype);
  visit("ragged", result.ragged);
}

Json to_json_value(const Extent2& extent) { return {extent.h, extent.w}; }
void from_json_value(const Json& json, Extent2& out) {
  std::vector<int64_t> pair;
  codec::decode<codec::JsonForm::definition>(json, pair);
  require(pair.size() == 2, "expected height and width");
  out = {pair[0], pair[1]};
}
Json to_json_value(const Pads& pads) { return {pads.top, pads.bottom, pads.left, pads.right}; }
void from_json_value(const Json& json, Pads& out) {
  std::vector<int64_t> four;
  codec::decode<codec::JsonForm::definition>(json, four);
  require(four.size() == 4, "expected top, bottom, left, right");
  out = {four[0], four[1], four[2], four[3]};
}
// "512N", or a number.
Json to_json_value(const ResultExtent& extent) {
  return extent.per_sample ? Json(cat(extent.count, "N")) : Json(extent.count);
}
void from_json_value(const Json& json, ResultExtent& out) {
  if (!json.is_string()) return void(out = codec::integer(json));
  const auto& text = json.get_ref<const std::string&>();
  const auto count = text.ends_with('N') ? parse_int(std::string_view(text).substr(0, text.size() - 1)) : std::nullopt;
  require(count.has_value(), "expected an extent such as \"512N\", got \"", text, "\"");
  out = ResultExtent::each_sample(*count);
}

namespace {

using codec::enum_from;
using codec::enum_name;
using codec::EnumNames;

// Ops that go by the name of their function.
template <class T>
concept NamedByFunction = requires(T op) {
  op.function;
}
&&std::is_enum_v<decltype(T::function)>;

// Far above any network, and low enough that products of two stay exact.
constexpr int64_t kLargestAttribute = int64_t{1} << 31;

template <class T>
void check_range(const char* key, const T& value) {
  const auto inside = [&](int64_t v) {
    require(v > -kLargestAttribute && v < kLargestAttribute, "'", key, "' is out of range: ", v);
  };
  if constexpr (std::is_same_v<T, int64_t>) {
    inside(value);
  } else if constexpr (std::is_same_v<T, Extent2>) {
    inside(value.h);
    inside(value.w);
  } else if constexpr (std::is_same_v<T, Pads>) {
    for (const int64_t v : {value.top, value.bottom, value.left, value.right}) inside(v);
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    for (const int64_t v : value) inside(v);
  } else if constexpr (std::is_same_v<T, std::vector<HostCall::Result>>) {
    for (const auto& result : value)
      for (const ResultExtent& extent : result.shape) inside(extent.count);
  }
}

// Attributes say "attribute" where other objects say "key"; a function is the op's name and no attribute.
template <class T>
void read_attributes(const Json& attributes, T& op) {
  std::vector<std::string> known;
  fields(op, [&]<class V>(const char* key, V& value) {
    if (NamedByFunction<T> && std::string_view(key) == "function") return;
    codec::Reader<codec::JsonForm::definition>{attributes, known}(key, value);
    check_range(key, value);
  });
  codec::refuse_unknown(attributes, known, "attribute");
}

template <class T>
bool read_as(std::string_view kind, const Json& attributes, Op& out) {
  T op;
  if constexpr (NamedByFunction<T>) {
    const auto function = enum_from<decltype(T::function)>(kind);
    if (!function) return false;
    op.function = *function;
  } else if (kind != T::kKind) {
    return false;
  }
  read_attributes(attributes, op);
  out = op;
  return true;
}

template <class T>
void add_kinds(std::vector<std::string>& out) {
  if constexpr (NamedByFunction<T>)
    for (const std::string_view function : EnumNames<decltype(T::function)>::kNames) out.emplace_back(function);
  else
    out.emplace_back(T::kKind);
}

template <size_t... I>
bool read_any(std::string_view kind, const Json& attributes, Op& out, std::index_sequence<I...>) {
  return (read_as<std::variant_alternative_t<I, OpVariant>>(kind, attributes, out) || ...);
}
template <size_t... I>
std::vector<std::string> kinds(std::index_sequence<I...>) {
  std::vector<std::string> out;
  (add_kinds<std::variant_alternative_t<I, OpVariant>>(out), ...);
  return out;
}
constexpr auto kAll = std::make_index_sequence<std::variant_size_v<OpVariant>>{};

}  // namespace

Op::Op() = default;
Op::Op(const Op& other) = default;
Op::Op(Op&& other) noexcept = default;
Op& Op::operator=(const Op& other) = default;
Op& Op::operator=(Op&& other) noexcept = default;
Op::~Op() = default;

std::string kind(const Op& op) {
  return std::visit(
      []<class T>(const T& concrete) -> std::string {
        if constexpr (NamedByFunction<T>)
          return std::string(enum_name(concrete.function));
        else
          return std::string(T::kKind);
      },
      op);
}

std::vector<std::string> all_kinds() { return kinds(kAll); }

std::vector<Shape> output_shapes(const Op& op, Shapes in) {
  require(!in.empty(), "has no operand");
  return std::visit([&](const auto& concrete) { return output_shapes(concrete, in); }, op);
}

std::vector<ParameterSpec> parameters(const Op& op, const Shape& x) {
  return std::visit([&](const auto& concrete) { return parameters(concrete, x); }, op);
}

DType output_dtype(const Op& op, size_t output, std::span<const DType> in) {
  return std::visit([&](const auto& concrete) { return output_dtype(concrete, output, in); }, op);
}

Cost forward_cost(const Op& op, const Operands& o) {
  return std::visit([&](const auto& concrete) { return forward_cost(concrete, o); }, op);
}
Cost backward_cost(const Op& op, const Operands& o) {
  return std::visit([&](const auto& concrete) { return backward_cost(concrete, o); }, op);
}
int64_t kept_bytes(const Op& op, const Operands& o) {
  return std::visit([&](const auto& concrete) { return kept_bytes(concrete, o); }, op);
}
Traits traits(const Op& op) {
  return std::visit([](const auto& concrete) { return traits(concrete); }, op);
}

std::vector<size_t> saved_inputs(const Op& op, size_t operands) { return saved_inputs(traits(op), operands); }

Rounding rounding(const Op& op, Shapes in) {
  return std::visit([&](const auto& concrete) { return rounding(concrete, in); }, op);
}

bool write_gradient(const Op& op, GradientWriter& node, const std::string& g) {
  return std::visit([&](const auto& concrete) { return write_gradient(concrete, node, g); }, op);
}
std::optional<PythonCall> python_call(const Op& op, const PythonNode& in) {
  return std::visit([&](const auto& concrete) { return python_call(concrete, in); }, op);
}

std::span<const OperandRule> operand_rules(const Op& op) {
  return std::visit([]<class T>(const T&) -> std::span<const OperandRule> { return T::kOperands; }, op);
}
size_t data_operands(const Op& op, size_t given) {
  return std::visit([&](const auto& concrete) { return data_operands(concrete, given); }, op);
}
Role role(const Op& op, size_t operand, Shapes in) {
  return std::visit([&](const auto& concrete) { return role(concrete, operand, in); }, op);
}
Integers allowed_integers(const Op& op, size_t operand, Shapes in, const Integers& result) {
  return std::visit([&](const auto& concrete) { return allowed_integers(concrete, operand, in, result); }, op);
}
bool is_constant(const Op& op, size_t operand, Shapes in) {
  return traits(op).differentiable && is_constant(role(op, operand, in));
}

size_t result_count(const Op& op) {
  return std::visit([](const auto& concrete) { return result_count(concrete); }, op);
}
std::optional<double> dropout_rate(const Op& op) {
  return std::visit([](const auto& concrete) { return dropout_rate(concrete); }, op);
}
void make_double(Op& op) {
  std::visit([](auto& concrete) { make_double(concrete); }, op);
}

Json attributes_to_json(const Op& op) {
  return std::visit(
      []<class T>(const T& concrete) {
        Json out = codec::write_fields<codec::JsonForm::definition>(concrete);
        if constexpr (NamedByFunction<T>) out.erase("function");
        return out;
      },
      op);
}

Op op_from_json(std::string_view kind, const Json& attributes) {
  require(attributes.is_object(), "attributes are not an object");
  Op op;
  if (!read_any(kind, attributes, op, kAll)) {
    const std::vector<std::string> known = all_kinds();
    fail(ErrorKind::invalid, unknown_name("op", kind, known));
  }
  return op;
}

}  // namespace tbd
