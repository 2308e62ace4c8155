#include "analysis/then/printed_values.h"

namespace tbd {
namespace {

constexpr std::string_view kPaper = "arXiv:1803.06905", kSite = "project site (www.cs.toronto.edu/~pekhimenko/tbd)",
                           kSuite = "repository tbd-ai/tbd-suite", kSheet = "reviews that print the card's data sheet";
constexpr std::string_view kP4000 = "Quadro P4000", kTitan = "Titan Xp", kRtx = "RTX 2080 Ti";
constexpr std::string_view kTable = "table of models", kCount = "layers are counted by each source in its own way";
constexpr std::string_view kLstm = "LSTM network of another size, other sentences";
constexpr std::string_view kCardOfPaper = "the paper measured on this card; a data-sheet figure, here a measured one";

constexpr PrintedValue layers(std::string_view model, double value, std::string_view device, std::string_view differs) {
  return {.what = "layers",
          .model = model,
          .device = device,
          .value = value,
          .unit = Unit::count,
          .source = kSite,
          .where = kTable,
          .confidence = Confidence::read,
          .counterpart = Counterpart::layers,
          .differs = differs};
}

constexpr PrintedValue card(std::string_view what, std::string_view device, double value, Unit unit,
                            Counterpart counterpart) {
  return {.what = what,
          .device = device,
          .value = value,
          .unit = unit,
          .unit_text = unit == Unit::bytes && counterpart == Counterpart::bandwidth ? "/s" : "",
          .source = kSheet,
          .where = "specifications",
          .confidence = Confidence::secondary,
          .counterpart = counterpart,
          .differs = kCardOfPaper};
}

constexpr PrintedValue in_abstract(std::string_view what, double value, Counterpart counterpart,
                                   std::string_view differs) {
  return {.what = what,
          .value = value,
          .unit = Unit::count,
          .source = kPaper,
          .where = "abstract",
          .confidence = Confidence::read,
          .counterpart = counterpart,
          .differs = differs};
}

constexpr PrintedValue feature_maps(std::string_view model, std::string_view framework, double value,
                                    std::string_view differs) {
  return {.what = "feature maps, share of memory",
          .model = model,
          .framework = framework,
          .device = kP4000,
          .value = value,
          .unit = Unit::fraction,
          .source = kPaper,
          .where = "text of observation 11",
          .counterpart = Counterpart::feature_map_share,
          .differs = differs};
}

constexpr PrintedValue longest(std::string_view framework, double value, std::string_view where) {
  return {.what = "longest kernel of below-average utilization, share of time",
          .model = "resnet50",
          .framework = framework,
          .batch = 32,
          .device = kP4000,
          .value = value,
          .unit = Unit::fraction,
          .source = kPaper,
          .where = where,
          .counterpart = Counterpart::longest_below,
          .differs = "GPU kernels there; ops of a framework where the processor is the device"};
}

constexpr PrintedValue printed_throughput(std::string_view framework, int64_t batch, double value) {
  return {.what = "throughput",
          .model = "seq2seq",
          .framework = framework,
          .batch = batch,
          .device = kP4000,
          .value = value,
          .unit = Unit::per_second,
          .unit_text = "samples/s",
          .source = kPaper,
          .where = "text of observation 3",
          .counterpart = Counterpart::throughput,
          .differs = kLstm};
}

constexpr PrintedValue printed_gain(std::string_view what, std::string_view model, std::string_view framework,
                                    int64_t batch, double value, std::string_view differs) {
  return {.what = what,
          .model = model,
          .framework = framework,
          .batch = batch,
          .device = kP4000,
          .value = value,
          .unit = Unit::fraction,
          .source = kPaper,
          .where = "text of observation 2",
          .counterpart = Counterpart::gain_of_doubling,
          .differs = differs};
}

constexpr PrintedValue printed_below(PrintedValue value) {
  value.relation = Relation::below;
  return value;
}

constexpr PrintedValue kValues[] = {
    in_abstract("networks", 8, Counterpart::model_count, "the paper's whole suite; here those of these records"),
    in_abstract("application domains", 6, Counterpart::domain_count, "as above"),
    in_abstract("frameworks", 3, Counterpart::framework_count, "TensorFlow, MXNet and CNTK there"),
    layers("resnet50", 50, kP4000, "v1 there, v1.5 here: another stride in four blocks"),
    layers("inception_v3", 42, kP4000, kCount),
    layers("seq2seq", 5, kP4000, kCount),
    layers("transformer", 12, kP4000, kCount),
    layers("deep_speech_2", 9, kP4000, kCount),
    layers("wgan_gp", 28, kP4000, "printed as 14+14: generator and critic"),
    layers("bert", 24, kRtx, "a later state of the site"),
    card("memory", kP4000, 8.0 * (1 << 30), Unit::bytes, Counterpart::memory),
    card("memory bandwidth", kP4000, 243e9, Unit::bytes, Counterpart::bandwidth),
    card("FP32 peak", kP4000, 5.304e12, Unit::flop_rate, Counterpart::peak_fp32),
    card("memory bandwidth", kTitan, 547.7e9, Unit::bytes, Counterpart::bandwidth),
    card("FP32 peak", kTitan, 12e12, Unit::flop_rate, Counterpart::peak_fp32),
    {.what = "best word error rate, test-clean",
     .model = "deep_speech_2",
     .config = "gru2560",
     .framework = "pytorch",
     .value = 0.212,
     .unit = Unit::fraction,
     .source = kSuite,
     .where = "SpeechRecognition-DeepSpeech2/pytorch/README.md, section 5",
     .confidence = Confidence::read,
     .differs = "20 epochs of LibriSpeech there; no such training here"},
    printed_gain("throughput gained from batch 64 to 128", "seq2seq", "tensorflow", 64, 0.25, kLstm),
    printed_below(printed_gain("throughput gained from batch 16 to 32", "inception_v3", "", 16, 0.10,
                               "said of all three frameworks")),
    printed_throughput("tensorflow", 128, 365),
    printed_throughput("mxnet", 64, 229),
    longest("tensorflow", 0.0836, "table 5"),
    longest("mxnet", 0.0943, "table 6"),
    feature_maps("deep_speech_2", "mxnet", 0.62, "plain recurrent cells there, LSTM or GRU here"),
    feature_maps("resnet50", "", 0.89, "v1 there, v1.5 here; tracked bytes here, the device's memory there"),
    feature_maps("seq2seq", "mxnet", 0.89, kLstm),
};

}  // namespace

std::string_view name(Confidence confidence) {
  switch (confidence) {
    case Confidence::read:
      return "read";
    case Confidence::secondary:
      return "secondary";
    case Confidence::unconfirmed:
      return "unconfirmed";
  }
  return "";
}

std::string_view meaning(Confidence confidence) {
  switch (confidence) {
    case Confidence::read:
      return "read in a copy of the source itself";
    case Confidence::secondary:
      return "read in another source than the one that printed it first";
    case Confidence::unconfirmed:
      return "written down from memory of the paper's text and not checked against the print";
  }
  return "";
}

std::span<const PrintedValue> printed_values() { return kValues; }

}  // namespace tbd
