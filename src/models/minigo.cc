// MiniGo's network: AlphaGo Zero's residual tower with policy and value heads. Silver et al. 2017, Nature 550, Methods,
// "Neural network architecture"; 2018, arXiv:1712.01815. Sizes and recipe of tensorflow/minigo (dual_net.py, 6d89c20).
#include <cmath>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

struct Sizes {
  int64_t board = 19, width = 256, blocks = 19, hidden = 256;
  int64_t points() const { return board * board; }
  int64_t moves() const { return points() + 1; }  // the last one passes
};

constexpr int64_t kPlanes = 17;  // own and other stones of eight positions, and whether Black moves

struct Heads {
  Tensor policy, value;  // (N, moves) logits; (N, 1), Black's view
};

class Tower {
 public:
  Tower(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  // (N, 17, board, board)
  Heads heads(const Tensor& planes) {
    Tensor x = g_.relu(convolved("stem.conv", "stem.bn", planes));
    for (int64_t i = 0; i < sizes_.blocks; ++i) x = block(cat("trunk.", i), x);
    return {policy(x), value(x)};
  }

 private:
  Tensor normed(std::string_view name, const Tensor& x, bool affine = true) {
    return g_.batch_norm(name, x, {.momentum = 0.05, .affine = affine});
  }
  Tensor convolved(std::string_view conv, std::string_view norm, const Tensor& x) {
    return normed(norm, g_.conv2d(conv, x, {.out = sizes_.width, .kernel = 3, .pads = {1, 1, 1, 1}}));
  }
  Tensor block(std::string_view name, const Tensor& x) {
    const auto scope = g_.scope(name);
    const Tensor y = convolved("conv2", "bn2", g_.relu(convolved("conv1", "bn1", x)));
    return g_.relu(g_.add(y, x));
  }

  // 1 x 1 convolution, a norm without scale and offset, and the points in rows with their channels together, as the
  // reference's channels-last layout flattens them.
  Tensor flat_head(const Tensor& x, int64_t channels) {
    const Tensor y = g_.relu(normed("bn", g_.conv2d("conv", x, {.out = channels, .kernel = 1}), false));
    return g_.flatten(channels == 1 ? y : g_.transpose(y, {0, 2, 3, 1}));
  }
  Tensor policy(const Tensor& x) {
    const auto scope = g_.scope("policy");
    return g_.linear("fc", flat_head(x, 2), {.out = sizes_.moves()});
  }
  Tensor value(const Tensor& x) {
    const auto scope = g_.scope("value");
    const Tensor hidden = g_.relu(g_.linear("fc1", flat_head(x, 1), {.out = sizes_.hidden}));
    return g_.tanh(g_.linear("fc2", hidden, {.out = 1}));
  }

  Builder& g_;
  const Sizes& sizes_;
};

bool is_bias(const Parameter& p) { return p.name.ends_with(".bias"); }  // the norms' shifts too

// Glorot's uniform for weights; biases 0, scales 1.
void initialise(Program& program) {
  for (Parameter& p : program.parameters) {
    if (is_bias(p)) p.init = {};
    if (p.shape.rank() == 1) continue;
    const int64_t taps = p.shape.elements() / (p.shape[0] * p.shape[1]);
    p.init = Init::uniform(std::sqrt(6.0 / static_cast<double>(taps * (p.shape[0] + p.shape[1]))));
  }
}

// The reference's third loss, 1e-4 / 2 |w|^2 over weights and scales, is decay here: the same gradient.
Update update(const Program& program) {
  ParameterGroup decayed = {.weight_decay = 1e-4}, rest;
  for (const Parameter& p : program.parameters) (is_bias(p) ? rest : decayed).parameters.push_back(p.name);
  return {.optimizer = {.kind = Optimizer::Kind::sgd, .momentum = 0.9},
          .groups = {decayed, rest},
          .schedule = {.kind = Schedule::Kind::step, .base = 0.01, .milestones = {400'000, 600'000}, .factor = 0.1}};
}

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "minigo", .config = std::move(config), .unit = "positions"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), kPlanes, sizes.board, sizes.board});
  const Tensor pi = g.input("pi", {Builder::batch(), sizes.moves()});
  const Tensor z = g.input("z", {Builder::batch()});
  const Heads heads = Tower(g, sizes).heads(x);
  const Tensor value = g.reshape(heads.value, {-1});
  g.output("policy_logits", heads.policy);
  g.output("value", value);
  g.loss("policy", g.soft_cross_entropy(heads.policy, pi));
  g.loss("value", g.squared_error(value, z));
  initialise(program);
  g.update(update(program));
  program.step = {{.phase = "train"}};
  return program;
}

// As the paper counts (Nature 2017, Methods): 39 layers of the tower of 20 blocks, the stem among them, 2 of the policy
// head and 3 of the value head.
Config config(std::string name, std::string note, Expected expected, Sizes sizes = {}) {
  return {.name = name,
          .note = std::move(note),
          .expected = expected,
          .layers = 2 * sizes.blocks + 6,
          .program = [name, sizes] { return program(name, sizes); },
          .judge = "moves"};
}

constexpr Expected kCanonical = {22'827'871, 22'827'871, 19'974, 8'105'976'564, 48'607'580'088};
constexpr Expected k9 = {190'775, 190'775, 1'222, 13'859'812, 82'365'720};
constexpr Expected k9Mlperf = {694'647, 694'647, 2'438, 54'574'948, 325'863'384};
constexpr Expected kTiny = {5'391, 5'391, 86, 90'516, 481'896};

}  // namespace

Model minigo() {
  const Sizes nine = {.board = 9, .width = 32, .blocks = 9, .hidden = 64};
  Sizes mlperf = nine;
  mlperf.width = 64;
  const Sizes tiny = {.board = 5, .width = 8, .blocks = 2, .hidden = 16};
  return {
      .name = "minigo",
      .title = "MiniGo",
      .domain = "reinforcement learning",
      .dominant_layer = "convolution",
      .dataset = "games of Go",
      .unit = "positions",
      .mlperf = "minigo",
      .sweep = {32, 64, 128, 192, 256},
      .configs = {config("canonical", "19 x 19, 19 blocks of 256", kCanonical),
                  config("9", "9 x 9, 9 blocks of 32", k9, nine),
                  config("9_mlperf", "9 x 9, 9 blocks of 64", k9Mlperf, mlperf),
                  config("tiny", "5 x 5, 2 blocks of 8: for tests", kTiny, tiny)},
  };
}

}  // namespace tbd
