#include "backends/pytorch/shards.h"

#include <algorithm>
#include <set>

namespace tbd::pytorch {

std::vector<int64_t> Shards::owners_of(const std::vector<std::string>& parameters) const {
  std::vector<int64_t> out;
  for (const std::string& name : parameters) out.push_back(owners.at(name));
  return out;
}

std::vector<std::string> trained_parameters(const Program& program) {
  std::set<std::string> trained;
  for (const Phase& phase : program.phases)
    for (const ParameterGroup& group : phase.update.groups)
      trained.insert(group.parameters.begin(), group.parameters.end());
  std::vector<std::string> out;
  for (const Parameter& parameter : program.parameters)
    if (trained.contains(parameter.name)) out.push_back(parameter.name);
  return out;
}

std::map<std::string, int64_t> share_out(const Program& program, int64_t ranks) {
  std::map<std::string, int64_t> bytes;
  for (const Parameter& each : program.parameters) bytes[each.name] = each.shape.elements() * size_of(each.dtype);
  std::vector<std::string> names = trained_parameters(program);
  std::ranges::stable_sort(names, std::greater(), [&](const std::string& name) { return bytes.at(name); });
  std::vector<int64_t> held(static_cast<size_t>(ranks));
  std::map<std::string, int64_t> owners;
  for (const std::string& name : names) {
    const auto least = std::ranges::min_element(held);
    *least += bytes.at(name);
    owners[name] = least - held.begin();
  }
  return owners;
}

}  // namespace tbd::pytorch
