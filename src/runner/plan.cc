#include "runner/plan.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <utility>

#include "graph/passes.h"

namespace tbd {
namespace {

constexpr int64_t kLargestBatch = 1 << 20;

void require_known(std::string_view what, const std::string& value, const std::vector<std::string>& known) {
  if (std::ranges::find(known, value) == known.end()) fail(ErrorKind::usage, unknown_name(what, value, known));
}

void require_device(const std::string& device) {
  const bool gpu = device.starts_with("cuda:") && parse_int(device.substr(5)).value_or(-1) >= 0;
  if (device != "cpu" && !gpu) fail(ErrorKind::usage, "device '", device, "' is neither 'cpu' nor 'cuda:N'");
}

// Throws Error(usage) on a value that no cell can have.
void check(const Cell& cell) {
  (void)precision_from(cell.precision);
  (void)dropout_from(cell.dropout);
  require_device(cell.device);
  require_known("input mode", cell.input_mode, {"resident", "pipeline"});
  if (!cell.layout.empty()) require_known("layout", cell.layout, {"nchw", "nhwc"});
  if (!cell.mode.empty()) require_known("mode", cell.mode, {"eager", "eager-onednn", "graph", "xla"});
  if (cell.input_mode == "pipeline" && cell.data.empty())
    fail(ErrorKind::usage, "pipeline input reads a data set: name its folder with --data");
}

template <class T>
std::vector<T> or_default(const std::vector<T>& values, const T& otherwise) {
  return values.empty() ? std::vector<T>{otherwise} : values;
}

// Replaces each cell by one for each value.
template <class T>
void multiply(std::vector<Cell>& cells, T Cell::*field, const std::vector<T>& values) {
  std::vector<Cell> out;
  for (const Cell& cell : cells)
    for (const T& value : values) (out.emplace_back(cell).*field) = value;
  cells = std::move(out);
}

void check_counts(const Axes& axes) {
  for (const int64_t batch : axes.batches)
    if (batch < 1 || batch > kLargestBatch)
      fail(ErrorKind::usage, "batch must be between 1 and ", kLargestBatch, ", got ", batch);
  for (const int64_t threads : axes.threads)
    if (threads < 1 || threads > 4096) fail(ErrorKind::usage, "threads must be between 1 and 4096, got ", threads);
}

// Text that a shell reads as one word.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-/@:,=+", c); };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// The words of a command line as `quoted` wrote them.
std::vector<std::string> words(std::string_view line) {
  std::vector<std::string> out;
  bool in_quotes = false, in_word = false;
  std::string word;
  for (size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '\'') {
      in_quotes = !in_quotes, in_word = true;
    } else if (c == '\\' && !in_quotes && i + 1 < line.size()) {
      word += line[++i], in_word = true;
    } else if (c == ' ' && !in_quotes) {
      if (in_word) out.push_back(std::exchange(word, {}));
      in_word = false;
    } else {
      word += c, in_word = true;
    }
  }
  if (in_word) out.push_back(word);
  return out;
}

}  // namespace

std::vector<Cell> cells(const Axes& axes) {
  check_counts(axes);
  if (axes.models.empty()) fail(ErrorKind::usage, "a set of cells needs a model");
  const Cell fallback;
  std::vector<Cell> all(1);
  all[0].data = axes.data, all[0].seed = axes.seed;
  multiply(all, &Cell::model, axes.models);
  multiply(all, &Cell::config, or_default(axes.configs, fallback.config));
  multiply(all, &Cell::framework, or_default(axes.frameworks, fallback.framework));
  multiply(all, &Cell::device, or_default(axes.devices, fallback.device));
  multiply(all, &Cell::threads, or_default(axes.threads, fallback.threads));
  multiply(all, &Cell::layout, or_default(axes.layouts, fallback.layout));
  multiply(all, &Cell::mode, or_default(axes.modes, fallback.mode));
  multiply(all, &Cell::dropout, or_default(axes.dropouts, fallback.dropout));
  multiply(all, &Cell::precision, or_default(axes.precisions, fallback.precision));
  multiply(all, &Cell::batch, or_default(axes.batches, fallback.batch));
  multiply(all, &Cell::input_mode, or_default(axes.input_modes, fallback.input_mode));
  for (const Cell& cell : all) check(cell);
  return all;
}

std::vector<Cell> cells(const Plan& plan) {
  std::vector<Cell> all;
  for (const Axes& set : plan.sets)
    for (Cell& cell : cells(set))
      if (std::ranges::find(all, cell) == all.end()) all.push_back(std::move(cell));
  return all;
}

int64_t default_batch(const std::vector<int64_t>& sweep) {
  int64_t best = sweep.empty() ? 2 : sweep.front();
  for (const int64_t batch : sweep)
    if (batch <= 8) best = std::max(best, batch);
  return best;
}

Cell cell_like(const Workload& workload, const std::string& repro) {
  Cell cell{.model = workload.model,
            .config = workload.config,
            .framework = workload.framework,
            .batch = workload.batch,
            .precision = workload.precision,
            .device = workload.device,
            .threads = workload.threads,
            .layout = workload.layout,
            .input_mode = workload.input_mode,
            .dropout = workload.dropout,
            .seed = workload.seed};
  const std::vector<std::string> line = words(repro);
  for (size_t i = 0; i + 1 < line.size(); ++i) {
    if (line[i] == "run" && i > 0) cell.model = line[i + 1];  // may be the path of a program file
    if (line[i] == "--framework") cell.framework = line[i + 1];
    if (line[i] == "--mode") cell.mode = line[i + 1];
    if (line[i] == "--data") cell.data = line[i + 1];
  }
  return cell;
}

std::string repro_line(const Cell& cell, std::optional<Effort> effort) {
  std::string line = cat("tbd run ", quoted(cell.model));
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) line += cat(" --", name, " ", quoted(value));
  };
  option("config", cell.config);
  option("framework", cell.framework);
  if (cell.batch > 0) option("batch", cat(cell.batch));
  option("precision", cell.precision);
  option("device", cell.device);
  if (cell.threads > 0) option("threads", cat(cell.threads));
  option("layout", cell.layout);
  option("mode", cell.mode);
  option("input", cell.input_mode);
  option("dropout", cell.dropout);
  option("data", cell.data);
  if (cell.seed != 0) option("seed", cat(cell.seed));
  if (effort) option("effort", std::string(name(*effort)));
  return line;
}

std::string cell_name(const Cell& cell) {
  std::string name = std::filesystem::path(cell.model).stem().string();
  if (!cell.config.empty() && cell.config != "canonical") name += cat("-", cell.config);
  name += cat("-", cell.framework, "-", cell.precision, "-b", cell.batch, "-t", cell.threads, "-", cell.layout, "-",
              cell.input_mode);
  if (!cell.mode.empty()) name += cat("-", cell.mode);
  if (cell.device != "cpu") name += cat("-", cell.device);
  if (cell.dropout != "framework") name += cat("-dropout-", cell.dropout);
  if (cell.seed != 0) name += cat("-seed-", cell.seed);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("._-", c)) c = '_';
  return name;
}

std::vector<size_t> launch_order(size_t cells, int64_t launches) {
  std::vector<size_t> order;
  for (int64_t launch = 0; launch < launches; ++launch)
    for (size_t i = 0; i < cells; ++i) order.push_back(launch % 2 == 0 ? i : cells - 1 - i);
  return order;
}

}  // namespace tbd
