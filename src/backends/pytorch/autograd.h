// torch's engine of gradients. Only autograd.cc includes torch's header of it, which takes seconds to compile.
#pragma once
#include <vector>

namespace at {
class Tensor;
}

namespace tbd::pytorch {

// Adds the gradients of `roots`, whose own are `upstream`, to the leaves' that require one.
void run_backward(const std::vector<at::Tensor>& roots, const std::vector<at::Tensor>& upstream);
// d sum(y) / d x, with a graph of its own so that the loss can be differentiated through it.
at::Tensor input_gradient(const at::Tensor& y, const at::Tensor& x);

}  // namespace tbd::pytorch
