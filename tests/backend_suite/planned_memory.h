// What pass memory tells of ResNet-50 where the framework tells of no allocation (worker/planned_memory.h).
#pragma once
#include <gtest/gtest.h>

#include "backend_suite/support.h"
#include "graph/passes.h"
#include "measure/memory_ledger.h"
#include "models/model.h"

namespace tbd {

struct MemoryRun {
  MemoryTotals live{};
  int64_t peak_bytes = 0;
  MemoryLog log;
  int64_t of(MemoryClass kind) const { return live[static_cast<size_t>(kind)]; }
};

inline MemoryRun after_steps(const Program& program, int64_t steps) {
  MemoryLedger ledger(node_names(program));
  LoadOptions options = load_options({.capture = false});
  options.ledger = &ledger;
  auto session = make_session();
  session->load(program, options);
  session->write(initial_weights(program));
  session->stage(random_batch(program));
  for (int64_t step = 1; step <= steps; ++step) session->step(at_step(step));
  return {ledger.live(), ledger.peak_bytes(), ledger.log()};
}

inline int64_t bytes_of(const std::vector<Parameter>& parameters) {
  int64_t bytes = 0;
  for (const Parameter& p : parameters) bytes += p.shape.elements() * size_of(p.dtype);
  return bytes;
}

// `keeps` it from step to step, or frees it with each.
inline void expect_state_by_role_and_the_rest_as_one_block(bool keeps) {
  const Program program = with_precision(find_model("resnet50").config("tiny").program(), Precision::kFp32);
  const MemoryRun none = after_steps(program, 0), two = after_steps(program, 2);
  EXPECT_EQ(two.of(MemoryClass::weight), bytes_of(program.parameters));
  EXPECT_EQ(two.of(MemoryClass::optimizer_state), bytes_of(program.parameters));  // momentum
  EXPECT_EQ(two.of(MemoryClass::auxiliary), bytes_of(program.buffers));
  EXPECT_GT(two.of(MemoryClass::input), 4 * 3 * 4);
  if (keeps) {
    EXPECT_GT(two.of(MemoryClass::planned), bytes_of(program.parameters)) << "between steps";
  } else {
    EXPECT_EQ(two.of(MemoryClass::planned), 0) << "between steps";
    EXPECT_EQ(two.log.blocks.size(), none.log.blocks.size() + 2);
  }
  EXPECT_GT(two.peak_bytes, none.peak_bytes + bytes_of(program.parameters)) << "gradients and feature maps";
  EXPECT_EQ(two.log.evidence, MemoryEvidence::plan);
}

}  // namespace tbd
