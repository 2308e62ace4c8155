#include "worker/inputs.h"

#include <algorithm>

#include "base/json.h"
#include "base/philox.h"
#include "measure/clock.h"
#include "record/safetensors.h"

namespace tbd {
namespace {

void check_shape(const HostTensor& tensor, const InputNeed& need, std::string_view where) {
  require(tensor.shape() == need.shape, where, ": input '", need.name, "' has shape ", tensor.shape(),
          ", the program needs ", need.shape);
}

void check_integers(const HostTensor& tensor, const InputNeed& need, std::string_view where) {
  if (!need.indexes) return;
  for (const double value : as_doubles(tensor))
    require((value >= static_cast<double>(need.least) && value < static_cast<double>(need.classes)) ||
                (need.besides && value == static_cast<double>(*need.besides)),
            where, ": input '", need.name, "' holds ", value, ", the program takes ", need.least, " to ",
            need.classes - 1);
}

TensorMap from_file(const std::string& path, const InputNeeds& needs) {
  TensorMap file = read_safetensors(path), batch = needs.norms;
  for (auto& [name, norm] : batch)
    if (const auto given = file.extract(name)) norm = converted(given.mapped(), norm.dtype());
  for (const InputNeed& need : needs.inputs) {
    auto given = file.extract(need.name);
    if (!given && need.keep) fail(ErrorKind::invalid, path, ": the mask '", need.name, "' is missing");
    require(!given.empty(), path, ": input '", need.name, "' is missing");
    check_shape(given.mapped(), need, path);
    check_integers(given.mapped(), need, path);
    batch[need.name] =
        given.mapped().dtype() == need.dtype ? std::move(given.mapped()) : converted(given.mapped(), need.dtype);
  }
  std::vector<std::string> known;
  for (const InputNeed& need : needs.inputs) known.push_back(need.name);
  if (!file.empty()) fail(ErrorKind::invalid, path, ": ", unknown_name("input", file.begin()->first, known));
  return batch;
}

std::vector<WantedInput> wanted(const InputNeeds& needs, int64_t group) {
  std::vector<WantedInput> out;
  for (const InputNeed& need : needs.inputs)
    if (!need.keep && need.group == group)
      out.push_back({.name = need.base, .shape = need.shape, .below = need.indexes ? need.classes : 0});
  return out;
}

std::string names_of(std::span<const WantedInput> inputs) {
  std::vector<std::string> names;
  for (const WantedInput& input : inputs) names.push_back(input.name);
  return join(names, ", ");
}

// The groups that read what some kind of data set gives, all alike; where none does, those that read as the first.
std::vector<int64_t> groups_of_data(const InputNeeds& needs) {
  int64_t first = 0;
  while (first < needs.groups && !kind_of_files(wanted(needs, first))) ++first;
  const std::string names = names_of(wanted(needs, first < needs.groups ? first : 0));
  std::vector<int64_t> groups;
  for (int64_t group = 0; group < needs.groups; ++group)
    if (names_of(wanted(needs, group)) == names) groups.push_back(group);
  return groups;
}

// What files of a path must be, by what the program reads.
std::string kind_of_path(std::span<const WantedInput> inputs) {
  if (const std::optional<SourceKind> kind = kind_of_files(inputs)) return std::string(name(*kind));
  fail(ErrorKind::unsupported, "no kind of data set gives what this program reads: ", names_of(inputs));
}

constexpr double kValid = 0.75;  // share of places that are no padding

template <class T, class Draw>
void draw(HostTensor& tensor, const InputNeed& need, uint64_t seed, int64_t step, const Draw& value) {
  const int64_t samples = need.shape.rank() == 0 ? 1 : need.shape[0];
  const int64_t each = samples == 0 ? 0 : need.shape.elements() / samples;
  const Philox stream(seed, need.stream);
  const std::span<T> out = tensor.as<T>();
  for (int64_t n = 0; n < samples; ++n) {
    const Philox random = stream.at(static_cast<uint32_t>(step), static_cast<uint32_t>(n));
    for (int64_t i = 0; i < each; ++i)
      out[static_cast<size_t>(n * each + i)] = static_cast<T>(value(random, static_cast<uint64_t>(i)));
  }
}

HostTensor integers(const InputNeed& need, uint64_t seed, int64_t step) {
  HostTensor tensor(DType::i32, need.shape);
  draw<int32_t>(tensor, need, seed, step, [&](const Philox& random, uint64_t i) {
    return need.least + static_cast<int64_t>(random.uniform(i) * static_cast<double>(need.classes - need.least));
  });
  return need.dtype == DType::i32 ? std::move(tensor) : converted(tensor, need.dtype);
}

double value_at(const InputNeed& need, const Philox& random, uint64_t i) {
  if (need.keep) return random.uniform(i) < *need.keep ? 1 : 0;
  if (!need.padding) return random.normal(i);
  const bool valid = i == 0 || random.uniform(i) < kValid;
  return valid ? (*need.padding == 0 ? 1 : 0) : *need.padding;
}

}  // namespace

std::optional<DataSource> fitted_source(const InputNeeds& needs, const Json& source, uint64_t seed) {
  Json complete = source.is_object() ? source : Json::object();
  std::vector<int64_t> groups = groups_of_data(needs);
  const std::vector<WantedInput> inputs = wanted(needs, groups.front());
  if (!complete.contains("kind")) complete["kind"] = complete.contains("path") ? kind_of_path(inputs) : "synthetic";
  if (!complete.contains("seed")) complete["seed"] = seed;
  const SourceSpec spec = source_spec_from(complete);
  std::optional<SourceSpec> fits = fitted(spec, inputs);
  if (fits) return DataSource{std::move(*fits), std::move(groups)};
  if (spec.kind != SourceKind::synthetic)
    fail(ErrorKind::unsupported, "data of kind ", at<std::string>(complete, "kind"),
         " do not give what this program reads: ", names_of(inputs));
  return std::nullopt;
}

Inputs::Inputs(InputNeeds needs, const protocol::InputPlan& plan, uint64_t seed, SumOverRanks sum)
    : needs_(std::move(needs)), seed_(seed), pipeline_(plan.mode == InputMode::kPipeline), sum_(std::move(sum)) {
  require(needs_.place.world == 1 || sum_, "ranks of a world need a sum over all of them");
  const bool known = std::ranges::count(InputMode::kKnown, plan.mode) == 1;
  require(known, unknown_name("input mode", plan.mode.text(), texts(InputMode::kKnown)));
  if (!plan.file.empty()) {
    require(!pipeline_, "pipeline input comes from a data source, not from a file");
    file_ = from_file(plan.file, needs_);
  } else {
    open(plan.source, pipeline_);
  }
}

// Synthetic data fit what they can; the inputs of other programs are generated. As many steps are prepared ahead as the
// source is asked for batches.
void Inputs::open(const Json& source, bool pipeline) {
  Json complete = source.is_object() ? source : Json::object();
  if (!pipeline) complete["threads"] = 0;
  std::optional<DataSource> fits = fitted_source(needs_, complete, seed_);
  if (!fits) return;
  served_ = std::move(fits->groups);
  fits->spec.prefetch *= static_cast<int64_t>(served_.size());
  source_ = open_source(fits->spec);
  require_enough(fits->spec);
}

// A sample comes once in a step.
void Inputs::require_enough(const SourceSpec& spec) const {
  const auto runs = static_cast<int64_t>(served_.size()) * needs_.place.world;
  if (runs == 1 || spec.split != Split::train || !source_->size()) return;
  require(*source_->size() >= runs * needs_.batch, "a step reads ", runs, " batches of ", needs_.batch,
          " samples, the data set ", spec.path, " has ", *source_->size());
}

TensorMap Inputs::from_source(int64_t step, bool wait) {
  TensorMap batch;
  counts_.clear();
  const auto runs = static_cast<int64_t>(served_.size());
  for (int64_t run = 0; run < runs; ++run) {
    const auto [rank, world] = needs_.place;
    const int64_t group = served_[static_cast<size_t>(run)];
    const int64_t number = ((step - 1) * runs + run) * world + rank + 1;
    TensorMap part = wait ? source_->next(number) : source_->batch_at(number);
    for (const auto& [name, count] : part)
      if (name.starts_with(kCount)) counts_[name.substr(kCount.size())] += as_doubles(count).front();
    for (const InputNeed& need : needs_.inputs) {
      if (need.group != group || need.keep || !part.contains(need.base)) continue;
      HostTensor& tensor = part.at(need.base);
      check_shape(tensor, need, "data source");
      batch[need.name] = tensor.dtype() == need.dtype ? std::move(tensor) : converted(tensor, need.dtype);
    }
  }
  return batch;
}

void Inputs::add_generated(int64_t step, TensorMap& batch) const {
  for (const InputNeed& need : needs_.inputs)
    if (!batch.contains(need.name)) batch[need.name] = generated_input(need, seed_, step);
}

TensorMap Inputs::batch(int64_t step, int64_t& waited_ns) {
  waited_ns = 0;
  if (!file_.empty()) return file_;
  const int64_t began = now_ns();
  TensorMap batch = source_ ? from_source(step, pipeline_) : TensorMap{};
  if (pipeline_) waited_ns = now_ns() - began;
  add_generated(step, batch);
  add_norms(batch);
  return batch;
}

std::map<std::string, double> Inputs::counts_of_norms() const {
  std::map<std::string, double> counts;
  for (const auto& [name, numerator] : needs_.numerators) {
    const auto count = counts_.find(name.substr(name.rfind(kNormPrefix) + kNormPrefix.size()));
    if (count != counts_.end()) counts[name] = count->second;
  }
  if (needs_.place.world == 1 || counts.empty()) return counts;
  std::vector<double> values;
  for (const auto& [name, count] : counts) values.push_back(count);
  sum_(values);
  for (auto [count, value] = std::pair(counts.begin(), values.begin()); count != counts.end(); ++count, ++value)
    count->second = *value;
  return counts;
}

void Inputs::add_norms(TensorMap& batch) const {
  const std::map<std::string, double> counts = counts_of_norms();
  for (const auto& [name, norm] : needs_.norms) {
    const auto count = counts.find(name);
    batch[name] = count == counts.end() || count->second == 0
                      ? norm
                      : scalar_tensor(needs_.numerators.at(name) / count->second, norm.dtype());
  }
}

void Inputs::recycle(TensorMap batch) {
  if (!source_ || !pipeline_) return;
  for (const int64_t group : served_) {
    TensorMap part;
    for (const InputNeed& need : needs_.inputs)
      if (!need.keep && need.group == group) part[need.base] = std::move(batch[need.name]);
    source_->recycle(std::move(part));
  }
}

HostTensor generated_input(const InputNeed& need, uint64_t seed, int64_t step) {
  if (!is_float(need.dtype)) return integers(need, seed, step);
  HostTensor tensor(DType::f64, need.shape);
  draw<double>(tensor, need, seed, step, [&](const Philox& random, uint64_t i) { return value_at(need, random, i); });
  return need.dtype == DType::f64 ? std::move(tensor) : converted(tensor, need.dtype);
}

HostTensor scalar_tensor(double value, DType dtype) {
  return converted(HostTensor(DType::f64, Shape{}, std::span<const double>(&value, 1)), dtype);
}

TensorMap generated_inputs(const InputNeeds& needs, uint64_t seed, int64_t step) {
  TensorMap batch;
  for (const InputNeed& need : needs.inputs) batch[need.name] = generated_input(need, seed, step);
  return batch;
}

}  // namespace tbd
