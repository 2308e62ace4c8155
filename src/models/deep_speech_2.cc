// Deep Speech 2. Amodei et al. 2016, arXiv:1512.02595; form and names of SeanNaren/deepspeech.pytorch (b88a631): two
// convolutions over frequency and time, bidirectional recurrent layers whose directions are added, CTC.
#include "models/deep_speech_2.h"

#include <algorithm>
#include <cmath>

#include "graph/builder.h"
#include "models/model.h"

namespace tbd {
namespace {

constexpr int64_t kBins = 161;       // 20 ms windows at 16 kHz
constexpr int64_t kClasses = 29;     // blank, apostrophe, A to Z, space
constexpr int64_t kTrain = 281'241;  // utterances of LibriSpeech's training sets: an epoch

enum class Cell { lstm, gru };

struct Sizes {
  Cell cell = Cell::lstm;
  int64_t layers = 5, hidden = 1024;
  bool add = true;  // the directions; else one after the other
  int64_t channels = 32, frames = 200, labels = 300;
  bool adamw = false;
};

class Network {
 public:
  Network(Builder& g, const Sizes& sizes) : g_(g), sizes_(sizes) {}

  // spect (N, 1, 161, T), frames (N) -> logits (N, T', 29), T' = floor((T - 1) / 2) + 1, and the length of each.
  Tensor logits(const Tensor& spect, const Tensor& frames) {
    lengths_ = g_.strided_length(frames, 2);
    Tensor x = in_rows(convolved(spect));
    for (int64_t i = 0; i < sizes_.layers; ++i) x = layer(cat("rnns.", i), x, i > 0);
    const auto scope = g_.scope("fc.0.module");
    return g_.linear("1", normed("0", x), {.out = kClasses, .bias = false});
  }
  const Tensor& lengths() const { return *lengths_; }

 private:
  Tensor masked(const Tensor& x) { return g_.sequence_mask(x, *lengths_, 3); }

  // What lies beyond a sample's length is 0 after each layer.
  Tensor stage(int64_t index, const Tensor& x, Conv2d attributes) {
    attributes.out = sizes_.channels;
    attributes.bias = true;
    Tensor y = masked(g_.conv2d(cat(index), x, attributes));
    y = masked(g_.batch_norm(cat(index + 1), y));
    return masked(g_.clamp(y, {.low = 0, .high = 20}));
  }
  Tensor convolved(const Tensor& spect) {
    const auto scope = g_.scope("conv.seq_module");
    const Tensor x = stage(0, spect, {.kernel = {41, 11}, .stride = 2, .pads = {20, 20, 5, 5}});
    return stage(3, x, {.kernel = {21, 11}, .stride = {2, 1}, .pads = {10, 10, 5, 5}});
  }
  // (N, C, F, T') -> (N, T', C F)
  Tensor in_rows(const Tensor& x) {
    return g_.reshape(g_.transpose(x, {0, 3, 1, 2}), {0, 0, x.shape()[1] * x.shape()[2]});
  }

  // Statistics over all rows, padding included, as in the reference.
  Tensor normed(std::string_view name, const Tensor& x) {
    const int64_t steps = x.shape()[1], width = x.shape()[2];
    return g_.reshape(g_.batch_norm(name, g_.reshape(x, {-1, width})), {-1, steps, width});
  }
  Tensor direction(const Tensor& x, bool reverse) {
    if (sizes_.cell == Cell::lstm)
      return g_.lstm("rnn", x, {.hidden = sizes_.hidden, .reverse = reverse}, "_l0", lengths_).y;
    return g_.gru("rnn", x, {.hidden = sizes_.hidden, .reverse = reverse}, "_l0", lengths_).y;
  }
  Tensor layer(std::string_view name, Tensor x, bool norm) {
    const auto scope = g_.scope(name);
    if (norm) x = normed("batch_norm.module", x);
    const Tensor forward = direction(x, false), backward = direction(x, true);
    return sizes_.add ? g_.add(forward, backward) : g_.concat({forward, backward}, 2);
  }

  Builder& g_;
  const Sizes& sizes_;
  std::optional<Tensor> lengths_;
};

// The rate falls once an epoch.
Update update(const Sizes& sizes) {
  const auto falling = [](double base, double factor) {
    return Schedule{.kind = Schedule::Kind::exp_decay,
                    .base = base,
                    .unit = Schedule::Unit::sample,
                    .epoch_samples = kTrain,
                    .factor = factor};
  };
  Update update = {.optimizer = {.kind = Optimizer::Kind::sgd, .momentum = 0.9, .nesterov = true},
                   .groups = {{.weight_decay = 1e-5}},
                   .schedule = falling(3e-4, 1 / 1.1),
                   .clip_norm = 400.0};
  if (sizes.adamw) {
    update.optimizer = {.kind = Optimizer::Kind::adamw};
    update.schedule = falling(1.5e-4, 0.99);
  }
  return update;
}

// U(+-1 / sqrt(fan in)) for convolutions and the last layer: torch's own.
void initialise(Program& program) {
  for (Parameter& p : program.parameters) {
    const bool convolution = p.name == "conv.seq_module.0.weight" || p.name == "conv.seq_module.3.weight";
    if (!convolution && p.name != "fc.0.module.1.weight") continue;
    const int64_t fan_in = p.shape.elements() / p.shape[0];
    p.init = Init::uniform(1 / std::sqrt(static_cast<double>(fan_in)));
    if (!convolution) continue;
    const std::string bias = p.name.substr(0, p.name.size() - 6) + "bias";
    for (Parameter& other : program.parameters)
      if (other.name == bias) other.init = p.init;
  }
}

Program program(std::string config, const Sizes& sizes) {
  Program program = {.model = "deep_speech_2", .config = std::move(config), .unit = "seconds of audio"};
  Builder g(program, "train");
  const Dim batch = Builder::batch();
  const Tensor spect = g.input("spect", {batch, 1, kBins, sizes.frames});
  const Tensor frames = g.input("frames", {batch}, DType::i32);
  const Tensor labels = g.input("labels", {batch, sizes.labels}, DType::i32);
  const Tensor label_len = g.input("label_len", {batch}, DType::i32);
  Network network(g, sizes);
  const Tensor z = network.logits(spect, frames);
  g.output("logits", z);
  g.loss("ctc", g.ctc_loss(z, network.lengths(), labels, label_len));
  initialise(program);
  g.update(update(sizes));
  program.step = {{.phase = "train"}};
  return program;
}

struct Variant {
  const char* name;
  const char* note;
  Expected expected;
  Sizes sizes;
};

const std::vector<Variant>& variants() {
  static const Sizes tiny = {.layers = 2, .hidden = 24, .channels = 4, .frames = 64, .labels = 8};
  static const Sizes small = {Cell::gru, /*layers=*/1, /*hidden=*/96, /*add=*/true, 4, 200, /*labels=*/40, true};
  static const Expected canonical = {86'618'400, 86'618'400, 10'368, 9'714'236'800, 58'051'622'400};
  static const std::vector<Variant> all = {
      {"canonical", "2 convolutions, 5 bidirectional LSTM layers of 1024", canonical, {}},
      {"adamw", "canonical with AdamW", canonical, {.adamw = true}},
      {"gru800",
       "5 bidirectional GRU layers of 800, directions side by side",
       {56'579'168, 56'579'168, 16'128, 6'713'129'600, 40'044'979'200},
       {.cell = Cell::gru, .hidden = 800, .add = false}},
      {"gru2560",
       "3 bidirectional GRU layers of 2560",
       {217'193'248, 217'193'248, 15'488, 22'770'185'600, 136'387'315'200},
       {.cell = Cell::gru, .layers = 3, .hidden = 2560}},
      {"lstm768",
       "5 bidirectional LSTM layers of 768",
       {50'870'816, 50'870'816, 7'808, 6'141'782'400, 36'616'896'000},
       {.hidden = 768}},
      {"small",
       "1 bidirectional GRU layer of 96, AdamW: for a lesson",
       {159'412, 159'412, 208, 45'020'400, 240'897'600},
       small},
      {"tiny", "2 layers of 24, 64 frames: for tests", {52'396, 52'396, 112, 10'997'376, 56'632'320}, tiny},
      {"gru_tiny",
       "tiny with GRU layers side by side: for tests",
       {45'124, 45'124, 208, 10'767'744, 55'254'528},
       {Cell::gru, tiny.layers, tiny.hidden, false, tiny.channels, tiny.frames, tiny.labels}},
  };
  return all;
}

// Convolutions, recurrent layers (both directions are one) and the last layer: the depth of the paper's section 3.2.
Config config(const Variant& v) {
  const char* tiny = v.sizes.cell == Cell::gru ? "gru_tiny" : "tiny";
  return {.name = v.name,
          .note = v.note,
          .expected = v.expected,
          .layers = 2 + v.sizes.layers + 1,
          .program = [&v] { return program(v.name, v.sizes); },
          .tiny = tiny,
          .judge = "spelling"};
}

}  // namespace

Program deep_speech_2_of(std::string_view config, int64_t frames) {
  const auto found = std::ranges::find(variants(), config, &Variant::name);
  require(found != variants().end(), "deep_speech_2 has no config '", config, "'");
  Sizes sizes = found->sizes;
  sizes.frames = frames;
  return program(found->name, sizes);
}

Model deep_speech_2() {
  Model model = {
      .name = "deep_speech_2",
      .title = "Deep Speech 2",
      .domain = "speech recognition",
      .dominant_layer = "lstm",
      .dataset = "LibriSpeech",
      .unit = "seconds of audio",
      .sweep = {1, 2, 4, 8, 16, 24, 32, 64, 128},
  };
  for (const Variant& variant : variants()) model.configs.push_back(config(variant));
  return model;
}

}  // namespace tbd
