#include "worker/program_state.h"

#include <algorithm>
#include <cmath>

namespace tbd {

ProgramState::ProgramState(const Program& program, Store& store, const std::set<std::string>& averaged)
    : store_(store) {
  std::map<std::string, std::pair<std::string, Shape>> weights;  // full name and shape, by name
  for (const Parameter& each : program.parameters) weights[each.name] = {cat(kParameterPrefix, each.name), each.shape};
  for (const Parameter& each : program.buffers) weights[each.name] = {cat(kBufferPrefix, each.name), each.shape};
  for (const std::string& name : store.names()) shapes_[name] = weights.at(std::string(weight_of_state(name))).second;
  for (const std::string& name : averaged)
    followed_[cat(kStatePrefix, name, '/', kAverageSlot)] = weights.at(name).first;
}

void ProgramState::write(const TensorMap& values) {
  for (const auto& [name, value] : values) {
    if (name.starts_with(kScalePrefix)) {
      require(values.contains(name.substr(kScalePrefix.size())) && value.shape().elements() == 1, "'", name,
              "' scales no tensor beside it");
      continue;
    }
    const auto known = shapes_.find(name);
    if (known == shapes_.end()) {
      std::vector<std::string> names;
      for (const auto& [each, shape] : shapes_) names.push_back(each);
      fail(ErrorKind::invalid, unknown_name("tensor", name, names));
    }
    require(value.shape() == known->second, "'", name, "' is ", value.shape(), ", expected ", known->second);
  }
  for (const auto& [name, value] : values) {
    if (name.starts_with(kScalePrefix)) continue;
    const auto scale = values.find(cat(kScalePrefix, name));
    if (scale == values.end())
      store_.write(name, value);
    else
      store_.write_multiple(name, {value, as_doubles(scale->second)[0]});
    followed_.erase(name);
  }
}

void ProgramState::read(const std::vector<std::string>& prefixes, TensorMap& into) {
  std::vector<std::string> names, stored;
  for (const auto& [name, shape] : shapes_) {
    if (!starts_with_any(name, prefixes)) continue;
    const auto followed = followed_.find(name);
    names.push_back(name);
    stored.push_back(followed == followed_.end() ? name : followed->second);
  }
  std::vector<HostTensor> values = store_.read(stored);
  const bool kept = std::ranges::count(prefixes, kScalePrefix) > 0;
  for (size_t i = 0; i < names.size(); ++i) {
    into[names[i]] = std::move(values[i]);
    if (std::optional<Store::Multiple> multiple; kept && (multiple = store_.multiple(stored[i]))) {
      into[names[i]] = std::move(multiple->kept);
      into[cat(kScalePrefix, names[i])] = HostTensor(DType::f64, {}, std::span<const double>(&multiple->scale, 1));
    }
  }
}

void ProgramState::start_averages() {
  for (const auto& [average, weight] : followed_) store_.copy(weight, average);
  followed_.clear();
}

std::string ProgramState::first_non_finite() {
  for (const std::string_view prefix : {kParameterPrefix, kBufferPrefix})
    for (const auto& [name, shape] : shapes_)
      if (name.starts_with(prefix) && !is_finite(store_.read(std::span(&name, 1)).front())) return name;
  return "";
}

bool is_finite(const HostTensor& tensor) {
  if (!is_float(tensor.dtype())) return true;
  return std::ranges::all_of(as_doubles(tensor), [](double x) { return std::isfinite(x); });
}

bool starts_with_any(std::string_view name, const std::vector<std::string>& prefixes) {
  return std::ranges::any_of(prefixes, [&](const std::string& prefix) { return name.starts_with(prefix); });
}

}  // namespace tbd
