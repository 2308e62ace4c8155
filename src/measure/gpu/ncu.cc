#include "measure/gpu/ncu.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/text.h"
#include "measure/clock.h"

namespace tbd {
namespace {

constexpr std::string_view kMetrics[] = {"smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
                                         "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
                                         "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"};
constexpr std::string_view kPermissionError = "ERR_NVGPUCTRPERM", kErrorMark = "==ERROR== ";

// Cells of a line, each within quotation marks; names of kernels hold commas.
std::vector<std::string> cells_of(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == ',' && !quoted)
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}

// "1,234,567".
double instructions_in(std::string cell, std::string_view metric) {
  std::erase(cell, ',');
  const std::optional<double> number = parse_double(cell);
  require(number && *number >= 0, "ncu gave '", cell, "' for ", metric);
  return *number;
}

void refuse_errors(std::string_view output) {
  for (const std::string& line : split(output, '\n')) {
    if (!line.starts_with(kErrorMark)) continue;
    if (line.find(kPermissionError) != std::string::npos)
      fail(ErrorKind::unsupported, "ncu may not read the GPU's counters (", kPermissionError,
           "): the driver keeps them to administrators unless NVreg_RestrictProfilingToAdminUsers is 0");
    std::string said = line.substr(kErrorMark.size());
    if (said.ends_with('.')) said.pop_back();
    fail(ErrorKind::unsupported, "ncu: ", said);
  }
}

// Columns of the metrics in the header.
std::vector<size_t> columns_in(const std::vector<std::string>& header) {
  std::vector<size_t> columns;
  for (const std::string_view metric : kMetrics) {
    const auto found = std::ranges::find(header, metric);
    require(found != header.end(), "ncu's output has no column ", metric);
    columns.push_back(static_cast<size_t>(found - header.begin()));
  }
  return columns;
}

std::string text_of(Subprocess& process, double seconds) {
  const int64_t end = now_ns() + static_cast<int64_t>(1e9 * seconds);
  std::string text, line;
  while (true) {
    const double left = 1e-9 * static_cast<double>(end - now_ns());
    const Subprocess::Read read = left > 0 ? process.read_line(line, left) : Subprocess::Read::timeout;
    if (read == Subprocess::Read::end) return text;
    if (read == Subprocess::Read::timeout) fail(ErrorKind::io, "ncu took more than ", format_seconds(seconds));
    text += line + "\n";
  }
}

}  // namespace

FlopCount Fp32Instructions::flops() const { return FlopCount(static_cast<int64_t>(fadd + fmul + 2 * ffma)); }

Fp32Instructions fp32_instructions_from(std::string_view output) {
  refuse_errors(output);
  Fp32Instructions sum;
  std::vector<size_t> columns;
  bool units_follow = false;
  for (const std::string& line : split(output, '\n')) {
    if (!line.starts_with('"')) continue;  // ncu's own, or the program's
    const std::vector<std::string> cells = cells_of(line);
    if (columns.empty()) {
      if (cells.front() != "ID") continue;
      columns = columns_in(cells);
      units_follow = true;
      continue;
    }
    if (std::exchange(units_follow, false) && cells.front().empty()) continue;
    require(cells.size() > *std::ranges::max_element(columns), "a line of ncu's output is cut: ", line.substr(0, 100));
    sum.fadd += instructions_in(cells[columns[0]], kMetrics[0]);
    sum.fmul += instructions_in(cells[columns[1]], kMetrics[1]);
    sum.ffma += instructions_in(cells[columns[2]], kMetrics[2]);
    ++sum.kernels;
  }
  require(sum.kernels > 0, "ncu's output has no kernel");
  return sum;
}

Fp32Instructions count_fp32_instructions(const NcuRun& run) {
  std::vector<std::string> argv = {
      run.ncu,     "--target-processes",
      "all",       "--csv",
      "--page",    "raw",
      "--metrics", join(std::vector<std::string>(std::begin(kMetrics), std::end(kMetrics)), ",")};
  argv.insert(argv.end(), run.command.begin(), run.command.end());
  Subprocess process({.argv = argv, .environment = run.environment, .stderr_file = run.folder / "ncu.log"});
  process.close_input();
  const std::string output = text_of(process, run.seconds);
  try {
    return fp32_instructions_from(output);
  } catch (const Error& e) {  // the program's last words say more
    const std::vector<std::string> lines = split(read_file(run.folder / "ncu.log"), '\n');
    const auto last =
        std::ranges::find_if(lines.rbegin(), lines.rend(), [](const auto& line) { return !line.empty(); });
    if (last == lines.rend()) throw;
    fail(e.kind(), e.what(), "; the program's last words: ", *last);
  }
}

}  // namespace tbd
