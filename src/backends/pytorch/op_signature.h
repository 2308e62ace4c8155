// An op's name and arguments: written as raw bytes while it runs, read and spelled afterwards.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace at {
struct RecordFunction;
}

namespace tbd::pytorch {

// Appends the function's name and, where it was asked for them, its arguments' types and shapes to `bytes`. Equal bytes
// say equal ops. Never throws but for want of memory.
void write_signature(const at::RecordFunction& function, std::vector<char>& bytes);

// As OpDetail has them (trace/event.h): types by c10's names ("float", "c10::BFloat16"), "Scalar", "ScalarList" and
// "TensorList", whose shapes are a list of their own; "" for all else.
struct OpSignature {
  std::string name, shapes, types;
  std::string math;  // the math type of a matrix-like op, by its first tensor: "fp32"; empty for all others
};
OpSignature read_signature(std::string_view bytes);

}  // namespace tbd::pytorch
