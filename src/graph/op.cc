#include "graph/op.h"

#include <concepts>

namespace tbd {
namespace {

template <class E>
struct Names;
template <>
struct Names<Unary::Function> {
  static constexpr std::string_view kNames[] = {"relu", "leaky_relu", "sigmoid", "tanh", "exp",
                                                "log",  "sqrt",       "square",  "abs",  "neg"};
};
template <>
struct Names<Binary::Function> {
  static constexpr std::string_view kNames[] = {"add", "sub", "mul", "div"};
};
template <>
struct Names<Reduce::Function> {
  static constexpr std::string_view kNames[] = {"sum", "mean"};
};
template <>
struct Names<BatchNorm::Stats> {
  static constexpr std::string_view kNames[] = {"running", "batch", "frozen"};
};

template <class E>
std::string_view enum_name(E value) {
  return Names<E>::kNames[static_cast<size_t>(value)];
}
template <class E>
std::optional<E> enum_from(std::string_view text) {
  for (size_t i = 0; i < std::size(Names<E>::kNames); ++i)
    if (Names<E>::kNames[i] == text) return static_cast<E>(i);
  return std::nullopt;
}

// Ops that go by the name of their function.
template <class T>
concept NamedByFunction = requires(T op) { op.function; } && std::is_enum_v<decltype(T::function)>;

template <class T>
Json encode(const T& value) {
  if constexpr (std::is_same_v<T, DType>) return name(value);
  else if constexpr (std::is_enum_v<T>) return enum_name(value);
  else if constexpr (std::is_same_v<T, Extent2>) return Json::array({value.h, value.w});
  else if constexpr (std::is_same_v<T, Pads>) return Json::array({value.top, value.bottom, value.left, value.right});
  else if constexpr (std::is_same_v<T, std::vector<HostCall::Result>>) {
    Json out = Json::array();
    for (const HostCall::Result& result : value) out.push_back({{"shape", result.shape}, {"dtype", name(result.dtype)}});
    return out;
  } else return value;
}

template <class T>
void decode(const Json& object, const char* key, T& value) {
  if constexpr (std::is_same_v<T, DType>) {
    value = dtype_from(at<std::string>(object, key));
  } else if constexpr (std::is_enum_v<T>) {
    const auto text = at<std::string>(object, key);
    const auto parsed = enum_from<T>(text);
    require(parsed.has_value(), "'", key, "' has no value '", text, "'");
    value = *parsed;
  } else if constexpr (std::is_same_v<T, Extent2>) {
    const auto pair = at<std::vector<int64_t>>(object, key);
    require(pair.size() == 2, "'", key, "' needs height and width");
    value = {pair[0], pair[1]};
  } else if constexpr (std::is_same_v<T, Pads>) {
    const auto four = at<std::vector<int64_t>>(object, key);
    require(four.size() == 4, "'", key, "' needs top, bottom, left, right");
    value = {four[0], four[1], four[2], four[3]};
  } else if constexpr (std::is_same_v<T, std::vector<HostCall::Result>>) {
    value.clear();
    for (const Json& result : at<Json>(object, key))
      value.push_back({at<std::vector<int64_t>>(result, "shape"), dtype_from(at<std::string>(result, "dtype"))});
  } else {
    value = at<T>(object, key);
  }
}

template <class T>
void read_fields(const Json& attributes, T& op) {
  std::vector<std::string> known;
  fields(op, [&](const char* key, auto& value) {
    known.emplace_back(key);
    if (attributes.contains(key)) decode(attributes, key, value);
  });
  for (const auto& [key, value] : attributes.items())
    if (std::ranges::find(known, key) == known.end()) fail(ErrorKind::invalid, unknown_name("attribute", key, known));
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
  read_fields(attributes, op);
  out = op;
  return true;
}

template <class T>
void add_kinds(std::vector<std::string>& out) {
  if constexpr (NamedByFunction<T>)
    for (const std::string_view function : Names<decltype(T::function)>::kNames) out.emplace_back(function);
  else
    out.emplace_back(T::kKind);
}

template <size_t... I>
bool read_any(std::string_view kind, const Json& attributes, Op& out, std::index_sequence<I...>) {
  return (read_as<std::variant_alternative_t<I, Op>>(kind, attributes, out) || ...);
}
template <size_t... I>
std::vector<std::string> kinds(std::index_sequence<I...>) {
  std::vector<std::string> out;
  (add_kinds<std::variant_alternative_t<I, Op>>(out), ...);
  return out;
}
constexpr auto kAll = std::make_index_sequence<std::variant_size_v<Op>>{};

}  // namespace

std::string kind(const Op& op) {
  return std::visit(
      []<class T>(const T& concrete) -> std::string {
        if constexpr (NamedByFunction<T>) return std::string(enum_name(concrete.function));
        else return std::string(T::kKind);
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
  if (const auto* cast = std::get_if<Cast>(&op)) return cast->to;
  if (const auto* call = std::get_if<HostCall>(&op)) return call->results.at(output).dtype;
  if (std::holds_alternative<InputGradient>(op)) return in[1];
  return in[0];
}

Cost forward_cost(const Op& op, const Operands& o) {
  return std::visit([&](const auto& concrete) { return forward_cost(concrete, o); }, op);
}
Cost backward_cost(const Op& op, const Operands& o) {
  return std::visit([&](const auto& concrete) { return backward_cost(concrete, o); }, op);
}
Traits traits(const Op& op) {
  return std::visit([](const auto& concrete) { return traits(concrete); }, op);
}

Json attributes_to_json(const Op& op) {
  return std::visit(
      []<class T>(const T& concrete) {
        Json out = Json::object();
        const Json defaults = [] {
          Json all = Json::object();
          T fresh;
          fields(fresh, [&](const char* key, const auto& value) { all[key] = encode(value); });
          return all;
        }();
        fields(concrete, [&](const char* key, const auto& value) {
          const bool named = NamedByFunction<T> && std::string_view(key) == "function";
          if (Json encoded = encode(value); !named && encoded != defaults[key]) out[key] = std::move(encoded);
        });
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
