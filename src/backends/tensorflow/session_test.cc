#include <algorithm>
#include <limits>

#include "backends/tensorflow/test_support.h"
#include "base/json.h"
#include "models/model.h"

namespace tbd::tensorflow {
namespace {

using testing::AllOf, testing::HasSubstr;

Program tiny_resnet(Precision precision) {
  return with_precision(find_model("resnet50").config("tiny").program(), precision);
}

class Resnet : public testing::TestWithParam<std::string> {};

TEST_P(Resnet, LearnsAFixedBatch) {
  auto session = ready(tiny_resnet(precision_from(GetParam())), {.capture = false});
  const double first = session->step(at_step(1, 0.02)).loss;
  double last = first;
  for (int64_t step = 2; step <= 8; ++step) last = session->step(at_step(step, 0.02)).loss;
  EXPECT_GT(first, 1.0);
  EXPECT_LT(last, 0.6 * first);
}
INSTANTIATE_TEST_SUITE_P(Precisions, Resnet, testing::Values("fp64", "fp32", "bf16"));

TEST(Xla, TrainsTheSameNetworkAsTheGraph) {
  const Program program = with_precision(toy_program("conv_forms"), Precision::fp32);
  auto graph = ready(program), xla = ready(program, {.mode = "xla"});
  for (int64_t step = 1; step <= 2; ++step)
    EXPECT_NEAR(xla->step(at_step(step)).loss, graph->step(at_step(step)).loss, 1e-4) << step;
}

TEST(Identity, SaysWhatItIs) {
  const SessionIdentity identity = TensorFlowSession().identity();
  EXPECT_EQ(identity.framework, "tensorflow");
  EXPECT_THAT(identity.modes, testing::ElementsAre("graph", "xla"));
  EXPECT_THAT(identity.version, HasSubstr("."));
  EXPECT_THAT(identity.layouts, testing::ElementsAre("nhwc"));
}

TEST(Check, NamesEveryNodeAndRefusesWhatIsNotThere) {
  const TensorFlowSession session;
  for (const auto& [name, program] : toy_programs())
    for (const NodeSupport& node : session.check(program)) {
      EXPECT_NE(node.level, NodeSupport::Level::unsupported) << name << " " << node.node;
      EXPECT_FALSE(node.detail.empty()) << name << " " << node.node;
    }
  Program program = toy_program("host_labels");
  for (Node& node : program.phases[0].nodes)
    if (auto* call = std::get_if<HostCall>(&node.op)) call->function = "top_row";
  std::vector<std::string> refused;
  for (const NodeSupport& node : session.check(program))
    if (node.level == NodeSupport::Level::unsupported) refused.push_back(node.detail);
  EXPECT_THAT(refused, testing::ElementsAre(HasSubstr("top_rows")));
  const auto fp16 = session.check(with_precision(toy_program("mlp20"), Precision::fp16));
  EXPECT_TRUE(std::ranges::any_of(fp16, [](const auto& n) { return n.level == NodeSupport::Level::unsupported; }));
}

TEST(Load, RefusesWhatItCannotDo) {
  const Program program = toy_program("mlp20");
  const auto load = [&](const LoadOptions& options, const Program& what) {
    return sentence_of([&] { TensorFlowSession().load(what, options); });
  };
  LoadOptions options = {.bindings = {{"N", 4}}, .layout = "nchw"};
  EXPECT_THAT(load(options, program), HasSubstr("nhwc"));
  options.layout = "nhwc", options.device = "cuda:0";
  EXPECT_THAT(load(options, program), HasSubstr("cuda:0"));
  options.device = "cpu", options.world = 2;
  EXPECT_THAT(load(options, program), HasSubstr("one rank"));
  options.world = 1;
  EXPECT_THAT(load(options, with_precision(program, Precision::fp16)), HasSubstr("loss scale"));
}

TEST(ReadAndWrite, RoundTrip) {
  const Program program = toy_program("conv_forms");
  auto session = ready(program), other = ready(program);
  for (int64_t step = 1; step <= 2; ++step) session->step(at_step(step));
  const TensorMap state = session->read({"param/", "buffer/", "state/"});
  EXPECT_TRUE(state.contains("state/same.weight/ema"));
  other->write(state);
  const TensorMap copy = other->read({"param/", "buffer/", "state/"});
  ASSERT_EQ(copy.size(), state.size());
  for (const auto& [name, tensor] : state) {
    EXPECT_EQ(copy.at(name).shape(), tensor.shape());
    EXPECT_TRUE(std::ranges::equal(copy.at(name).bytes(), tensor.bytes())) << name;
  }
}

TEST(ReadAndWrite, AnAverageThatIsWrittenStays) {
  const Program program = toy_program("conv_forms");
  auto session = ready(program);
  const TensorMap average = {{"state/head.bias/ema", HostTensor(DType::f32, {5})}};
  session->write(average);
  session->step(at_step(1, 0.0));
  const TensorMap after = session->read({"state/head.bias/ema", "param/head.bias"});
  const Vector e = as_doubles(after.at("state/head.bias/ema")), w = as_doubles(after.at("param/head.bias"));
  for (size_t i = 0; i < e.size(); ++i) EXPECT_NEAR(e[i], 0.01 * w[i], 1e-7);
}

TEST(ReadAndWrite, GiveOnlyWhatIsAskedFor) {
  auto session = ready(toy_program("mlp20"));
  session->step(at_step(1));
  EXPECT_EQ(session->read({"param/layers.1"}).size(), 22u);  // layers 1 and 10 to 19, weight and bias
  EXPECT_EQ(session->read({"loss"}).size(), 1u);
  EXPECT_TRUE(session->read({"nothing"}).empty());
}

TEST(ReadAndWrite, NamesTheMismatch) {
  auto session = loaded(toy_program("mlp20"));
  const auto write = [&](const std::string& name, Shape shape) {
    return sentence_of([&] { session->write({{name, HostTensor(DType::f32, shape)}}); });
  };
  EXPECT_THAT(write("param/layers.0.weight", {4, 4}),
              AllOf(HasSubstr("layers.0.weight"), HasSubstr("(4, 4)"), HasSubstr("(32, 32)")));
  EXPECT_THAT(write("param/layers.0.weigth", {32, 32}), HasSubstr("layers.0.weight"));
}

TEST(Stage, NamesAMissingOrMisshapenInput) {
  const Program program = toy_program("mlp20");
  auto session = loaded(program);
  TensorMap batch = random_batch(program);
  batch["x"] = HostTensor(DType::f32, {3, 32});
  EXPECT_THAT(sentence_of([&] { session->stage(batch); }),
              AllOf(HasSubstr("'x'"), HasSubstr("(3, 32)"), HasSubstr("(4, 32)")));
  batch.erase("x");
  EXPECT_THAT(sentence_of([&] { session->stage(batch); }), HasSubstr("'x'"));
  EXPECT_THAT(sentence_of([&] { session->step(at_step(1)); }), HasSubstr("staged"));
}

TEST(Step, ALabelOutOfRangeIsTensorFlowsSentence) {
  const Program program = toy_program("mlp20");
  auto session = loaded(program);
  TensorMap batch = random_batch(program);
  batch["label"].as<int32_t>()[0] = 10;
  session->stage(batch);
  EXPECT_THAT(sentence_of([&] { session->step(at_step(1)); }), AllOf(HasSubstr("tensorflow"), HasSubstr("label")));
}

TEST(Step, NamesAnUnknownPhase) {
  auto session = ready(toy_program("penalty"));
  EXPECT_THAT(sentence_of([&] { session->step(at_step(1, {}, "critics")); }), HasSubstr("critic"));
}

TEST(NonFinite, IsSeenAndNamed) {
  auto session = ready(toy_program("mlp20"));
  session->step(at_step(1));
  EXPECT_EQ(session->first_non_finite(), "");
  TensorMap weights = session->read({"param/layers.3.bias"});
  weights.begin()->second.as<float>()[5] = std::numeric_limits<float>::infinity();
  session->write(weights);
  EXPECT_TRUE(std::isnan(session->step(at_step(2, 0.0)).loss));
  EXPECT_THAT(session->first_non_finite(), HasSubstr("layers"));
}

TEST(Gemm, HasARateWhereThereIsAKernel) {
  auto session = loaded(toy_program("mlp20"));
  EXPECT_GT(session->gemm_rate("fp32", 0.01).value(), 1e8);
  EXPECT_FALSE(session->gemm_rate("int4", 0.01).has_value());
}

// Pads, strides, groups and dilation by a loop; the kernels' forms differ by each of them.
TEST(Conv2dOp, EqualsALoop) {
  using Ops = std::vector<Conv2d>;
  for (const Conv2d& op : Ops{{.out = 4, .kernel = 3, .pads = {1, 1, 1, 1}},
                              {.out = 4, .kernel = 3, .stride = 2, .pads = {1, 1, 1, 1}},
                              {.out = 4, .kernel = 3, .stride = 2, .pads = {0, 1, 1, 1}},
                              {.out = 4, .kernel = {2, 3}, .stride = {1, 2}, .pads = {1, 0, 2, 1}, .groups = 2},
                              {.out = 8, .kernel = 3, .pads = {1, 1, 1, 1}, .groups = 4},
                              {.out = 4, .kernel = {3, 2}, .stride = {1, 2}, .dilation = {2, 3}, .groups = 4},
                              {.out = 3, .kernel = 2, .pads = {0, 2, 1, 0}, .dilation = {2, 1}}}) {
    Program program = {.model = "op", .config = "conv"};
    const Shape x = {2, 4, 7, 6}, w = {op.out, 4 / op.groups, op.kernel.h, op.kernel.w};
    program.parameters = {{"w", w, DType::f64, {}}};
    Phase phase = {.name = "train", .inputs = {{"x", {2, 4, 7, 6}, DType::f64, ""}}, .nodes = {{"y", op, {"x", "w"}}}};
    phase.outputs = {{"y", "y"}};
    program.phases = {phase}, program.step = {{.phase = "train"}};
    auto session = loaded(program);
    const HostTensor images = random_tensor("x", x, DType::f64), weights = random_tensor("w", w, DType::f64);
    session->write({{"param/w", weights}});
    session->stage({{"x", images}});
    session->step(at_step(1));
    const HostTensor y = session->read({"output/"}).at("output/y");
    const Vector xs = as_doubles(images), ws = as_doubles(weights), ys = as_doubles(y);
    const Shape& s = y.shape();
    double worst = 0;
    for (int64_t i = 0; i < s.elements(); ++i) {
      const int64_t n = i / (s[1] * s[2] * s[3]), o = i / (s[2] * s[3]) % s[1], h = i / s[3] % s[2], v = i % s[3];
      double sum = 0;
      for (int64_t c = 0; c < w[1]; ++c)
        for (int64_t a = 0; a < w[2]; ++a)
          for (int64_t b = 0; b < w[3]; ++b) {
            const int64_t row = h * op.stride.h - op.pads.top + a * op.dilation.h;
            const int64_t column = v * op.stride.w - op.pads.left + b * op.dilation.w;
            const int64_t channel = o / (op.out / op.groups) * w[1] + c;
            if (row < 0 || row >= x[2] || column < 0 || column >= x[3]) continue;
            sum += xs[static_cast<size_t>(((n * x[1] + channel) * x[2] + row) * x[3] + column)] *
                   ws[static_cast<size_t>(((o * w[1] + c) * w[2] + a) * w[3] + b)];
          }
      worst = std::max(worst, std::abs(sum - ys[static_cast<size_t>(i)]));
    }
    EXPECT_LT(worst, 1e-12) << attributes_to_json(op).dump();
  }
}

}  // namespace
}  // namespace tbd::tensorflow
