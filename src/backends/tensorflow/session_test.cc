#include <algorithm>

#include "backends/tensorflow/test_support.h"
#include "base/held_ports.h"
#include "base/json.h"

namespace tbd::tensorflow {
namespace {

using testing::AllOf, testing::HasSubstr;

TEST(TensorFlowXla, TrainsTheSameNetworkAsTheGraph) {
  const Program program = with_precision(toy_program("conv_forms"), Precision::kFp32);
  auto graph = ready(program), xla = ready(program, {.mode = Mode::kXla});
  for (int64_t step = 1; step <= 2; ++step)
    EXPECT_NEAR(xla->step(at_step(step)).loss, graph->step(at_step(step)).loss, 1e-4) << step;
}

TEST(TensorFlowIdentity, NamesItsModes) {
  EXPECT_THAT(TensorFlowSession().identity().modes, testing::ElementsAre(Mode::kGraph, Mode::kXla));
}

TEST(TensorFlowCheck, RunsEveryToyButInHalfPrecision) {
  const TensorFlowSession session;
  for (const auto& [name, program] : toy_programs()) EXPECT_TRUE(runs(program)) << name;
  const auto fp16 = session.check(with_precision(toy_program("mlp20"), Precision::kFp16));
  EXPECT_TRUE(std::ranges::any_of(fp16, [](const auto& n) { return n.level == NodeSupport::Level::unsupported; }));
}

TEST(TensorFlowLoad, RefusesOtherLayoutsAndLossScales) {
  const auto load = [&](const LoadOptions& options, const Program& what) {
    return sentence_from([&] { TensorFlowSession().load(what, options); });
  };
  const Program program = toy_program("mlp20");
  EXPECT_THAT(load({.bindings = {{"N", 4}}, .layout = ImageLayout::kNchw}, program), HasSubstr("nhwc"));
  LoadOptions options = load_options();
  EXPECT_THAT(load(options, with_precision(program, Precision::kFp16)), HasSubstr("loss scale"));
  options.device = Device("cuda:0");
  EXPECT_THAT(load(options, program), HasSubstr("this tensorflow has no device 'cuda:0': "));
}

TEST(TensorFlowStep, ReportsTensorFlowsErrorForALabelOutOfRange) {
  const Program program = toy_program("mlp20");
  auto session = loaded(program);
  TensorMap batch = random_batch(program);
  batch["label"].as<int32_t>()[0] = 10;
  session->stage(batch);
  EXPECT_THAT(sentence_from([&] { session->step(at_step(1)); }), AllOf(HasSubstr("tensorflow"), HasSubstr("label")));
}

// Pads, strides, groups and dilation by a loop; the kernels' forms differ by each of them.
TEST(Conv2dOp, MatchesNaiveLoop) {
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
    program.phases = {phase};
    program.step = {{.phase = "train"}};
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

using Buckets = std::vector<std::vector<size_t>>;

Summand gradient_of(int64_t elements, DType dtype = DType::f32) { return {.shape = {elements}, .dtype = dtype}; }

TEST(ExchangeBuckets, FillFromTheLastGradientToTheFirst) {
  const std::vector<Summand> gradients = {gradient_of(3), gradient_of(2), gradient_of(5), gradient_of(1)};
  EXPECT_EQ(buckets_of(gradients, 1), (Buckets{{3}, {2}, {1}, {0}}));
  EXPECT_EQ(buckets_of(gradients, 20), (Buckets{{3, 2}, {1, 0}}));
  EXPECT_EQ(buckets_of(gradients, 1000), (Buckets{{3, 2, 1, 0}}));
}

TEST(ExchangeBuckets, HoldOneType) {
  const std::vector<Summand> gradients = {gradient_of(1), gradient_of(1, DType::f64), gradient_of(1)};
  EXPECT_EQ(buckets_of(gradients, 1000), (Buckets{{1}, {2, 0}}));
}

TEST(ExchangeBuckets, BeginWithASmallOne) {
  const std::vector<Summand> gradients = {gradient_of(1 << 20), gradient_of(1 << 19), gradient_of(1 << 18)};
  EXPECT_EQ(buckets_of(gradients, int64_t{25} << 20), (Buckets{{2}, {1, 0}}));
}

TEST(Exchange, SaysThatItsPortIsTaken) {
  const World world = {.place = {0, 2}, .ports = HeldPorts(2).numbers()};
  const auto first = start_exchange(world, {});
  EXPECT_THAT(sentence_from([&] { start_exchange(world, {}); }), HasSubstr(std::string(kPortIsTaken)));
}

TEST(Exchange, NeedsAPortForEachRank) {
  const World world = {.place = {0, 2}, .ports = {1}};
  EXPECT_THAT(sentence_from([&] { start_exchange(world, {}); }), HasSubstr("needs the ports of 2 ranks, got 1"));
}

}  // namespace
}  // namespace tbd::tensorflow

namespace tbd {
namespace {

class FaultyServer final : public tensorflow::Exchange {
 public:
  FaultyServer(std::unique_ptr<tensorflow::Exchange> exchange, ExchangeFault fault)
      : exchange_(std::move(exchange)), fault_(fault) {}
  tensorflow::SessionSettings on_server(tensorflow::SessionSettings settings) const override {
    return exchange_->on_server(std::move(settings));
  }
  void sum(std::span<double> values) override { exchange_->sum(values); }
  std::function<void()> of_bytes(DType dtype, int64_t bytes) override { return exchange_->of_bytes(dtype, bytes); }
  void sum_gradients(tensorflow::TfGraph& graph, std::span<tensorflow::Summand> gradients) override {
    if (fault_ == ExchangeFault::left_out) return;
    exchange_->sum_gradients(graph, fault_ == ExchangeFault::none ? gradients : gradients.first(1));
  }

 private:
  std::unique_ptr<tensorflow::Exchange> exchange_;
  ExchangeFault fault_;
};

}  // namespace

std::unique_ptr<Session> rank_with(ExchangeFault fault) {
  return std::make_unique<tensorflow::TensorFlowSession>(
      [=](const World& world, const tensorflow::SessionSettings& settings) {
        return std::make_unique<FaultyServer>(tensorflow::start_exchange(world, settings), fault);
      });
}

}  // namespace tbd
