// What a number of a record rests on: one fact a line, in the order in which a person would redo it.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "analysis/table.h"

namespace tbd {

struct Fact {
  std::string what;
  TableCell value;   // with all its digits
  std::string unit;  // "s", "ns", "FLOP/s"; may be empty
  std::string from;  // the file and key, or the formula that joins the facts above it
};
using Facts = std::vector<Fact>;

template <class T>
TableCell known(const std::optional<T>& value) {
  return value ? TableCell(*value) : TableCell(std::string("unknown"));
}

}  // namespace tbd
