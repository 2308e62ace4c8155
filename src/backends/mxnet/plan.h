// What MXNet says of an executor: Executor::plan() read.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tbd::mxnet {

// An op of the graph that MXNet runs, backward ops included, in the order in which it queues them. Names need not
// differ: every sum of gradients is a "sum_grad".
struct PlannedOp {
  std::string op, name;
  std::vector<size_t> reads;  // earlier ops
};
std::vector<PlannedOp> read_plan(std::string_view print);

// What MXNet allocates for results, kept and passing, of all of them together: whole MiB, rounded down.
int64_t planned_bytes(std::string_view print);

// The node of each op, -1 where none is known, given the numbers of nodes by name. Ops bear the names of their nodes,
// behind which come '/' and a part, "_backward" and other words of MXNet's; an op without such a name, as a sum of
// gradients, is its first reader's, or else that of the first op it reads.
std::vector<int32_t> nodes_of(const std::vector<PlannedOp>& ops, const std::map<std::string, int32_t>& nodes);

// Tells whose result was queued: the ops of a plan come one after the other, those that need not run are left out.
class PlanReader {
 public:
  explicit PlanReader(const std::vector<PlannedOp>& ops);
  static constexpr int64_t kSameOp = -1, kUnknown = -2;
  // The op's place in the plan; kSameOp for further results of the op told last. `result` is "<op's name>_<word>", or
  // the word where the op has no name, as the gradient of add_n.
  int64_t next(std::string_view result);

 private:
  using Places = std::map<std::string, std::vector<int64_t>, std::less<>>;
  Places::const_iterator places_of(std::string_view result) const;

  Places places_;
  std::string_view current_name_;
  std::string last_result_;
  int64_t current_ = -1;
};

}  // namespace tbd::mxnet
