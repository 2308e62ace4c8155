#include "runner/equivalence/whole_step.h"

#include <algorithm>
#include <cmath>

#include "base/philox.h"

namespace tbd {
namespace {

constexpr double kSpreads = 4, kErrorFloor = 1e-5, kFactorFloor = 1e-4;
constexpr double kZeroBound = 1e-5;      // of a gradient that is 0, in largest gradient norms
constexpr double kZeroInDouble = 1e-12;  // a float64 gradient below this share of the largest is 0 but for rounding

std::string first_slash_cut(const std::string& name) { return name.substr(name.find('/') + 1); }

bool belongs_to(const std::string& tensor, const std::string& parameter) {
  return tensor == "grad/" + parameter || tensor == "param/" + parameter ||
         tensor.starts_with(cat("state/", parameter, "/"));
}

}  // namespace

WholeReference::WholeReference(WholeStep exact) : exact_(std::move(exact)) {
  for (const auto& [name, tensor] : exact_.first)
    if (name.starts_with("grad/")) largest_gradient_ = std::max(largest_gradient_, norm(tensor));
  for (const auto& [name, tensor] : exact_.first)
    if (name.starts_with("grad/") && norm(tensor) <= kZeroInDouble * largest_gradient_)
      zero_gradients_.push_back(first_slash_cut(name));
}

WholeReference::Rule WholeReference::rule_of(const std::string& tensor) const {
  for (const std::string& parameter : zero_gradients_)
    if (belongs_to(tensor, parameter)) return tensor.starts_with("grad/") ? Rule::bounded : Rule::left_out;
  return Rule::compared;
}

void WholeReference::add_float32_run(const WholeStep& run) {
  const auto widen = [&](const TensorMap& exact, const TensorMap& got) {
    for (const auto& [name, tensor] : exact) {
      const auto found = got.find(name);
      if (found == got.end()) continue;
      Spread& spread = spread_[name];
      spread.error = std::max(spread.error, relative_error(found->second, tensor));
      if (const double f = factor(found->second, tensor); std::isfinite(f))
        spread.factor = std::max(spread.factor, std::abs(f - 1));
    }
  };
  widen(exact_.first, run.first);
  widen(exact_.last, run.last);
}

void WholeReference::judge_tensor(const std::string& name, const HostTensor& exact, const TensorMap& got,
                                  double further, GateResult& result) const {
  const Rule rule = rule_of(name);
  if (rule == Rule::left_out) return;
  Finding finding{.where = name, .what = "error", .source = "4 x the spread of PyTorch's float32"};
  const auto found = got.find(name);
  if (found == got.end()) {
    finding.missing = "the framework gave none";
    return result.add(finding);
  }
  if (found->second.shape() != exact.shape()) {
    finding.missing = cat("shape ", found->second.shape(), " in place of ", exact.shape());
    return result.add(finding);
  }
  finding.worst = worst_element(found->second, exact);
  if (rule == Rule::bounded) {
    finding.what = "size";
    finding.source = "1e-5 of the largest gradient: exactly 0 without rounding";
    finding.error = norm(found->second);
    finding.bound = kZeroBound * largest_gradient_;
    return result.add(finding);
  }
  const auto known = spread_.find(name);
  const Spread spread = known == spread_.end() ? Spread{} : known->second;
  finding.error = relative_error(found->second, exact);
  finding.bound = std::max(kErrorFloor, kSpreads * spread.error);
  if (finding.bound == kErrorFloor) finding.source = "the least that is asked";
  if (further > 0) finding.source += ", and a rounded beta";
  finding.bound += further;
  result.add(finding);
  if (!name.starts_with("grad/")) return;
  finding.what = "factor";
  finding.source = "4 x the spread of PyTorch's float32";
  finding.error = std::abs(factor(found->second, exact) - 1);
  finding.bound = std::max(kFactorFloor, kSpreads * spread.factor);
  if (finding.bound == kFactorFloor) finding.source = "the least that is asked";
  result.add(finding);
}

GateResult WholeReference::judge(const WholeStep& got, const std::map<std::string, double>& rounded) const {
  GateResult result{.gate = Gate::whole, .worst = {}, .failed = {}};
  const auto judge_all = [&](std::string_view prefix, const TensorMap& exact, const TensorMap& given) {
    for (const auto& [name, tensor] : exact) {
      const auto further = rounded.find(name);
      if (name.starts_with(prefix))
        judge_tensor(name, tensor, given, further == rounded.end() ? 0 : further->second, result);
    }
  };
  for (const char* prefix : {"output/", "term/", "loss", "grad/"}) judge_all(prefix, exact_.first, got.first);
  for (const char* prefix : {"buffer/", "param/", "state/"}) judge_all(prefix, exact_.last, got.last);
  return result;
}

TensorMap moved_by(int ulps, const TensorMap& tensors, uint64_t seed) {
  const double step = std::ldexp(static_cast<double>(ulps), -23);
  TensorMap out = tensors;
  for (auto& [name, tensor] : out) {
    if (tensor.dtype() != DType::f32 || name.find("mask/") != std::string::npos || name.starts_with("norm/")) continue;
    const Philox random(seed, name);
    const std::span<float> x = tensor.as<float>();
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(x[i] * (random.word(i) & 1 ? 1 + step : 1 - step));
  }
  return out;
}

}  // namespace tbd
