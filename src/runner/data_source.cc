#include "runner/data_source.h"

#include <algorithm>

#include "base/json.h"
#include "models/model.h"

namespace tbd {
namespace {

// nullptr for a network that is not ours. A program of ours that a person changed keeps its model's.
const Config* config_of(const Program& program) {
  const auto model = std::ranges::find(all_models(), program.model, &Model::name);
  if (model == all_models().end()) return nullptr;
  const auto config = std::ranges::find(model->configs, program.config, &Config::name);
  return config == model->configs.end() ? &model->configs.front() : &*config;
}

}  // namespace

Json data_source(const Program& program, uint64_t seed) {
  Json source = {{"seed", seed}};
  const Config* config = config_of(program);
  if (!config) return source;
  if (!config->text.empty()) source["text"] = {{"conventions", config->text}};
  if (!config->detection.empty()) source["detection"] = {{"conventions", config->detection}};
  return source;
}

}  // namespace tbd
