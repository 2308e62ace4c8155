// What the back-end's tests share, beside what all back-ends' do.
#pragma once
#include <gmock/gmock.h>

#include "backend_suite/support.h"
#include "backends/tensorflow/session.h"
#include "toy_programs.h"

namespace tbd::tensorflow {

using Vector = std::vector<double>;

}  // namespace tbd::tensorflow
