#include <algorithm>

#include "base/philox.h"
#include "base/text.h"
#include "graph/graph.h"
#include "op_cases.h"

namespace tbd {
namespace {

constexpr double kNorm = 2;  // of each loss term: a power of two, which no type rounds

std::optional<DType> low_type(Precision precision) {
  if (precision == Precision::bf16) return DType::bf16;
  if (precision == Precision::fp16) return DType::f16;
  return std::nullopt;
}

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
    const std::string y = result();
    phase_.outputs[case_.name] = y;
    if (std::holds_alternative<HostCall>(case_.op)) return;
    const std::string loss = shape_.rank() == 0 ? y : weighted_sum(y);
    phase_.loss.push_back({case_.name, loss, kNorm});
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
    if (std::ranges::find(case_.fixed, i) == case_.fixed.end()) {
      program_.parameters.push_back({name, case_.operands[i], DType::f32, {}});
      phase_.update.groups[0].parameters.push_back(name);
      return lowered(name, true);
    }
    const bool label = std::holds_alternative<SoftmaxCrossEntropy>(case_.op);
    phase_.inputs.push_back({name, dims(case_.operands[i]), label ? DType::i32 : DType::f32, ""});
    return lowered(name, !label);
  }

  std::string node(std::string_view part, const Op& op, std::vector<std::string> inputs) {
    for (const ParameterSpec& spec : parameters(op, case_.operands[0])) {
      const Parameter parameter = {named(spec.suffix), spec.shape, DType::f32, spec.init};
      (spec.buffer ? program_.buffers : program_.parameters).push_back(parameter);
      if (!spec.buffer) phase_.update.groups[0].parameters.push_back(parameter.name);
      inputs.push_back(parameter.name);
    }
    return add(part, op, inputs);
  }

  // The op's node, and what makes the result one that gradients can be checked through.
  std::string result() {
    std::vector<std::string> inputs;
    for (size_t i = 0; i < case_.operands.size(); ++i) inputs.push_back(operand(i));
    shape_ = case_.operands[0];
    std::string y;
    if (std::holds_alternative<InputGradient>(case_.op)) {
      const std::string inner = node("inner", case_.inner[0], inputs);
      const std::string bent = add("bent", Unary{Unary::Function::tanh}, {inner});
      y = add("y", case_.op, {bent, inputs[0]});
    } else {
      y = node("y", case_.op, inputs);
      shape_ = output_shapes(case_.op, operand_shapes(case_))[0];
    }
    if (std::holds_alternative<StopGradient>(case_.op))  // the gradient of y + x by x is then 1, not 2
      y = add("with_x", Binary{Binary::Function::add}, {y, inputs[0]});
    const bool other_type = low_ || std::holds_alternative<Cast>(case_.op);
    if (!other_type || std::holds_alternative<HostCall>(case_.op)) return y;
    return add("back", Cast{DType::f32}, {y});
  }

  std::string weighted_sum(const std::string& y) {
    phase_.inputs.push_back({named("weights"), dims(shape_), DType::f32, ""});
    const std::string weighted = add("weighted", Binary{Binary::Function::mul}, {y, named("weights")});
    return add("loss", Reduce{}, {weighted});
  }

  Program& program_;
  Phase& phase_;
  const OpCase& case_;
  std::optional<DType> low_;
  Shape shape_;
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

HostTensor drawn_labels(const std::string& name, const Shape& shape, int64_t classes) {
  const Philox random(11, name);
  HostTensor out(DType::i32, shape);
  const auto elements = out.as<int32_t>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<int32_t>(random.word(i) % classes);
  return out;
}

HostTensor drawn_mask(const std::string& name, const Shape& shape, double keep) {
  HostTensor out = drawn(name, shape, OpCase::Values::normal);
  const Philox random(11, name);
  const auto elements = out.as<double>();
  for (size_t i = 0; i < elements.size(); ++i) elements[i] = random.uniform(i) < keep ? 1 : 0;
  return out;
}

HostTensor operand_value(const OpCase& c, size_t i) {
  const std::string name = cat(c.name, ".x", i);
  if (std::holds_alternative<SoftmaxCrossEntropy>(c.op) && i == 1)
    return drawn_labels(name, c.operands[i], c.operands[0].back());
  if (const auto* dropout = std::get_if<Dropout>(&c.op); dropout && i == 1)
    return drawn_mask(name, c.operands[i], 1 - dropout->p);
  return drawn(name, c.operands[i], c.values);
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
  TensorMap exact;
  for (const OpCase& c : cases)
    for (size_t i = 0; i < c.operands.size(); ++i) exact[cat(c.name, ".x", i)] = operand_value(c, i);
  const auto value = [&](const std::string& name, const Shape& shape, DType stored) {
    const auto found = exact.find(name);
    // Positive weights of the sum keep gradients that are sums of them from cancelling.
    const bool positive = name.ends_with("running_var") || name.ends_with(".weights");
    HostTensor tensor = found != exact.end()
                            ? found->second
                            : drawn(name, shape, positive ? OpCase::Values::positive : OpCase::Values::normal);
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
