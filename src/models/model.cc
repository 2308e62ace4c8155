#include "models/model.h"

#include <algorithm>
#include <filesystem>

#include "base/files.h"

namespace tbd {
namespace {

constexpr int64_t kMostProgramBytes = int64_t{256} << 20;  // two million nodes

template <class Named>
const Named& find_named(const std::vector<Named>& all, std::string_view what, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found != all.end()) return *found;
  std::vector<std::string> known;
  for (const Named& each : all) known.push_back(each.name);
  fail(ErrorKind::not_found, unknown_name(what, name, known));
}

bool is_program_file(const std::string& text) {
  const bool ours = std::ranges::find(all_models(), text, &Model::name) != all_models().end();
  return !ours &&
         (text.ends_with(".json") || text.find('/') != std::string::npos || std::filesystem::is_regular_file(text));
}

// The model whose program this is, by hash: a changed copy is not ours.
const Model* model_of(const Program& program) {
  for (const Model& model : all_models()) {
    if (model.name != program.model) continue;
    for (const Config& config : model.configs)
      if (config.name == program.config && program_hash(config.program()) == program_hash(program)) return &model;
  }
  return nullptr;
}

LoadedProgram load_file(const std::string& path, std::string_view config) {
  Program program = read_program(read_file(path, kMostProgramBytes), path);
  if (!config.empty() && config != program.config)
    fail(ErrorKind::usage, path, " holds config '", program.config, "', not '", config, "'");
  try {
    validate(program, {{"N", 2}});
  } catch (const Error& e) {
    throw e.within(path);
  }
  const Model* model = model_of(program);
  return {std::move(program), model};
}

}  // namespace

const std::vector<Model>& all_models() {
  static const std::vector<Model> models = model_files();
  return models;
}

const Config& Model::config(std::string_view wanted) const {
  if (wanted.empty()) return configs.front();
  return find_named(configs, cat("config of ", name), wanted);
}

const Model& find_model(std::string_view name) { return find_named(all_models(), "model", name); }

LoadedProgram load_program(const std::string& name_or_path, std::string_view config) {
  if (is_program_file(name_or_path)) return load_file(name_or_path, config);
  const Model& model = find_model(name_or_path);
  return {model.config(config).program(), &model};
}

}  // namespace tbd
