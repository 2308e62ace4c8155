// Walks over the table of axes: repro lines and names of folders.
#include "record/workload.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "record/axes.h"

namespace tbd {
namespace {

// As the folder of a result set spells it; empty where the folder leaves it out.
std::string folder_part(const Axis& axis, const Workload& workload) {
  const std::string value = axis.value(workload);
  const bool usual = axis.folder->usual && (value.empty() || value == *axis.folder->usual);
  return usual ? "" : cat(axis.folder->prefix, value);
}

}  // namespace

int64_t count_from(const std::string& text, std::string_view what) {
  const std::optional<int64_t> value = parse_int(text);
  require(value && *value >= 1, what, " needs whole numbers from 1, got '", text, "'");
  return *value;
}

int64_t batch_from(const std::string& text, std::string_view what) {
  return text == "largest" ? kLargestThatFits : count_from(text, what);
}

std::string batch_text(int64_t batch) { return batch == kLargestThatFits ? "largest" : cat(batch); }

std::string shell_word(const std::string& word) {
  const auto plain = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("._-/@:,=+", c); };
  if (!word.empty() && std::ranges::all_of(word, plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string repro_line(const Workload& workload, std::string_view effort) {
  std::string line = cat("tbd run ", shell_word(workload.model));
  const auto option = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) line += cat(" --", name, " ", shell_word(value));
  };
  for (const Axis& axis : axes().subspan(1)) option(axis.name, axis.print(workload));
  option("effort", std::string(effort));
  return line;
}

std::string folder_name(const Workload& workload) {
  std::vector<const Axis*> parts;
  for (const Axis& axis : axes())
    if (axis.folder) parts.push_back(&axis);
  std::ranges::stable_sort(parts, {}, [](const Axis* axis) { return axis->folder->place; });
  std::string name = std::filesystem::path(workload.model).stem().string();
  for (const Axis* axis : parts) name += folder_part(*axis, workload);
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c)) && !std::strchr("._-", c)) c = '_';
  return name;
}

}  // namespace tbd
