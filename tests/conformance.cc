#include "conformance.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "record/safetensors.h"
#include "runner/equivalence/tolerance.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using Support = std::map<std::string, protocol::NodeRow>;

std::vector<OpCase> meant_for(const std::vector<OpCase>& cases, Precision precision) {
  std::vector<OpCase> out;
  for (const OpCase& c : cases)
    if (stored_type(precision) != DType::bf16 || takes_low_types(c.op)) out.push_back(c);
  return out;
}

// "conv2d.3" of "grad/conv2d.3.weight" and of "conv2d.3.x0@bf16".
std::string case_of(std::string_view name) {
  const size_t begin = name.find('/') == std::string_view::npos ? 0 : name.find('/') + 1;
  const size_t dot = name.find('.', begin);
  return std::string(name.substr(begin, name.find('.', dot + 1) - begin));
}

// A worker and what is said to it.
class Talk {
 public:
  Talk(const WorkerEntry& entry, const RunnerSettings& settings)
      : settings_(settings),
        worker_(entry, settings, worker_environment(PreparedCell{}, settings), {}, file("worker.log")) {
    const protocol::HelloReply hello = worker_.hello();
    if (!hello.layouts.empty()) layout_ = hello.layouts.front();
  }

  Support check(const Program& program) {
    Support support;
    for (protocol::NodeRow& row : ask<protocol::CheckReply>(protocol::Check{program}, "checking").nodes) {
      const std::string name = case_of(row.node);
      if (row.node == name + ".y" || row.level == "unsupported") support.try_emplace(name, row);
      if (row.level == "unsupported" && support[name].level != "unsupported") support[name] = row;
    }
    return support;
  }
  void load(const Program& program, const OpRunOptions& options) {
    protocol::Load load = {.program = program, .bindings = {{"N", 1}}};
    load.precision = options.precision;
    load.capture = true;
    load.device = options.device;
    load.layout = options.layout.empty() ? layout_ : options.layout;
    ask<protocol::LoadReply>(load, "loading");
  }
  std::map<std::string, TensorMap> step(TensorMap values) {
    TensorMap weights;
    for (auto value = values.begin(); value != values.end();)
      if (value->first.starts_with("param/") || value->first.starts_with("buffer/"))
        weights.insert(values.extract(value++));
      else
        ++value;
    write_safetensors(file("weights"), weights);
    write_safetensors(file("inputs"), values);
    ask<protocol::WriteReply>(protocol::Write{file("weights").string()}, "taking weights");
    protocol::Run run = {.lr = 0.0};
    run.input.file = file("inputs").string();
    worker_.run(run, [](auto) { return false; });
    ask<protocol::ReadReply>(protocol::Read{{"output/", "grad/", "buffer/"}, file("results").string()}, "reading");
    std::map<std::string, TensorMap> out;
    for (auto& [name, tensor] : read_safetensors(file("results"))) out[case_of(name)][name] = std::move(tensor);
    return out;
  }
  void bye() { worker_.bye(); }

 private:
  fs::path file(const std::string& name) const { return folder_.path() / name; }
  template <class Reply>
  Reply ask(const protocol::Request& request, std::string_view doing) {
    return worker_.ask<Reply>(request, doing, settings_.deadlines.other);
  }

  TemporaryFolder folder_{"tbd-conformance"};
  const RunnerSettings& settings_;
  WorkerProcess worker_;
  ImageLayout layout_ = ImageLayout::kNchw;
};

// The case that the sentence names, by one of its nodes or parameters.
const OpCase* blamed(const std::vector<OpCase>& cases, const std::string& sentence) {
  for (const OpCase& c : cases)
    for (const char before : {'\'', '/'})
      if (sentence.find(cat(before, c.name, '.')) != std::string::npos) return &c;
  return nullptr;
}

class Runs {
 public:
  Runs(const WorkerEntry& entry, const RunnerSettings& settings, const OpRunOptions& options)
      : entry_(entry), settings_(settings), options_(options), out_(options.rounded.size()) {}

  void add(std::vector<OpCase> cases) {
    while (!cases.empty()) {
      const std::string fault = attempt(cases);
      if (fault.empty()) return;
      const OpCase* guilty = cases.size() == 1 ? &cases[0] : blamed(cases, fault);
      if (guilty) {
        blame(*guilty, fault);
        cases.erase(cases.begin() + (guilty - cases.data()));
      } else if (attempt({cases.front()}) == fault && attempt({cases.back()}) == fault) {  // it is no case's fault
        for (const OpCase& c : cases) blame(c, fault);
        return;
      } else {  // halve until the sentence stands for one case
        add({cases.begin() + static_cast<ptrdiff_t>(cases.size() / 2), cases.end()});
        cases.resize(cases.size() / 2);
      }
    }
  }
  std::vector<OpRun> take() { return std::move(out_); }

 private:
  void blame(const OpCase& c, const std::string& fault) {
    for (OpRun& each : out_) each.faults[c.name] = fault;
  }

  // Why the cases could not be run together; empty when they were.
  std::string attempt(const std::vector<OpCase>& cases) try {
    run(cases);
    return "";
  } catch (const WorkerFault& fault) {
    return fault.what();
  }

  void run(std::vector<OpCase> cases) {
    Talk talk(entry_, settings_);
    const Support support = talk.check(op_program(cases, options_.precision));
    for (OpRun& each : out_) each.support.insert(support.begin(), support.end());
    std::erase_if(cases, [&](const OpCase& c) { return support.at(c.name).level == "unsupported"; });
    talk.load(op_program(cases, options_.precision), options_);
    for (size_t i = 0; i < options_.rounded.size(); ++i)
      out_[i].tensors.merge(talk.step(op_values(cases, options_.precision, options_.rounded[i])));
    talk.bye();
  }

  const WorkerEntry& entry_;
  const RunnerSettings& settings_;
  const OpRunOptions& options_;
  std::vector<OpRun> out_;
};

double largest(const std::vector<double>& values) {
  double out = 0;
  for (const double x : values) out = std::max(out, std::abs(x));
  return out;
}

// Infinite where a value is not finite.
double relative_error(const HostTensor& value, const HostTensor& reference) {
  const std::vector<double> x = as_doubles(value), y = as_doubles(reference);
  std::vector<double> difference(x.size());
  for (size_t i = 0; i < x.size(); ++i) difference[i] = x[i] - y[i];
  if (std::ranges::any_of(difference, [](double d) { return !std::isfinite(d); })) return HUGE_VAL;
  const double scale = largest(y);
  return largest(difference) / (scale > 0 ? scale : 1);
}

Difference difference(const std::string& name, const TensorMap& values, const HostTensor& reference, double bound) {
  const auto found = values.find(name);
  if (found == values.end()) return {name, HUGE_VAL, bound, "is missing"};
  if (found->second.shape() != reference.shape())
    return {name, HUGE_VAL, bound, cat("is ", found->second.shape(), " instead of ", reference.shape())};
  return {name, relative_error(found->second, reference), bound, ""};
}

double excess(const Difference& d) { return d.within() && d.error == 0 ? 0 : d.error / d.tolerance; }

}  // namespace

DType stored_type(Precision precision) {
  if (precision == Precision::kFp64) return DType::f64;
  return precision == Precision::kBf16 ? DType::bf16 : DType::f32;
}

std::vector<OpRun> run_op_cases(const WorkerEntry& entry, const RunnerSettings& settings,
                                const std::vector<OpCase>& cases, const OpRunOptions& options) {
  constexpr size_t kTogether = 120;  // the time of some frameworks rises faster than a program's size
  const std::vector<OpCase> meant = meant_for(cases, options.precision);
  Runs runs(entry, settings, options);
  for (size_t i = 0; i < meant.size(); i += kTogether) {
    const std::span<const OpCase> part = std::span(meant).subspan(i, std::min(kTogether, meant.size() - i));
    runs.add({part.begin(), part.end()});
  }
  return runs.take();
}

Support check_op_cases(const WorkerEntry& entry, const RunnerSettings& settings, const std::vector<OpCase>& cases,
                       Precision precision) {
  Talk talk(entry, settings);
  Support support = talk.check(op_program(meant_for(cases, precision), precision));
  talk.bye();
  return support;
}

Difference worst_difference(const OpCase& c, Precision precision, const TensorMap& values, const TensorMap& reference,
                            double least) {
  const double bound = std::max(least, tolerance(c.op, operand_shapes(c), stored_type(precision)));
  Difference worst = {.tolerance = bound, .missing = reference.empty() ? "the reference has no result" : ""};
  for (const auto& [name, tensor] : reference) {
    const Difference d = difference(name, values, tensor, bound);
    if (worst.tensor.empty() || !(excess(d) <= excess(worst))) worst = d;
  }
  return worst;
}

std::string described(const OpCase& c, Precision precision) {
  std::string text = cat(c.name, " ", attributes_to_json(c.op).dump());
  for (const Op& inner : c.inner) text += cat(" through ", kind(inner), " ", attributes_to_json(inner).dump());
  for (const Shape& shape : c.operands) text += cat(" ", shape);
  return cat(text, " in ", precision.text());
}

}  // namespace tbd
