#include "runner/weights_file.h"

#include <algorithm>

#include "base/text.h"
#include "models/model.h"
#include "record/safetensors.h"

namespace tbd {
namespace {

constexpr std::string_view kCounter = "num_batches_tracked";  // of the reference's; no network reads it

void require_same(const TensorMap& weights, const std::vector<Parameter>& wanted, const std::string& where,
                  const std::string& network) {
  for (const Parameter& parameter : wanted) {
    const auto found = weights.find(parameter.name);
    require(found != weights.end(), where, " holds the weights of another network: '", parameter.name, "' ",
            parameter.shape, " of ", network, " is missing");
    require(found->second.shape() == parameter.shape, where, " holds the weights of another network: '", parameter.name,
            "' has shape ", found->second.shape(), ", ", network, " needs ", parameter.shape);
    require(is_float(found->second.dtype()) == is_float(parameter.dtype), where, ": '", parameter.name, "' is ",
            name(found->second.dtype()), ", ", network, " needs ", name(parameter.dtype));
  }
}

// Tensors of a file by the names that they have now; `renamed` is set where one had another.
TensorMap read_weights(const std::filesystem::path& file, const Program& program, bool& renamed) {
  TensorMap weights = read_safetensors(file);
  const auto model = std::ranges::find(all_models(), program.model, &Model::name);
  if (model == all_models().end() || !model->current_name) return weights;
  TensorMap named;
  for (auto& [name, tensor] : weights) {
    const std::string now = model->current_name(name);
    renamed = renamed || now != name;
    require(named.emplace(now, std::move(tensor)).second, file.string(), ": '", now, "' under two names");
  }
  return named;
}

}  // namespace

std::filesystem::path with_current_names(const std::filesystem::path& file, const Program& program,
                                         const std::filesystem::path& scratch) {
  bool renamed = false;
  const TensorMap weights = read_weights(file, program, renamed);
  if (!renamed) return std::filesystem::absolute(file);
  write_safetensors(scratch / "given.safetensors", weights);
  return scratch / "given.safetensors";
}

void check_weights(const std::filesystem::path& file, const Program& program, const std::string& network) {
  bool renamed = false;
  const TensorMap weights = read_weights(file, program, renamed);
  require_same(weights, program.parameters, file.string(), network);
  require_same(weights, program.buffers, file.string(), network);
  std::vector<std::string> known;
  for (const Parameter& parameter : program.parameters) known.push_back(parameter.name);
  for (const Parameter& buffer : program.buffers) known.push_back(buffer.name);
  for (const auto& [name, tensor] : weights)
    if (!name.ends_with(kCounter) && std::ranges::find(known, name) == known.end())
      fail(ErrorKind::invalid, file.string(), ": ", unknown_name("weight", name, known));
}

void write_public_weights(const std::filesystem::path& from, const std::filesystem::path& to) {
  constexpr std::string_view kState = "state/", kAverage = "/ema";
  TensorMap named, averages;
  for (auto& [name, tensor] : read_safetensors(from)) {
    const bool state = name.starts_with(kState);
    if (state && name.ends_with(kAverage))
      averages[name.substr(kState.size(), name.size() - kState.size() - kAverage.size())] = std::move(tensor);
    else if (!state)
      named[name.substr(name.find('/') + 1)] = std::move(tensor);
  }
  for (auto& [name, tensor] : averages) named[name] = std::move(tensor);
  write_safetensors(to, named);
}

}  // namespace tbd
