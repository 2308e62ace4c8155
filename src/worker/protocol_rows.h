// Step rows as they travel in protocol::Steps: arrays in the order of steps.csv's columns, unknown as null.
#pragma once
#include <span>
#include <vector>

#include "record/record.h"
#include "worker/protocol.h"

namespace tbd::protocol {

Steps pack(std::span<const StepRow> rows);
std::vector<StepRow> unpack(const Steps& steps);  // throws Error(invalid) on a row of another form

}  // namespace tbd::protocol
