#include "backends/mxnet/api_check.h"

#include <mxnet/c_api.h>

#include "backends/mxnet/message.h"

namespace tbd::mxnet {

void check(int status) {
  if (status != 0) throw error_of(MXGetLastError());
}

}  // namespace tbd::mxnet
