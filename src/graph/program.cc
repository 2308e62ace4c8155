#include "graph/program.h"

#include <algorithm>
#include <set>

#include "base/hash.h"
#include "base/json.h"

namespace tbd {
namespace {

// Runs that read a batch of their own.
int64_t batches(const Program& program, const StepEntry& entry) {
  return program.phase(entry.phase).accumulate * (entry.fresh_inputs ? entry.repeat : 1);
}

}  // namespace

std::vector<std::string> Phase::wrt() const {
  std::vector<std::string> out;
  for (const ParameterGroup& group : update.groups)
    out.insert(out.end(), group.parameters.begin(), group.parameters.end());
  return out;
}

const Phase& Program::phase(std::string_view name) const {
  const auto found = std::ranges::find(phases, name, &Phase::name);
  if (found != phases.end()) return *found;
  std::vector<std::string> known;
  for (const Phase& each : phases) known.push_back(each.name);
  fail(ErrorKind::not_found, unknown_name("phase", name, known));
}

std::string program_hash(const Program& program) {
  Json json = to_json(program);
  json.erase("model");
  json.erase("config");
  const nlohmann::json sorted = nlohmann::json::parse(json.dump());  // its objects order their keys
  return sha256_hex(sorted.dump()).substr(0, 16);
}

std::string input_name(const Program& program, const StepEntry& entry, int64_t run, const std::string& input) {
  const int64_t count = batches(program, entry);
  return count == 1 ? input : cat(entry.phase, ".", run % count, "/", input);
}

std::vector<std::string> node_names(const Program& program) {
  std::vector<std::string> names;
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes)
      names.push_back(program.phases.size() == 1 ? node.name : cat(phase.name, "/", node.name));
  return names;
}

std::map<std::string, int32_t> first_readers(const Program& program) {
  std::map<std::string, int32_t> readers;
  int32_t number = 0;
  for (const Phase& phase : program.phases)
    for (const Node& node : phase.nodes) {
      for (const std::string& input : node.inputs) readers.try_emplace(input, number);
      ++number;
    }
  return readers;
}

std::vector<StepInput> step_inputs(const Program& program) {
  std::vector<StepInput> out;
  std::set<std::string> seen;
  for (const StepEntry& entry : program.step) {
    const Phase& phase = program.phase(entry.phase);
    for (int64_t run = 0; run < batches(program, entry); ++run)
      for (const InputSpec& input : phase.inputs) {
        std::string name = input_name(program, entry, run, input.name);
        if (seen.insert(name).second) out.push_back({std::move(name), phase.name, run, &input});
      }
  }
  return out;
}

std::vector<std::string> convolution_weights(const Program& program) {
  std::set<std::string> out;
  for (const Phase& phase : program.phases) {
    std::map<std::string, std::string> cast_of;
    for (const Node& node : phase.nodes) {
      if (std::holds_alternative<Cast>(node.op)) cast_of[node.name] = node.inputs.at(0);
      if (!std::holds_alternative<Conv2d>(node.op) && !std::holds_alternative<ConvTranspose2d>(node.op)) continue;
      const auto cast = cast_of.find(node.inputs.at(1));
      out.insert(cast == cast_of.end() ? node.inputs.at(1) : cast->second);
    }
  }
  return {out.begin(), out.end()};
}

}  // namespace tbd
