#include "runner/data_source.h"

#include <algorithm>

#include "base/json.h"
#include "models/model.h"

namespace tbd {
namespace {

// Empty for a network that is not ours. A program of ours that a person changed keeps its model's.
std::string text_of(const Program& program) {
  const auto model = std::ranges::find(all_models(), program.model, &Model::name);
  if (model == all_models().end()) return "";
  const auto config = std::ranges::find(model->configs, program.config, &Config::name);
  return config == model->configs.end() ? model->configs.front().text : config->text;
}

}  // namespace

Json data_source(const Program& program, uint64_t seed) {
  Json source = {{"seed", seed}};
  const std::string text = text_of(program);
  if (!text.empty()) source["text"] = {{"conventions", text}};
  return source;
}

}  // namespace tbd
