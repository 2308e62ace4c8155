#include "cli/workload_options.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "base/word.h"
#include "record/axes.h"

namespace tbd::cli {
namespace {

constexpr int64_t kLargestBatch = 1 << 24;

std::string option_of(const Axis& axis) { return cat("--", axis.name); }

bool is_count(const Axis& axis) { return std::holds_alternative<int64_t Workload::*>(axis.member); }

// A value as the axis prints it.
std::string checked(const Axis& axis, const std::string& text) {
  Workload alone;
  const bool searched = axis.name == "batch" && text == "largest";
  if (is_count(axis) && !searched) (void)positive(text, option_of(axis));
  axis.parse(alone, text, option_of(axis));
  return axis.value(alone);
}

std::vector<std::string> checked(const Axis& axis, const std::vector<std::string>& values) {
  try {
    if (axis.name == "batch" && sweep_from(values)) return values;
    std::vector<std::string> out;
    for (const std::string& value : values) out.push_back(checked(axis, value));
    return out;
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::invalid) throw;
    const bool named = std::string_view(e.what()).starts_with("--");
    fail(ErrorKind::usage, named ? "" : option_of(axis) + ": ", e.what());
  }
}

}  // namespace

int64_t positive(const std::string& text, std::string_view option) {
  const std::optional<int64_t> value = parse_int(text);
  if (!value || *value <= 0) fail(ErrorKind::usage, option, " needs a positive whole number, got '", text, "'");
  if (*value > kLargestBatch)
    fail(ErrorKind::usage, option, " ", text, " is too large; the largest accepted is ", kLargestBatch);
  return *value;
}

double number_from(const std::string& text, std::string_view option) {
  const std::optional<double> value = parse_double(text);
  if (!value) fail(ErrorKind::usage, option, " needs a number, got '", text, "'");
  return *value;
}

double seconds_of_launch(const std::string& text) {
  const double seconds = number_from(text, "--seconds");
  if (!(seconds > 0)) fail(ErrorKind::usage, "--seconds needs a time above 0, got ", text);
  return seconds;
}

uint64_t seed_from(const std::string& text) {
  const std::optional<int64_t> value = parse_int(text);
  if (!value || *value < 0) fail(ErrorKind::usage, "--seed needs a whole number of at least 0, got '", text, "'");
  return static_cast<uint64_t>(*value);
}

std::string mode_of_matmul(const std::vector<std::string>& modes, const std::string& matmul) {
  require_known_name("--matmul", matmul, std::vector<std::string>{"onednn"});
  if (!modes.empty()) fail(ErrorKind::usage, "--matmul selects a mode: give either --matmul or --mode");
  return Mode::kEagerOnednn.text();
}

void WorkloadOptions::declare(Options& options) {
  for (const Axis& axis : axes()) {
    const std::string help(axis.help);
    if (axis.name == "model") {
      options.positional("MODEL", lists_[axis.name], help);
    } else if (axis.list) {
      options.option(option_of(axis), lists_[axis.name], help, {.separator = ',', .one_argument = true});
    } else {
      std::string& single = singles_[axis.name];
      single = axis.value({});
      options.option(option_of(axis), single, help, {.show_default = !single.empty()});
    }
    if (axis.name == "mode")
      options.option("--matmul", matmul_,
                     "onednn runs PyTorch's fp32 linear layers in oneDNN, as --mode eager-onednn does [the framework's "
                     "own]");
  }
}

const std::vector<std::string>& WorkloadOptions::models() const {
  static const std::vector<std::string> none;
  const auto found = lists_.find("model");
  return found == lists_.end() ? none : found->second;
}

bool WorkloadOptions::any() const {
  const auto given = [](const auto& each) { return !each.second.empty(); };
  const auto chosen = [](const auto& each) { return each.second != find_axis(each.first)->value({}); };
  return std::ranges::any_of(lists_, given) || std::ranges::any_of(singles_, chosen) || !matmul_.empty();
}

WorkloadSet WorkloadOptions::set() const {
  std::map<std::string_view, std::vector<std::string>> given = lists_;
  for (const auto& [name, value] : singles_)
    if (value != find_axis(name)->value({})) given[name] = {value};
  if (!matmul_.empty()) given["mode"] = {mode_of_matmul(given["mode"], matmul_)};
  WorkloadSet set;
  for (const auto& [name, values] : given)
    if (!values.empty()) set.lists[std::string(name)] = checked(*find_axis(name), values);
  return set;
}

void WorkerPlaces::declare(Options& options) {
  options.option("--hosts", hosts,
                 "Where the workers of --workers run, with their number on each: a,b:2; slurm: the hosts of this "
                 "allocation of Slurm [this machine]");
  options.option("--ssh", ssh, "With --hosts, the program and options that run a command there",
                 {.show_default = true});
  options.option("--rendezvous", rendezvous,
                 "Under torchrun, mpirun or srun, HOST:PORT where rank 0 listens for the others [from the launcher]");
}

void WorkerPlaces::declare_sharing(Options& options) {
  options.flag("--oversubscribe", oversubscribe,
               "Let more workers run than there are cores, on cores that they share; such rows are graded disturbed");
}

}  // namespace tbd::cli
