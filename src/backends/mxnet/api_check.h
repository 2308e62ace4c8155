// For the files that call MXNet's C API: api*.cc.
#pragma once
#include <string>

namespace tbd::mxnet {

class Array;

// Throws Error with MXNet's last message where a call's status says that it failed.
void check(int status);

// To whom observe_calls has given: an op was queued, as MXNet's profiler names it, and its first result.
void tell(const std::string& op, const Array& result);

}  // namespace tbd::mxnet
