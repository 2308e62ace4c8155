#include "runner/equivalence/reproduction.h"

#include <algorithm>
#include <cctype>

#include "base/files.h"
#include "base/json.h"
#include "record/safetensors.h"
#include "runner/equivalence/equivalence.h"
#include "runner/equivalence/script.h"

namespace tbd {
namespace {

// Letters, digits, '.', '_' and '-'.
std::string file_name(std::string text) {
  for (char& c : text)
    if (!std::isalnum(static_cast<unsigned char>(c)) && c != '.' && c != '_' && c != '-') c = '-';
  return text;
}

TensorMap judged_of(const TensorMap& tensors, const NodeCase& node) {
  TensorMap out;
  for (const std::string& name : node.judged)
    if (const auto found = tensors.find(name); found != tensors.end()) out[name] = found->second;
  return out;
}

TensorMap without_kind(const TensorMap& weights) {
  TensorMap out;
  for (const auto& [name, tensor] : weights) out[name.substr(name.find('/') + 1)] = tensor;
  return out;
}

}  // namespace

std::string write_reproduction(const std::filesystem::path& parent, const Subject& subject, const NodeProgram& nodes,
                               const Finding& finding, const NodeReference& reference, const TensorMap& got) {
  const auto node = std::ranges::find_if(
      nodes.cases, [&](const NodeCase& each) { return finding.where == cat(each.kind, " '", each.node, "'"); });
  require(node != nodes.cases.end(), "no case of ", finding.where);
  const NodeProgram one = only(nodes, *node);
  const std::filesystem::path folder = parent / file_name(cat(subject.framework, "-", node->node));
  make_folder(folder);
  TensorMap operands = without_kind(one.weights);
  operands.insert(one.inputs.begin(), one.inputs.end());
  write_file_atomic(folder / "program.json", to_json(one.program).dump(1) + "\n");
  write_safetensors(folder / "operands.safetensors", operands);
  write_safetensors(folder / "expected.safetensors", judged_of(reference.exact, *node));
  write_safetensors(folder / "got.safetensors", judged_of(got, *node));
  write_file_atomic(folder / "reproduce.py", reproduction_script(subject, one, finding));
  return folder.string();
}

}  // namespace tbd
