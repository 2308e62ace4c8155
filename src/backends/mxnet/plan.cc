#include "backends/mxnet/plan.h"

#include <algorithm>

#include "base/text.h"

namespace tbd::mxnet {
namespace {

constexpr std::string_view kOp = "Op:", kName = ", Name=", kOperand = "\targ[";

// "\targ[0]=conv(0) version=0" -> "conv"
std::string_view operand(std::string_view line) {
  const size_t begin = line.find('=') + 1, end = line.rfind('(');
  return begin == 0 || end == std::string_view::npos || end < begin ? "" : line.substr(begin, end - begin);
}

// The node's number for the longest name that this one begins with; -1 where there is none.
int32_t node_of(std::string_view name, const std::map<std::string, int32_t>& nodes) {
  for (size_t size = name.size(); size > 0; --size) {
    if (size < name.size() && std::string_view("_/:.").find(name[size]) == std::string_view::npos) continue;
    if (const auto found = nodes.find(std::string(name.substr(0, size))); found != nodes.end()) return found->second;
  }
  return -1;
}

}  // namespace

std::vector<PlannedOp> read_plan(std::string_view print) {
  std::vector<PlannedOp> ops;
  std::map<std::string, size_t, std::less<>> last;  // of each name so far
  bool inside = false;
  for (const std::string& line : split(print, '\n')) {
    const size_t name = line.find(kName);
    if (line.starts_with(kOp) && name != std::string::npos) {
      ops.push_back({line.substr(kOp.size(), name - kOp.size()), line.substr(name + kName.size()), {}});
      inside = true;
    } else if (line.starts_with("Variable:")) {
      inside = false;
    } else if (inside && line.starts_with(kOperand)) {
      if (const auto found = last.find(operand(line)); found != last.end()) ops.back().reads.push_back(found->second);
    } else if (line.starts_with("---")) {
      inside = false;
    }
    if (!inside && !ops.empty()) last[ops.back().name] = ops.size() - 1;
  }
  return ops;
}

int64_t planned_bytes(std::string_view print) {
  constexpr std::string_view kBefore = "Total ", kAfter = " MB allocated";
  const size_t end = print.rfind(kAfter), begin = print.rfind(kBefore, end);
  if (end == std::string_view::npos || begin == std::string_view::npos) return 0;
  const size_t digits = begin + kBefore.size();
  return parse_int(print.substr(digits, end - digits)).value_or(0) << 20;
}

std::vector<int32_t> nodes_of(const std::vector<PlannedOp>& ops, const std::map<std::string, int32_t>& nodes) {
  std::vector<int32_t> out;
  for (const PlannedOp& op : ops) out.push_back(node_of(op.name, nodes));
  const std::vector<int32_t> named = out;
  for (size_t reader = ops.size(); reader-- > 0;)  // the first reader is met last
    for (const size_t read : ops[reader].reads)
      if (named[read] < 0 && out[reader] >= 0) out[read] = out[reader];
  for (size_t i = 0; i < ops.size(); ++i)
    for (const size_t read : ops[i].reads)
      if (out[i] < 0) out[i] = out[read];
  return out;
}

PlanReader::PlanReader(const std::vector<PlannedOp>& ops) {
  for (size_t i = 0; i < ops.size(); ++i) places_[ops[i].name].push_back(static_cast<int64_t>(i));
}

int64_t PlanReader::next(std::string_view result) {
  const auto found = places_of(result);
  if (found == places_.end()) return kUnknown;
  const bool same = current_ >= 0 && found->first == current_name_ && result != last_result_;
  last_result_ = result;
  if (same) return kSameOp;
  const std::vector<int64_t>& places = found->second;
  const auto later = std::ranges::upper_bound(places, current_);
  current_ = later == places.end() ? places.front() : *later;  // the graph runs again
  current_name_ = found->first;
  return current_;
}

// By the longest name that the result begins with; of an op without a name the result is a word alone.
PlanReader::Places::const_iterator PlanReader::places_of(std::string_view result) const {
  for (size_t size = result.rfind('_'); size != std::string_view::npos && size > 0;
       size = result.rfind('_', size - 1)) {
    const auto found = places_.find(result.substr(0, size));
    if (found != places_.end()) return found;
  }
  return result.find('_') == std::string_view::npos ? places_.find("") : places_.end();
}

}  // namespace tbd::mxnet
