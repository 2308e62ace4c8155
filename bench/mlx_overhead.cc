// What the MLX back-end and MLX's listing of ops cost in a ResNet-50 step: the time of its thread outside of `eval`,
// which alone computes. Building the arrays of a step is MLX's work as well, so this is more than our own.
#include <mlx/array.h>

#include "own_time.h"

// mlx::core::eval(std::vector<array>)
TBD_TIMED(void, _ZN3mlx4core4evalESt6vectorINS0_5arrayESaIS2_EE, (std::vector<mlx::core::array> outputs),
          (std::move(outputs)))

int main(int argc, char** argv) { return tbd::bench::own_time(argc, argv, tbd::ImageLayout::kNhwc); }
