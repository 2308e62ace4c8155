// For the files that call MXNet's C API: api*.cc.
#pragma once

namespace tbd::mxnet {

// Throws Error with MXNet's last message where a call's status says that it failed.
void check(int status);

}  // namespace tbd::mxnet
