#include "cli/cell_options.h"

#include "base/error.h"
#include "runner/amounts.h"

namespace tbd::cli {
namespace {

constexpr int64_t kLargestBatch = 1 << 24;

std::vector<int64_t> positives(const std::vector<std::string>& texts, std::string_view option) {
  std::vector<int64_t> out;
  for (const std::string& text : texts) out.push_back(positive(text, option));
  return out;
}

std::vector<int64_t> batch_option(const std::vector<std::string>& texts) {
  std::vector<int64_t> out;
  for (const std::string& text : texts) out.push_back(text == "largest" ? kLargestThatFits : positive(text, "--batch"));
  return out;
}

std::optional<int64_t> sweep_option(const std::vector<std::string>& batches) {
  try {
    return sweep_from(batches);
  } catch (const Error& e) {
    fail(ErrorKind::usage, "--batch: ", e.what());
  }
}

int64_t memory_option(const std::string& text) {
  try {
    return bytes_from(text, "--memory");
  } catch (const Error& e) {
    fail(ErrorKind::usage, e.what());
  }
}

}  // namespace

int64_t positive(const std::string& text, std::string_view option) {
  const std::optional<int64_t> value = parse_int(text);
  if (!value || *value <= 0) fail(ErrorKind::usage, option, " needs a positive whole number, got '", text, "'");
  if (*value > kLargestBatch)
    fail(ErrorKind::usage, option, " ", text, " is absurd; the largest accepted is ", kLargestBatch);
  return *value;
}

uint64_t seed_from(const std::string& text) {
  const std::optional<int64_t> value = parse_int(text);
  if (!value || *value < 0) fail(ErrorKind::usage, "--seed needs a whole number from 0, got '", text, "'");
  return static_cast<uint64_t>(*value);
}

std::string mode_of_matmul(const std::vector<std::string>& modes, const std::string& matmul) {
  if (matmul != "onednn") fail(ErrorKind::usage, unknown_name("--matmul", matmul, std::vector<std::string>{"onednn"}));
  if (!modes.empty()) fail(ErrorKind::usage, "--matmul is a mode of its own: give it or --mode");
  return "eager-onednn";
}

void CellOptions::declare(Options& options) {
  options.positional("MODEL", models, "Model names, or paths of program files");
  const auto list = [&](const char* name, std::vector<std::string>& values, const char* help) {
    options.option(name, values, help, {.separator = ',', .one_argument = true});
  };
  list("--config", configs, "Configurations of the model [its first]");
  list("--framework", frameworks, "pytorch, tensorflow, mxnet; NAME@VERSION, NAME@DIR [pytorch]");
  list("--batch", batches,
       "Samples in one forward pass; sweep, sweep<=16: the model's own list, up to a batch; largest: what fits into "
       "--memory, found by running [the model's default]");
  list("--precision", precisions, "fp32, tf32, bf16, fp16 [fp32]");
  list("--device", devices, "cpu, cuda:N [cpu]");
  list("--threads", threads, "Threads inside an op [one per usable core]");
  list("--layout", layouts, "nchw, nhwc: physical layout of images [the framework's usual one]");
  list("--mode", modes, "eager, eager-onednn, graph, xla: how the framework runs the network [its usual one]");
  options.option("--matmul", matmul,
                 "onednn: PyTorch's fp32 linear layers by oneDNN, short for --mode eager-onednn [the framework's own]");
  list("--input", inputs, "resident: batches are in memory; pipeline: read and decoded while measuring [resident]");
  list("--dropout", dropouts, "framework, mask, off [framework]");
  options.option("--data", data, "Folder of the data set [synthetic data]");
  options.option("--memory", memory, "What the worker's data may take, enforced: 4GiB, 500MB [the machine's memory]");
  options.option("--seed", seed, "Seed of weights, order and augmentation", {.show_default = true});
}

bool CellOptions::any() const {
  for (const auto* list : {&models, &configs, &frameworks, &precisions, &devices, &layouts, &modes, &inputs, &dropouts,
                           &batches, &threads})
    if (!list->empty()) return true;
  return !data.empty() || !matmul.empty() || !memory.empty();
}

Axes CellOptions::axes() const {
  const std::optional<int64_t> sweep = sweep_option(batches);
  return {.models = models,
          .configs = configs,
          .frameworks = frameworks,
          .batches = sweep ? std::vector<int64_t>{} : batch_option(batches),
          .precisions = precisions,
          .devices = devices,
          .threads = positives(threads, "--threads"),
          .layouts = layouts,
          .modes = matmul.empty() ? modes : std::vector<std::string>{mode_of_matmul(modes, matmul)},
          .input_modes = inputs,
          .dropouts = dropouts,
          .data = data,
          .seed = seed_from(seed),
          .sweep_to = sweep,
          .memory_budget = memory.empty() ? 0 : memory_option(memory),
          .when = {}};
}

}  // namespace tbd::cli
