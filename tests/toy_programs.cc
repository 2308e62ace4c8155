#include "toy_programs.h"

#include "toy_parts.h"

namespace tbd {

std::vector<std::pair<std::string, Program>> toy_programs() {
  using namespace toys;
  std::vector<std::pair<std::string, Program>> out;
  for (Program program : {mlp20(), conv_forms(), norms(), elementwise(), tied(), frozen(), host_labels(), penalty(),
                          tokens(), recurrent(), speech(), growing(), boxes(), regions()})
    out.emplace_back(program.config, std::move(program));
  return out;
}

Program toy_program(std::string_view name) {
  std::vector<std::string> known;
  for (auto& [each, program] : toy_programs()) {
    if (each == name) return program;
    known.push_back(each);
  }
  fail(ErrorKind::not_found, unknown_name("toy program", name, known));
}

}  // namespace tbd
