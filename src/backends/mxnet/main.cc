#include <cstdlib>

#include "backends/mxnet/exchange.h"
#include "worker/worker_main.h"

int main(int argc, char** argv) {
  if (const auto code = tbd::mxnet::serve({argv, argv + argc})) std::_Exit(*code);
  return tbd::worker_main(tbd::make_session);
}
