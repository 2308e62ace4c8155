#include "measure/malloc_libraries.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

// That another one is seen is tested on workers: tests/allocators_test.cc.
TEST(MallocLibraries, AreNoneInThisProcess) { EXPECT_TRUE(malloc_libraries().empty()); }

}  // namespace
}  // namespace tbd
