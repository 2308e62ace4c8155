// For tests: what the tests of each model's oracle numbers share.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/graph.h"
#include "graph/memory.h"
#include "models/model.h"

namespace tbd::oracle {

inline Program program(const char* model, std::string_view config) {
  return find_model(model).config(config).program();
}
inline Graph one(const Program& program, std::string_view phase) {
  return bind(program, program.phase(phase), {{"N", 1}});
}

struct Work {
  int64_t macs = 0, first = 0, train_flops = 0;
};
// Of a phase for one sample; `first`: of the first layer that has any.
inline Work work(const Graph& graph) {
  Work sum;
  for (const LayerRow& row : layer_table(graph)) {
    if (sum.macs == 0) sum.first = row.forward_macs;
    sum.macs += row.forward_macs;
    sum.train_flops += row.train_flops;
  }
  return sum;
}

// "name (shape)" of each, sorted.
inline std::vector<std::string> keys(const std::vector<Parameter>& all) {
  std::vector<std::string> out;
  for (const Parameter& each : all) out.push_back(cat(each.name, " ", each.shape));
  std::ranges::sort(out);
  return out;
}
inline int64_t elements(const std::vector<Parameter>& all, std::string_view prefix = "") {
  int64_t sum = 0;
  for (const Parameter& each : all)
    if (each.name.starts_with(prefix)) sum += each.shape.elements();
  return sum;
}
inline const Parameter& parameter(const Program& program, std::string_view name) {
  return *std::ranges::find(program.parameters, name, &Parameter::name);
}
inline void expect_uniform(const Program& program, std::string_view name, double bound) {
  const Init init = parameter(program, name).init;
  EXPECT_EQ(init.kind, Init::Kind::uniform) << name;
  EXPECT_DOUBLE_EQ(init.a, bound) << name;
}

}  // namespace tbd::oracle
