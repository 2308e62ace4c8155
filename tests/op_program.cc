#include <algorithm>
#include <cmath>

#include "base/philox.h"
#include "base/text.h"
#include "graph/graph.h"
#include "op_cases.h"

namespace tbd {
namespace {

constexpr double kNorm = 2;  // of each loss term: a power of two, which no type rounds

std::optional<DType> low_type(Precision precision) {
  if (precision == Precision::kBf16) return DType::bf16;
  if (precision == Precision::kFp16) return DType::f16;
  return std::nullopt;
}

bool contains(const std::vector<size_t>& all, size_t wanted) { return std::ranges::find(all, wanted) != all.end(); }

std::vector<Dim> dims(const Shape& shape) {
  const auto extents = shape.extents();
  return {extents.begin(), extents.end()};
}

// Writes the branch of one case into a phase.
class Branch {
 public:
  Branch(Program& program, const OpCase& c, std::optional<DType> low)
      : program_(program), phase_(program.phases[0]), case_(c), low_(takes_low_types(c.op) ? low : std::nullopt) {}

  void write() {
    const std::vector<std::string> results = this->results();
    const bool host = std::holds_alternative<HostCall>(case_.op);
    const bool trains = !group().parameters.empty() && group().parameters.back().starts_with(case_.name + ".");
    for (size_t r = 0; r < results.size(); ++r) {
      const std::string name = r == 0 ? case_.name : named(cat("r", r));
      phase_.outputs[name] = results[r];
      if (host || contains(case_.unread, r)) continue;
      const std::string loss = shapes_[r].rank() == 0 ? results[r] : weighted_sum(results[r], r, trains);
      phase_.loss.push_back({name, loss, kNorm});
    }
  }

 private:
  std::string named(std::string_view part) const { return cat(case_.name, ".", part); }
  std::string add(std::string_view part, Op op, std::vector<std::string> inputs) {
    phase_.nodes.push_back({named(part), std::move(op), std::move(inputs)});
    return named(part);
  }
  // The name that the precision pass would give the cast, which then shares it.
  std::string lowered(const std::string& name, bool is_float) {
    if (!low_ || !is_float) return name;
    const std::string result = cat(name, "@", tbd::name(*low_));
    phase_.nodes.push_back({result, Cast{*low_}, {name}});
    return result;
  }

  std::string operand(size_t i) {
    const std::string name = named(cat("x", i));
    const bool integer = contains(case_.integers, i);
    if (integer || contains(case_.fixed, i)) {
      phase_.inputs.push_back({name, dims(case_.operands[i]), integer ? DType::i32 : DType::f32, ""});
    } else {
      train({name, case_.operands[i], DType::f32, {}});
    }
    types_.push_back(integer ? DType::i32 : low_.value_or(DType::f32));
    return lowered(name, !integer);
  }

  void train(const Parameter& parameter) {
    program_.parameters.push_back(parameter);
    group().parameters.push_back(parameter.name);
  }

  std::string node(std::string_view part, const Op& op, std::vector<std::string> inputs) {
    for (const ParameterSpec& spec : parameters(op, case_.operands[0])) {
      const Parameter parameter = {named(spec.suffix), spec.shape, DType::f32, spec.init};
      if (spec.buffer)
        program_.buffers.push_back(parameter);
      else
        train(parameter);
      inputs.push_back(parameter.name);
      types_.push_back(DType::f32);
    }
    return add(part, op, inputs);
  }

  // The op's node, and what makes the results ones that gradients can be checked through.
  std::vector<std::string> results() {
    std::vector<std::string> inputs;
    for (size_t i = 0; i < case_.operands.size(); ++i) inputs.push_back(operand(i));
    if (std::holds_alternative<InputGradient>(case_.op)) {
      const std::string inner = node("inner", case_.inner[0], inputs);
      const std::string bent = add("bent", Unary{Unary::Function::tanh}, {inner});
      shapes_ = {case_.operands[0]};
      return {in_f32(add("y", case_.op, {bent, inputs[0]}), 0)};
    }
    std::string y = node("y", case_.op, inputs);
    shapes_ = output_shapes(case_.op, operand_shapes(case_));
    if (std::holds_alternative<HostCall>(case_.op)) return {y};
    if (std::holds_alternative<StopGradient>(case_.op))  // the gradient of y + x by x is then 1, not 2
      y = add("with_x", Binary{Binary::Function::add}, {y, inputs[0]});
    std::vector<std::string> out;
    for (size_t r = 0; r < shapes_.size(); ++r) out.push_back(in_f32(r == 0 ? y : cat(y, ":", r), r));
    return out;
  }

  std::string in_f32(const std::string& result, size_t r) {
    const Op& op = case_.inner.empty() ? case_.op : case_.inner[0];
    if (output_dtype(op, r, types_) == DType::f32) return result;
    return add(numbered("back", r), Cast{DType::f32}, {result});
  }

  // Trained weights where nothing else is: their gradient is the result.
  std::string weighted_sum(const std::string& y, size_t r, bool trains) {
    const std::string weights = named(numbered("weights", r));
    if (trains)
      phase_.inputs.push_back({weights, dims(shapes_[r]), DType::f32, ""});
    else
      train({weights, shapes_[r], DType::f32, {}});
    const std::string weighted = add(numbered("weighted", r), Binary{Binary::Function::mul}, {y, weights});
    return add(numbered("loss", r), Reduce{}, {weighted});
  }

  static std::string numbered(std::string_view part, size_t r) { return r == 0 ? std::string(part) : cat(part, r); }
  ParameterGroup& group() { return phase_.update.groups[0]; }

  Program& program_;
  Phase& phase_;
  const OpCase& case_;
  std::optional<DType> low_;
  std::vector<DType> types_;   // of the op's operands
  std::vector<Shape> shapes_;  // of its results
};

// Positive ones lie in [0.5, 2.5]. Distinct ones are multiples of 1/32 that every float type holds, all different
// within a block of 256 elements, so that no rounding makes a tie.
double value_at(const Philox& random, OpCase::Values values, uint64_t i) {
  if (values == OpCase::Values::positive) return 0.5 + 2 * random.uniform(i);
  if (values == OpCase::Values::normal) return random.normal(i);
  constexpr uint64_t kBlock = 256, kOddStride = 149;
  const uint64_t start = random.word(i / kBlock);
  return (static_cast<double>((i * kOddStride + start) % kBlock) - 127.5) / 32;
}

HostTensor drawn(const std::string& name, const Shape& shape, OpCase::Values values) {
  const Philox random(11, name);
  HostTensor out(DType::f64, shape);
  const auto elements = out.as<double>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = value_at(random, values, i);
  return out;
}

// Weights of recurrent ops are as small as networks have them: with larger ones a step magnifies what rounding did to
// the last.
void scale_recurrent_weights(const std::string& name, HostTensor& tensor) {
  if (name.find(".weight_ih") == std::string::npos && name.find(".weight_hh") == std::string::npos) return;
  const double scale = 1 / std::sqrt(static_cast<double>(tensor.shape().back()));
  for (double& x : tensor.as<double>()) x *= scale;
}

HostTensor drawn_integers(const std::string& name, const Shape& shape, const IntegerRange& range) {
  const Philox random(11, name);
  HostTensor out(DType::i32, shape);
  const auto elements = out.as<int32_t>();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<int32_t>(range.first + random.word(i) % (range.last - range.first + 1));
  return out;
}

HostTensor drawn_mask(const std::string& name, const Shape& shape, double keep) {
  HostTensor out(DType::f64, shape);
  const Philox random(11, name);
  const auto elements = out.as<double>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = random.uniform(i) < keep ? 1 : 0;
  return out;
}

// 0, or -1e4 but in the first place of a row.
HostTensor drawn_additive_mask(const std::string& name, const Shape& shape) {
  HostTensor out = drawn_mask(name, shape, 0.6);
  const auto elements = out.as<double>();
  for (size_t i = 0; i < elements.size(); ++i)
    elements[i] = elements[i] == 1 || i % static_cast<size_t>(shape.back()) == 0 ? 0 : -1e4;
  return out;
}

HostTensor repeated(const std::vector<double>& values, const Shape& shape) {
  HostTensor out(DType::f64, shape);
  const auto elements = out.as<double>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = values[i % values.size()];
  return out;
}

// In double, or in i32.
HostTensor operand_value(const OpCase& c, size_t i, const Graph& graph) {
  const std::string name = cat(c.name, ".x", i);
  const Shape& shape = c.operands[i];
  const bool integer = contains(c.integers, i);
  if (const auto given = c.given.find(i); given != c.given.end())
    return converted(repeated(given->second, shape), integer ? DType::i32 : DType::f64);
  if (integer) return drawn_integers(name, shape, integer_range(graph, graph.find(name).value()));
  if (!contains(c.fixed, i)) return drawn(name, shape, c.values);
  if (std::holds_alternative<Sinusoid>(c.op)) return drawn_mask(name, shape, 0.7);
  if (std::holds_alternative<Attention>(c.op) && shape.rank() == 2) return drawn_additive_mask(name, shape);
  if (const auto dropped = dropout_rate(c.op)) return drawn_mask(name, shape, 1 - *dropped);
  return drawn(name, shape, c.values);
}

}  // namespace

Program op_program(std::span<const OpCase> cases, Precision precision) {
  Program program = {.model = "ops", .config = "conformance"};
  program.phases.push_back({.name = "train"});
  program.phases[0].update.groups.emplace_back();
  for (const OpCase& c : cases) Branch(program, c, low_type(precision)).write();
  program.step = {{.phase = "train"}};
  return with_precision(program, precision);
}

TensorMap op_values(std::span<const OpCase> cases, Precision precision, DType rounded) {
  const Program program = op_program(cases, precision);
  const Graph graph = bind(program, program.phases[0], {{"N", 1}});
  TensorMap exact;
  for (const OpCase& c : cases)
    for (size_t i = 0; i < c.operands.size(); ++i) exact[cat(c.name, ".x", i)] = operand_value(c, i, graph);
  const auto value = [&](const std::string& name, const Shape& shape, DType stored) {
    const auto found = exact.find(name);
    // Positive weights of the sum keep gradients that are sums of them from cancelling.
    const bool positive = name.ends_with("running_var") || name.find(".weights") != std::string::npos;
    HostTensor tensor = found != exact.end()
                            ? found->second
                            : drawn(name, shape, positive ? OpCase::Values::positive : OpCase::Values::normal);
    scale_recurrent_weights(name, tensor);
    return is_float(stored) ? converted(converted(tensor, rounded), stored) : tensor;
  };
  TensorMap out;
  for (const Parameter& p : program.parameters) out["param/" + p.name] = value(p.name, p.shape, p.dtype);
  for (const Parameter& b : program.buffers) out["buffer/" + b.name] = value(b.name, b.shape, b.dtype);
  for (const InputSpec& input : program.phases[0].inputs) {
    std::vector<int64_t> extents;
    for (const Dim& dim : input.shape) extents.push_back(dim.extent);
    out[input.name] = value(input.name, Shape(extents), input.dtype);
  }
  return out;
}

}  // namespace tbd
