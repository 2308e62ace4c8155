#include "worker/inputs.h"

#include <algorithm>

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
    require(value >= static_cast<double>(need.least) && value < static_cast<double>(need.classes), where, ": input '",
            need.name, "' holds ", value, ", the program takes ", need.least, " to ", need.classes - 1);
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

bool is_square_image(const Shape& shape) { return shape.rank() == 4 && shape[1] == 3 && shape[2] == shape[3]; }

}  // namespace

Inputs::Inputs(InputNeeds needs, const protocol::InputPlan& plan, uint64_t seed)
    : needs_(std::move(needs)), seed_(seed), pipeline_(plan.mode == "pipeline") {
  const std::vector<std::string> modes = {"resident", "pipeline"};
  require(std::ranges::count(modes, plan.mode) == 1, unknown_name("input mode", plan.mode, modes));
  if (!plan.file.empty()) {
    require(!pipeline_, "pipeline input comes from a data source, not from a file");
    file_ = from_file(plan.file, needs_);
  } else {
    open(plan.source, pipeline_);
  }
}

bool Inputs::reads_images() const {
  const bool known = std::ranges::all_of(needs_.inputs, [](const InputNeed& need) {
    return need.keep || (need.base == "image" && is_square_image(need.shape)) ||
           (need.base == "label" && need.shape.rank() == 1);
  });
  return known && std::ranges::any_of(needs_.inputs, [](const InputNeed& need) { return need.base == "image"; });
}

void Inputs::open(const Json& source, bool pipeline) {
  const bool folder = source.is_object() && maybe<std::string>(source, "kind").value_or("synthetic") != "synthetic";
  if (!reads_images()) {
    if (folder)
      fail(ErrorKind::unsupported, "a folder of images gives 'image' and 'label'; this program reads other inputs");
    return;
  }
  Json complete = source.is_object() ? source : Json::object();
  if (!complete.contains("kind")) complete["kind"] = "synthetic";
  if (!complete.contains("seed")) complete["seed"] = seed_;
  if (!pipeline) complete["threads"] = 0;
  SourceSpec spec = source_spec_from(complete);
  for (const InputNeed& need : needs_.inputs) {
    if (need.base == "image") spec.batch = need.shape[0], spec.image_size = need.shape[2];
    if (need.base == "label") spec.classes = need.classes;
  }
  source_ = open_source(spec);
}

TensorMap Inputs::from_source(int64_t step, bool wait) {
  TensorMap batch;
  for (int64_t group = 0; group < needs_.groups; ++group) {
    const int64_t number = (step - 1) * needs_.groups + group + 1;
    TensorMap part = wait ? source_->next(number) : source_->batch_at(number);
    for (const InputNeed& need : needs_.inputs) {
      if (need.group != group || need.keep) continue;
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
  for (const auto& [name, norm] : needs_.norms) batch[name] = norm;
  return batch;
}

void Inputs::recycle(TensorMap batch) {
  if (!source_ || !pipeline_ || needs_.groups != 1) return;
  TensorMap part;
  for (const InputNeed& need : needs_.inputs)
    if (need.base == "image" || need.base == "label") part[need.base] = std::move(batch[need.name]);
  source_->recycle(std::move(part));
}

}  // namespace tbd
