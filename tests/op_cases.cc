#include "op_cases.h"

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/philox.h"
#include "base/text.h"
#include "op_image_cases.h"
#include "op_sequence_cases.h"
#include "op_speech_cases.h"

namespace tbd {
namespace {

using Cases = std::vector<OpCase>;
using Values = OpCase::Values;

const Shape kImage = {2, 4, 7, 6};

// Small random attributes and extents, the same on every run.
class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, "draw") {}
  int64_t operator()(int64_t low, int64_t high) { return low + random_.word(next_++) % (high - low + 1); }
  bool coin() { return (*this)(0, 1) == 1; }
  Extent2 extent(int64_t low, int64_t high) {
    const int64_t h = (*this)(low, high);
    return {h, (*this)(low, high)};
  }
  Pads pads(Extent2 most) {
    Pads out = {.top = (*this)(0, most.h), .bottom = (*this)(0, most.h)};
    out.left = (*this)(0, most.w);
    out.right = (*this)(0, most.w);
    return out;
  }
  Shape image() {
    const int64_t n = (*this)(2, 3), c = 2 * (*this)(1, 2), h = (*this)(5, 7);
    return {n, c, h, (*this)(5, 7)};
  }

 private:
  Philox random_;
  uint64_t next_ = 0;
};

constexpr uint64_t kDraws = 4;

Cases conv2d_cases() {
  const Conv2d ops[] = {{.out = 3, .kernel = 3},
                        {.out = 5, .kernel = 1, .bias = true},
                        {.out = 5, .kernel = 1, .stride = 2},
                        {.out = 4, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}},
                        {.out = 4, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}, .bias = true},
                        {.out = 3, .kernel = {1, 5}, .pads = {0, 0, 2, 2}},
                        {.out = 3, .kernel = {5, 2}, .stride = {1, 3}, .pads = {3, 1, 0, 1}},
                        {.out = 3, .kernel = 3, .pads = {2, 2, 2, 2}, .dilation = 2},
                        {.out = 6, .kernel = 3, .pads = {1, 1, 1, 1}, .groups = 2, .bias = true},
                        {.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}, .groups = 4},
                        {.out = 8, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}, .groups = 4, .bias = true},
                        {.out = 4, .kernel = {3, 2}, .pads = {2, 2, 1, 0}, .dilation = {2, 1}, .groups = 4}};
  Cases cases;
  for (const Conv2d& op : ops) cases.push_back({.op = op, .operands = {kImage}});
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    Draw draw(seed);
    const Shape x = draw.image();
    Conv2d op = {.out = 4, .kernel = draw.extent(1, 3), .stride = draw.extent(1, 2), .pads = draw.pads(2)};
    op.dilation = draw.extent(1, 2);
    op.groups = draw.coin() ? 2 : 1;
    op.bias = draw.coin();
    cases.push_back({.op = op, .operands = {x}});
  }
  return cases;
}

Cases linear_cases() {
  return {{.op = Linear{.out = 5}, .operands = {{3, 7}}},
          {.op = Linear{.out = 1, .bias = false}, .operands = {{3, 7}}},
          {.op = Linear{.out = 5}, .operands = {{2, 3, 4}}},
          {.op = Linear{.out = 2, .bias = false}, .operands = {{2, 3, 2, 5}}}};
}

Cases matmul_cases() {
  Cases cases;
  for (const auto& batch : {std::vector<int64_t>{}, {3}, {2, 3}})
    for (const Matmul op : {Matmul{false, false}, Matmul{true, false}, Matmul{false, true}, Matmul{true, true}}) {
      std::vector<int64_t> a = batch, b = batch;
      a.insert(a.end(), {op.transpose_a ? 7 : 4, op.transpose_a ? 4 : 7});
      b.insert(b.end(), {op.transpose_b ? 5 : 7, op.transpose_b ? 7 : 5});
      cases.push_back({.op = op, .operands = {Shape(a), Shape(b)}});
    }
  return cases;
}

Cases batch_norm_cases() {
  Cases cases;
  for (const auto stats : {BatchNorm::Stats::running, BatchNorm::Stats::batch, BatchNorm::Stats::frozen})
    for (const bool affine : {true, false})
      for (const Shape& x : {kImage, Shape{9, 5}})
        cases.push_back(
            {.op =
                 BatchNorm{
                     .eps = affine ? 1e-3 : 1e-5, .momentum = affine ? 0.1 : 0.3, .affine = affine, .stats = stats},
             .operands = {x}});
  return cases;
}

Cases group_norm_cases() {
  Cases cases;
  for (const int64_t groups : {1, 2, 4})
    cases.push_back({.op = GroupNorm{.groups = groups, .eps = groups == 2 ? 1e-3 : 1e-5}, .operands = {kImage}});
  cases.push_back({.op = GroupNorm{.groups = 3}, .operands = {{2, 6, 5}}});
  return cases;
}

template <class Norm>
Cases last_axis_norm_cases() {
  return {{.op = Norm{}, .operands = {{3, 7}}},
          {.op = Norm{.eps = 1e-3}, .operands = {{2, 3, 9}}},
          {.op = Norm{.eps = 1e-12}, .operands = {{2, 3, 2, 8}}}};
}

Cases softmax_cases() {
  Cases cases;
  for (const Shape& x : {Shape{3, 7}, Shape{2, 3, 5}, Shape{2, 3, 2, 6}, Shape{4, 1}, Shape{5}})
    cases.push_back({.op = Softmax{}, .operands = {x}});
  return cases;
}

template <class Pool>
Cases pool_cases() {
  const Pool ops[] = {{.kernel = 2, .stride = 2},
                      {.kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}},
                      {.kernel = 3, .stride = 1, .pads = {1, 1, 1, 1}},
                      {.kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}},
                      {.kernel = {3, 2}, .stride = {2, 1}, .pads = {1, 1, 0, 0}},
                      {.kernel = 3, .stride = 3, .pads = {2, 2, 2, 2}},
                      {.kernel = 1, .stride = 2}};
  Cases cases;
  for (const Pool& op : ops) cases.push_back({.op = op, .operands = {kImage}, .values = Values::distinct});
  for (uint64_t seed = 0; seed < kDraws; ++seed) {
    Draw draw(seed);
    const Shape x = draw.image();
    const Extent2 kernel = draw.extent(2, 3);
    const Pool op = {.kernel = kernel, .stride = draw.extent(1, 3), .pads = draw.pads({kernel.h - 1, kernel.w - 1})};
    cases.push_back({.op = op, .operands = {x}, .values = Values::distinct});
  }
  return cases;
}

Cases avg_pool_cases() {
  Cases counted = pool_cases<AvgPool>(), cases;
  for (OpCase& c : counted) {
    cases.push_back(c);
    std::get<AvgPool>(c.op).include_pad = false;
    if (std::get<AvgPool>(c.op).pads != Pads{}) cases.push_back(c);
  }
  return cases;
}

Cases unary_cases(const std::string& kind) {
  const Op op = op_from_json(kind, Json::object());
  const Values values = kind == "log" || kind == "sqrt" ? Values::positive : Values::normal;
  Cases cases = {{.op = op, .operands = {{3, 7}}, .values = values},
                 {.op = op, .operands = {kImage}, .values = values}};
  if (kind == "leaky_relu") cases.push_back({.op = Unary{Unary::Function::leaky_relu, 0.2}, .operands = {{5}}});
  return cases;
}

Cases binary_cases(const std::string& kind) {
  const std::pair<Shape, Shape> operands[] = {
      {kImage, kImage}, {kImage, {2, 4, 1, 6}},       {{2, 1, 1, 1}, kImage}, {{2, 1, 7}, {1, 4, 7}}, {{5, 1}, {1, 3}},
      {{7}, {1}},       {{1, 4, 1, 1}, {2, 4, 7, 6}}, {kImage, {2, 4, 1, 1}}};
  Cases cases;
  for (const auto& [a, b] : operands)
    cases.push_back({.op = op_from_json(kind, Json::object()), .operands = {a, b}, .values = Values::positive});
  return cases;
}

Cases affine_cases() {
  Cases cases;
  for (const Affine op : {Affine{-1.5}, Affine{1, 0.25}, Affine{1.5, -0.75}})
    cases.push_back({.op = op, .operands = {{3, 5, 2}}});
  return cases;
}

Cases dropout_cases() {
  Cases cases;
  for (const double p : {0.5, 0.2}) cases.push_back({.op = Dropout{p}, .operands = {{7, 9}, {7, 9}}, .fixed = {1}});
  const Dropout samples = {.p = 0.2, .per_sample = true};
  cases.push_back({.op = samples, .operands = {{5, 3, 2, 4}, {5, 1, 1, 1}}, .fixed = {1}});
  cases.push_back({.op = samples, .operands = {{9}, {9}}, .fixed = {1}});
  return cases;
}

Cases reshape_cases() {
  Cases cases;
  for (const std::vector<int64_t>& to :
       {std::vector<int64_t>{0, -1}, {-1}, {0, 0, 42}, {8, -1, 3}, {2, 2, 2, 7, 3, 2}, {0, 4, 6, 7}})
    cases.push_back({.op = Reshape{to}, .operands = {kImage}});
  cases.push_back({.op = Reshape{{-1}}, .operands = {{2, 3}}, .integers = {0}});
  return cases;
}

Cases reduce_cases(const std::string& kind) {
  Cases cases;
  for (const std::vector<int64_t>& axes : {std::vector<int64_t>{}, {0}, {1}, {3}, {2, 3}, {0, 2}, {1, 2, 3}})
    for (const bool keep : {false, true}) {
      Op op = op_from_json(kind, Json::object());
      std::get<Reduce>(op).axes = axes;
      std::get<Reduce>(op).keep = keep;
      cases.push_back({.op = op, .operands = {kImage}, .values = Values::positive});
    }
  return cases;
}

// What a critic is made of.
Cases input_gradient_cases() {
  const Op ops[] = {Conv2d{.out = 3, .kernel = 3, .pads = {1, 1, 1, 1}, .bias = true},
                    Conv2d{.out = 3, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}},
                    Linear{.out = 3},
                    GroupNorm{.groups = 2},
                    AvgPool{.kernel = 2, .stride = 2},
                    Unary{Unary::Function::leaky_relu, 0.2},
                    Unary{},
                    Affine{2, 1},
                    Reshape{{0, -1}},
                    Reduce{Reduce::Function::mean, {2, 3}}};
  Cases cases;
  for (const Op& op : ops) {
    const Shape x = std::holds_alternative<Linear>(op) ? Shape{3, 5} : Shape{2, 2, 4, 4};
    cases.push_back({.op = InputGradient{}, .operands = {x}, .inner = {op}});
  }
  return cases;
}

Cases structure_cases(const std::string& kind) {
  if (kind == "global_mean") return {{.op = GlobalMean{}, .operands = {kImage}, .values = Values::positive}};
  if (kind == "cast")
    return {{.op = Cast{DType::f32}, .operands = {{3, 7}}}, {.op = Cast{DType::bf16}, .operands = {{3, 7}}}};
  if (kind == "squared_error")
    return {{.op = SquaredError{}, .operands = {{3, 7}, {3, 7}}}, {.op = SquaredError{}, .operands = {kImage, kImage}}};
  if (kind == "stop_gradient") return {{.op = StopGradient{}, .operands = {{3, 7}}}};
  if (kind == "host_call") {
    const HostCall call = {.function = "top_rows", .results = {{{0, 3}, DType::i32}}};
    return {{.op = call, .operands = {{4, 9}}, .fixed = {0}, .values = Values::distinct}};
  }
  fail(ErrorKind::internal, "no case for the op '", kind, "'");
}

Cases unnamed_cases(const std::string& kind) {
  for (const auto& some : {image_cases, sequence_cases, speech_cases})
    if (Cases cases = some(kind); !cases.empty()) return cases;
  if (kind == "conv2d") return conv2d_cases();
  if (kind == "linear") return linear_cases();
  if (kind == "matmul") return matmul_cases();
  if (kind == "batch_norm") return batch_norm_cases();
  if (kind == "group_norm") return group_norm_cases();
  if (kind == "layer_norm") return last_axis_norm_cases<LayerNorm>();
  if (kind == "rms_norm") return last_axis_norm_cases<RmsNorm>();
  if (kind == "softmax") return softmax_cases();
  if (kind == "max_pool") return pool_cases<MaxPool>();
  if (kind == "avg_pool") return avg_pool_cases();
  if (kind == "affine") return affine_cases();
  if (kind == "dropout") return dropout_cases();
  if (kind == "reshape") return reshape_cases();
  if (kind == "input_gradient") return input_gradient_cases();
  if (kind == "sum" || kind == "mean") return reduce_cases(kind);
  const Op op = op_from_json(kind, Json::object());
  if (std::holds_alternative<Unary>(op)) return unary_cases(kind);
  if (std::holds_alternative<Binary>(op)) return binary_cases(kind);
  return structure_cases(kind);
}

}  // namespace

std::vector<OpCase> op_cases(const std::string& kind) {
  Cases cases = unnamed_cases(kind);
  for (size_t i = 0; i < cases.size(); ++i) cases[i].name = cat(kind, ".", i);
  return cases;
}

std::vector<OpCase> large_op_cases() {
  const Shape image = {3, 32, 13, 11};
  Cases cases = {
      {.op = Conv2d{.out = 48, .kernel = 3, .pads = {1, 1, 1, 1}}, .operands = {image}},
      {.op = Conv2d{.out = 64, .kernel = 1, .stride = 2, .bias = true}, .operands = {image}},
      {.op = Conv2d{.out = 32, .kernel = 3, .stride = 2, .pads = {0, 1, 0, 1}, .groups = 2}, .operands = {image}},
      {.op = Conv2d{.out = 32, .kernel = 5, .pads = {2, 2, 2, 2}, .groups = 32}, .operands = {image}},
      {.op = Linear{.out = 65}, .operands = {{33, 130}}},
      {.op = Matmul{.transpose_b = true}, .operands = {{4, 33, 64}, {4, 17, 64}}},
      {.op = BatchNorm{}, .operands = {image}},
      {.op = GroupNorm{.groups = 8}, .operands = {image}},
      {.op = LayerNorm{}, .operands = {{3, 17, 128}}},
      {.op = Unary{Unary::Function::tanh}, .operands = {image}},
      {.op = Binary{}, .operands = {image, {1, 32, 1, 1}}, .values = Values::positive},
      {.op = Reduce{.function = Reduce::Function::mean, .axes = {0, 2, 3}},
       .operands = {image},
       .values = Values::positive},
      {.op = SoftmaxCrossEntropy{0.1}, .operands = {{24, 1000}, {24}}, .integers = {1}},
      {.op = RmsNorm{}, .operands = {{3, 17, 128}}},
      {.op = Softmax{}, .operands = {{33, 130}}},
      {.op = Unary{Unary::Function::gelu}, .operands = {image}}};
  for (const auto& more : {large_image_cases, large_sequence_cases, large_speech_cases})
    std::ranges::move(more(), std::back_inserter(cases));
  for (size_t i = 0; i < cases.size(); ++i) cases[i].name = cat(kind(cases[i].op), ".large", i);
  return cases;
}

OpCase drawn_dropout() { return {.name = "dropout.drawn", .op = Dropout{0.25}, .operands = {{40, 50}}}; }

std::vector<OpCase> op_cases() {
  Cases all;
  for (const std::string& kind : all_kinds())
    for (OpCase& c : op_cases(kind)) all.push_back(std::move(c));
  return all;
}

bool takes_low_types(const Op& op) { return traits(op).precision != PrecisionRule::full; }

std::vector<Shape> operand_shapes(const OpCase& c) {
  std::vector<Shape> shapes = c.operands;
  if (std::holds_alternative<InputGradient>(c.op)) shapes.push_back(c.operands[0]);
  for (const ParameterSpec& spec : parameters(c.op, c.operands[0])) shapes.push_back(spec.shape);
  return shapes;
}

}  // namespace tbd
