#include "runner/plan.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/text.h"
#include "runner/amounts.h"

namespace tbd {
namespace {

// Text that a shell reads as one word.
std::string shell_word(const std::string& word) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-/@:,=+", c); };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// The words of a command line as `shell_word` wrote them.
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
            .seed = workload.seed,
            .memory_budget = workload.memory_budget_bytes.value_or(0)};
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
  std::string line = cat("tbd run ", shell_word(cell.model));
  const auto option = [&](const char* name, const std::string& value) {
    if (!value.empty()) line += cat(" --", name, " ", shell_word(value));
  };
  option("config", cell.config);
  option("framework", cell.framework);
  if (cell.batch != 0) option("batch", batch_text(cell.batch));
  option("precision", cell.precision);
  option("device", cell.device);
  if (cell.threads > 0) option("threads", cat(cell.threads));
  option("layout", cell.layout);
  option("mode", cell.mode);
  option("input", cell.input_mode);
  option("dropout", cell.dropout);
  option("data", cell.data);
  if (cell.seed != 0) option("seed", cat(cell.seed));
  if (cell.memory_budget > 0) option("memory", bytes_text(cell.memory_budget));
  if (effort) option("effort", std::string(name(*effort)));
  return line;
}

std::string cell_name(const Cell& cell) {
  std::string name = std::filesystem::path(cell.model).stem().string();
  if (!cell.config.empty() && cell.config != "canonical") name += cat("-", cell.config);
  name += cat("-", cell.framework, "-", cell.precision, "-b", batch_text(cell.batch), "-t", cell.threads, "-",
              cell.layout, "-", cell.input_mode);
  if (!cell.mode.empty()) name += cat("-", cell.mode);
  if (cell.device != "cpu") name += cat("-", cell.device);
  if (cell.dropout != "framework") name += cat("-dropout-", cell.dropout);
  if (cell.seed != 0) name += cat("-seed-", cell.seed);
  if (cell.memory_budget > 0) name += cat("-within-", bytes_text(cell.memory_budget));
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
