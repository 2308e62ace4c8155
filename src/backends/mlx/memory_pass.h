// Pass memory: who holds which bytes, as far as MLX lets it be known (evidence `plan`). What the state and the inputs
// take is exact, by role. All else of a step is one block of the class `planned`, as large as MLX's count of bytes was
// at most beyond these.
#pragma once
#include <map>
#include <set>
#include <string>

#include "backends/mlx/weights.h"
#include "measure/memory_ledger.h"

namespace tbd::mlx {

class MemoryWatch {
 public:
  explicit MemoryWatch(MemoryLedger& ledger);
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  void owns(const Weights& weights);
  // Of the staged batch, by name: told once, since a later batch has the same sizes.
  void stages(const std::map<std::string, array>& inputs);
  void begin_step(int64_t number);
  void end_step();

 private:
  void tell(MemoryLedger::Handle handle, size_t bytes, MemoryClass kind);

  MemoryLedger& ledger_;
  std::set<std::string> inputs_;
  int64_t owned_ = 0;
  int64_t begun_ns_ = 0;
};

}  // namespace tbd::mlx
