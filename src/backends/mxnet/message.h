// MXNet's error messages carry time stamps, source lines and stack traces; people get the one sentence inside.
#pragma once
#include <string>
#include <string_view>

#include "base/error.h"

namespace tbd::mxnet {

// "MXNetError: Error in operator conv1: [15:04:05] ../src/x.cc:99: Check failed: ...\nStack trace: ..." -> the words
// without stamps, paths and traces, in one line.
std::string sentence_of(std::string_view message);
// Names memory as the cause in words the worker knows (worker/loop.h) where a message speaks of it.
Error error_of(std::string_view message);

}  // namespace tbd::mxnet
