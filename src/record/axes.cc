// The table of axes, and the fields of a measured workload, which begin with them.
#include "record/axes.h"

#include <algorithm>

#include "base/amounts.h"
#include "base/error.h"
#include "base/link_limits.h"
#include "base/text.h"
#include "record/frameworks.h"

namespace tbd {
namespace {

uint64_t seed_from(const std::string& text, std::string_view what) {
  const std::optional<int64_t> seed = parse_int(text);
  require(seed && *seed >= 0, what, " needs a whole number of at least 0, got '", text, "'");
  return static_cast<uint64_t>(*seed);
}

// Places in the names of folders, whose order is older than the table's.
enum Place { precision_place = 1, amounts_place, input_place, mode_place, others_place };

// In the order of the command line's help, of repro lines and of plans.
const std::vector<Axis>& table() {
  static const std::string framework_help = cat(known_framework_names(), "; NAME@VERSION, NAME@DIR [pytorch]");
  static const std::string wire_help =
      cat("As what workers' gradients travel, a type or products of matrices of 1, 2 or 4 columns: ",
          join(texts(WireType::kKnown), ", "), " [", WireType::kSame, "]");
  static const std::string allocator_help =
      cat("What gives the worker its memory: ", join(texts(Allocator::kKnown), ", "),
          "; kept: the C library's, which keeps what is freed; huge: the same in huge pages [", Allocator::kStock, "]");
  static const std::vector<Axis> all = {
      {.name = "model", .help = "Model names or paths of program files", .member = &Workload::model, .key = "model"},
      {.name = "config",
       .help = "Configurations of the model [its first]",
       .member = &Workload::config,
       .key = "config",
       .folder = {{.prefix = "-", .usual = "canonical"}}},
      {.name = "framework",
       .help = framework_help,
       .member = &Workload::framework,
       .key = "framework",
       .folder = {{.prefix = "-"}}},
      {.name = "batch",
       .help =
           "Samples in one forward pass; sweep, sweep<=16: the model's own list, up to this batch; largest: search for "
           "the largest batch that fits --memory [the model's default]",
       .member = &Workload::batch,
       .key = "batch",
       .inner = 3,
       .folder = {{.place = amounts_place, .prefix = "-b"}},
       .label = {.before = "batch "},
       .asked = true},
      {.name = "accumulate",
       .help = "Times as many batches one update, whose gradients are added up and, by workers, exchanged once [1]",
       .member = &Workload::accumulate,
       .key = "accumulate",
       .folder = {{.place = amounts_place, .prefix = "-a", .usual = "1"}},
       .label = {.before = "accumulate "},
       .later = true},
      {.name = "precision",
       .help = "fp32, tf32, bf16, fp16 [fp32]",
       .member = &Workload::precision,
       .key = "precision",
       .inner = 2,
       .folder = {{.place = precision_place, .prefix = "-"}},
       .asked = true},
      {.name = "device",
       .help = "cpu, cuda:N; auto: a GPU where one answers, else cpu [auto]",
       .member = &Workload::device,
       .key = "device",
       .folder = {{.place = others_place, .prefix = "-", .usual = "cpu"}}},
      {.name = "threads",
       .help = "Threads per op [one per usable core]",
       .member = &Workload::threads,
       .key = "threads",
       .folder = {{.place = amounts_place, .prefix = "-t"}},
       .label = {.after = " threads"},
       .asked = true},
      {.name = "interop",
       .help = "Ops that may run at once, each on --threads threads [1]",
       .member = &Workload::interop,
       .key = "interop",
       .folder = {{.place = amounts_place, .prefix = "-interop-", .usual = "1"}},
       .label = {.before = "interop "},
       .later = true,
       .setting = true,
       .asked = true},
      {.name = "workers",
       .help = "Workers that train together, --batch each, on equal shares of the cores [1]",
       .member = &Workload::workers,
       .key = "workers",
       .folder = {{.place = amounts_place, .prefix = "-w", .usual = "1"}},
       .label = {.after = " workers"},
       .later = true},
      {.name = "link",
       .help = "What joins several workers: a rate such as 1Gbit, with a delay 1Gbit+1ms; loopback [loopback]",
       .member = &Workload::link,
       .key = "link",
       .folder = {{.place = amounts_place, .prefix = "-", .usual = ""}},
       .label = {.before = "over "},
       .later = true,
       .of_several = true},
      {.name = "exchange",
       .help =
           "What several workers do with their gradients: all_reduce: sum them; sharded: sum each on the one worker "
           "that keeps its optimizer state and updates its weight for all; none: each trains alone, to see what "
           "sharing the machine costs [all_reduce]",
       .member = &Workload::exchange,
       .key = "exchange",
       .folder = {{.place = others_place, .prefix = "-exchange-", .usual = "all_reduce"}},
       .label = {.before = "exchange "},
       .later = true,
       .of_several = true},
      {.name = "wire",
       .help = wire_help,
       .member = &Workload::wire,
       .key = "wire",
       .folder = {{.place = others_place, .prefix = "-wire-", .usual = "same"}},
       .label = {.before = "wire "},
       .later = true,
       .of_several = true},
      {.name = "every",
       .help = "Steps that several workers take alone before their weights become the mean of all; 1: they exchange "
               "gradients in each [1]",
       .member = &Workload::every,
       .key = "every",
       .folder = {{.place = others_place, .prefix = "-every-", .usual = "1"}},
       .label = {.before = "every ", .after = " steps"},
       .later = true,
       .of_several = true},
      {.name = "bucket",
       .help = "Bytes of gradients that workers sum at once, such as 4MiB [25MiB; of the first 1MiB]",
       .member = &Workload::bucket_bytes,
       .key = "bucket_bytes",
       .folder = {{.place = others_place, .prefix = "-bucket-", .usual = ""}},
       .label = {.before = "buckets of "},
       .later = true,
       .of_several = true},
      {.name = "layout",
       .help = "Memory layout of images: nchw, nhwc [the framework's default]",
       .member = &Workload::layout,
       .key = "layout",
       .folder = {{.place = amounts_place, .prefix = "-"}}},
      {.name = "mode",
       .help = "How the framework runs the network: eager, eager-onednn, compile, graph, xla [its default]",
       .member = &Workload::mode,
       .key = "mode",
       .folder = {{.place = mode_place, .prefix = "-", .usual = ""}},
       .asked = true},
      {.name = "input",
       .help = "resident: batches are in memory; pipeline: batches are read and decoded during training [resident]",
       .member = &Workload::input_mode,
       .key = "input_mode",
       .inner = 4,
       .folder = {{.place = input_place, .prefix = "-"}}},
      {.name = "prefetch",
       .help = "Batches of pipeline input that are prepared ahead at most [3]",
       .member = &Workload::prefetch,
       .key = "prefetch",
       .inner = 5,
       .folder = {{.place = others_place, .prefix = "-prefetch-", .usual = "3"}},
       .label = {.before = "prefetch "},
       .later = true,
       .of_pipeline = true,
       .setting = true,
       .asked = true},
      {.name = "dropout",
       .help = "framework, mask, off [framework]",
       .member = &Workload::dropout,
       .key = "dropout",
       .inner = 1,
       .folder = {{.place = others_place, .prefix = "-dropout-", .usual = "framework"}},
       .label = {.before = "dropout "}},
      {.name = "allocator",
       .help = allocator_help,
       .member = &Workload::allocator,
       .key = "allocator",
       .inner = 1,
       .folder = {{.place = others_place, .prefix = "-", .usual = "stock"}},
       .label = {.before = "allocator "},
       .later = true,
       .setting = true,
       .asked = true},
      {.name = "wait",
       .help = "How idle threads wait: passive: they sleep; active: they spin; framework: its own habit [passive]",
       .member = &Workload::wait,
       .key = "wait",
       .inner = 1,
       .folder = {{.place = others_place, .prefix = "-wait-", .usual = "passive"}},
       .label = {.before = "waiting "},
       .later = true,
       .setting = true,
       .asked = true},
      {.name = "affinity",
       .help = "What is bound to cores: process: all threads to the same; thread: each to one of its own [process]",
       .member = &Workload::affinity,
       .key = "affinity",
       .inner = 1,
       .folder = {{.place = others_place, .prefix = "-affinity-", .usual = "process"}},
       .label = {.before = "affinity "},
       .later = true,
       .setting = true,
       .asked = true},
      {.name = "data",
       .help = "Data set: a folder, or a small set of the set-up by name [synthetic data]",
       .member = &Workload::data,
       .key = "",
       .list = false},
      {.name = "seed",
       .help = "Seed for weights, sample order and augmentation",
       .member = &Workload::seed,
       .key = "seed",
       .tells_apart = false,
       .list = false,
       .folder = {{.place = others_place, .prefix = "-seed-", .usual = "0"}},
       .label = {.before = "seed "}},
      {.name = "memory",
       .help = "Memory limit of the worker's data, such as 4GiB or 500MB [the machine's memory]",
       .member = &Workload::memory_budget_bytes,
       .key = "memory_budget_bytes",
       .list = false,
       .folder = {{.place = others_place, .prefix = "-within-", .usual = ""}},
       .label = {.before = "within "}}};
  return all;
}

struct Print {
  std::string operator()(const std::string& value) const { return value; }
  template <AnyWord Kind>
  std::string operator()(const Kind& value) const {
    return value.text();
  }
  std::string operator()(int64_t value) const { return batch_text(value); }
  std::string operator()(uint64_t value) const { return cat(value); }
  std::string operator()(const std::optional<int64_t>& value) const { return value ? bytes_text(*value) : ""; }
};

bool is_number(const Axis& axis) { return axis.member.index() == 1 || axis.member.index() == 2; }

std::vector<Field> all_fields() {
  std::vector<Field> all;
  for (const Axis& axis : axes())
    if (!axis.key.empty())
      std::visit(
          [&](auto member) {
            all.push_back({axis.key, Field::Member(member), axis.tells_apart, axis.later});
          },
          axis.member);
  using M = MeasuredWorkload;
  const std::vector<Field> added = {{"model_hash", &M::model_hash},
                                    {"lowered_hash", &M::lowered_hash, false},
                                    {"framework_version", &M::framework_version},
                                    {"samples_per_step", &M::samples_per_step, false},
                                    {"unit", &M::unit, false},
                                    {"effort", &M::effort, false},
                                    {"optimizer", &M::optimizer},
                                    {"synchronisation", &M::synchronisation},
                                    {"data_hash", &M::data_hash},
                                    {"unpinned", &M::unpinned},
                                    {"repro", &M::repro, false}};
  all.insert(all.end(), added.begin(), added.end());
  return all;
}

bool among(std::span<const std::string_view> keys, std::string_view key) {
  return std::ranges::find(keys, key) != keys.end();
}

int compare(const Field& field, const MeasuredWorkload& a, const MeasuredWorkload& b) {
  return std::visit([&](auto member) { return a.*member < b.*member   ? -1
                                              : b.*member < a.*member ? 1
                                                                      : 0; },
                    field.member);
}

}  // namespace

std::span<const Axis> axes() { return table(); }

const Axis* find_axis(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Axis::name);
  return found == table().end() ? nullptr : &*found;
}

std::string LabelPart::around(const std::string& value) const {
  if (value.empty()) return "";
  const bool is_one = value == "1" && after.ends_with('s');
  return cat(before, value, is_one ? after.substr(0, after.size() - 1) : after);
}

std::string Axis::value(const Workload& workload) const {
  return std::visit([&](auto of) { return Print()(workload.*of); }, member);
}

std::string Axis::print(const Workload& workload) const {
  const std::string text = value(workload);
  const bool is_left_out = later ? text == value({}) : is_number(*this) && text == "0";
  return is_left_out ? "" : text;
}

void Axis::parse(Workload& workload, const std::string& text, std::string_view what) const {
  const auto check = [&]<class T>(T Workload::*) {
    if constexpr (AnyWord<T>) require_known(T(text));
  };
  std::visit(check, member);
  read(workload, text, what);
  if (const auto* link = std::get_if<Link Workload::*>(&member))  // of all its spellings one
    workload.** link = link_of(limits_of(workload.**link));
}

void Axis::read(Workload& workload, const std::string& text, std::string_view what) const {
  const auto set_name = [&]<class T>(T Workload::*name) {
    if constexpr (std::same_as<T, std::string> || AnyWord<T>) workload.*name = T(text);
  };
  std::visit(set_name, member);
  if (const auto* count = std::get_if<int64_t Workload::*>(&member))
    workload.** count = *count == &Workload::batch ? batch_from(text, what) : count_from(text, what);
  if (const auto* number = std::get_if<uint64_t Workload::*>(&member)) workload.** number = seed_from(text, what);
  if (const auto* bytes = std::get_if<std::optional<int64_t> Workload::*>(&member))
    workload.** bytes = bytes_from(text, what);
}

std::span<const Field> fields() {
  static const std::vector<Field> all = all_fields();
  return all;
}

bool alike_but(std::span<const std::string_view> keys, const MeasuredWorkload& a, const MeasuredWorkload& b) {
  return std::ranges::all_of(fields(), [&](const Field& field) {
    return !field.tells_apart || among(keys, field.key) || compare(field, a, b) == 0;
  });
}

bool alike_but(std::initializer_list<std::string_view> keys, const MeasuredWorkload& a, const MeasuredWorkload& b) {
  return alike_but(std::span(keys.begin(), keys.size()), a, b);
}

int compare_by(std::initializer_list<std::string_view> first, const MeasuredWorkload& a, const MeasuredWorkload& b) {
  for (const std::string_view key : first)
    if (const int order = compare(*std::ranges::find(fields(), key, &Field::key), a, b); order != 0) return order;
  for (const Field& field : fields()) {
    const int order = field.tells_apart && !among({first.begin(), first.size()}, field.key) ? compare(field, a, b) : 0;
    if (order != 0) return order;
  }
  return 0;
}

}  // namespace tbd
