#include "trace/import/step_stats_message.h"

#include "trace/import/wire.h"

namespace tbd {
namespace {

// Calls `read` with each field of the message.
template <class Read>
void each_field(std::string_view message, Read read) {
  WireReader in(message);
  for (WireField field; in.next(field);) read(field);
}

StepStatsAllocation allocation_of(std::string_view message) {
  StepStatsAllocation record;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) record.at_us = field.integer();
    if (field.number == 2) record.bytes = field.integer();
  });
  return record;
}

// AllocatorMemoryUsed
void read_allocator(std::string_view message, StepStatsNode& node) {
  StepStatsUse use;
  const size_t first = node.allocations.size();
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) use.allocator = field.bytes;
    if (field.number == 5) use.bytes = field.integer();
    if (field.number == 6 && field.type == WireField::Type::bytes)
      node.allocations.push_back(allocation_of(field.bytes));
  });
  for (size_t i = first; i < node.allocations.size(); ++i) node.allocations[i].allocator = use.allocator;
  node.in_use.push_back(use);
}

// TensorShapeProto: dimensions, each with its extent.
std::vector<int64_t> shape_of(std::string_view message) {
  std::vector<int64_t> shape;
  each_field(message, [&](const WireField& dim) {
    if (dim.number != 2 || dim.type != WireField::Type::bytes) return;
    shape.push_back(0);
    each_field(dim.bytes, [&](const WireField& field) {
      if (field.number == 1) shape.back() = field.integer();
    });
  });
  return shape;
}

// AllocationDescription
void read_allocation(std::string_view message, StepStatsOutput& output) {
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) output.requested = field.integer();
    if (field.number == 3) output.allocator = field.bytes;
    if (field.number == 4) output.allocation = field.integer();
    if (field.number == 6) output.pointer = field.value;
  });
}

// TensorDescription
void read_tensor(std::string_view message, StepStatsOutput& output) {
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) output.type = field.integer();
    if (field.number == 2) output.shape = shape_of(field.bytes);
    if (field.number == 4) read_allocation(field.bytes, output);
  });
}

// NodeOutput
StepStatsOutput output_of(std::string_view message) {
  StepStatsOutput output;
  each_field(message, [&](const WireField& field) {
    if (field.number == 1) output.slot = field.integer();
    if (field.number == 3) read_tensor(field.bytes, output);
  });
  return output;
}

StepStatsDevice device_of(std::string_view message) {
  StepStatsDevice device;
  each_field(message, [&](const WireField& field) {
    if (field.type != WireField::Type::bytes) return;
    if (field.number == 1) device.name = field.bytes;
    if (field.number == 2) device.nodes.push_back(field.bytes);
  });
  return device;
}

// Those of StepStats, or of the StepStats that a RunMetadata holds; no deeper.
void add_devices(std::string_view message, bool in_metadata, std::vector<StepStatsDevice>& devices) {
  each_field(message, [&](const WireField& field) {
    if (field.number != 1 || field.type != WireField::Type::bytes) return;
    const StepStatsDevice device = device_of(field.bytes);
    if (device.name.starts_with("/"))
      devices.push_back(device);
    else if (!in_metadata)
      add_devices(field.bytes, true, devices);
  });
}

// What stands between the parentheses behind the type.
size_t open_of(std::string_view label) {
  const size_t equals = label.find(" = ");
  return equals == std::string_view::npos ? equals : label.find('(', equals);
}

}  // namespace

std::optional<int64_t> checked_time(int64_t start, int64_t relative, int64_t unit) {
  int64_t total = 0;
  if (__builtin_add_overflow(start, relative, &total) || __builtin_mul_overflow(total, unit, &total))
    return std::nullopt;
  return total;
}

std::optional<int64_t> StepStatsNode::at(int64_t relative_us, int64_t relative_ns) const {
  if (all_start_ns != 0) return checked_time(all_start_ns, relative_ns, 1);
  return checked_time(all_start_us, relative_us, 1000);
}

void add_step_stats_devices(std::string_view message, std::vector<StepStatsDevice>& devices) {
  add_devices(message, false, devices);
}

std::vector<StepStatsDevice> step_stats_devices(std::string_view message) {
  std::vector<StepStatsDevice> devices;
  add_step_stats_devices(message, devices);
  return devices;
}

StepStatsNode step_stats_node(std::string_view message) {
  StepStatsNode node;
  each_field(message, [&](const WireField& field) {
    switch (field.number) {
      case 1:
        node.name = field.bytes;
        break;
      case 2:
        node.all_start_us = field.integer();
        break;
      case 3:
        node.op_start_us = field.integer();
        break;
      case 4:
        node.op_end_us = field.integer();
        break;
      case 6:
        read_allocator(field.bytes, node);
        break;
      case 7:
        node.outputs.push_back(output_of(field.bytes));
        break;
      case 8:
        node.label = field.bytes;
        break;
      case 10:
        node.thread = field.integer();
        break;
      case 13:
        node.all_start_ns = field.integer();
        break;
      case 14:
        node.op_start_ns = field.integer();
        break;
      case 15:
        node.op_end_ns = field.integer();
        break;
    }
  });
  return node;
}

std::string_view op_type(std::string_view label) {
  const size_t open = open_of(label);
  if (open == std::string_view::npos) return {};
  const size_t begin = label.find(" = ") + 3;
  return label.substr(begin, open - begin);
}

std::vector<std::string_view> op_inputs(std::string_view label) {
  std::vector<std::string_view> inputs;
  const size_t open = open_of(label), close = label.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return inputs;
  for (std::string_view rest = label.substr(open + 1, close - open - 1); !rest.empty();) {
    const size_t comma = rest.find(", ");
    const std::string_view input = rest.substr(0, comma);
    if (!input.empty() && input.front() != '^') inputs.push_back(input);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 2);
  }
  return inputs;
}

}  // namespace tbd
