#include "base/out_of_memory.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

TEST(OutOfMemory, IsRecognisedInMessagesOfFrameworks) {
  for (const char* message : {"DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes", "Out of memory",
                              "DefaultCPUAllocator: can't allocate memory", "OSError: Cannot allocate memory",
                              "terminate called after throwing an instance of 'std::bad_alloc'"}) {
    EXPECT_TRUE(says_out_of_memory(message)) << message;
    EXPECT_TRUE(may_say_out_of_memory(message)) << message;
  }
}

TEST(OutOfMemory, IsOnlyLikelyWhereWordsHaveOtherCausesToo) {
  for (const char* message : {"libgomp: Thread creation failed: Resource temporarily unavailable", "MemoryError",
                              "Thread GrpcWorkerEnvPool creation via pthread_create() failed.",
                              "could not create a primitive", "failed to map segment from shared object"}) {
    EXPECT_FALSE(says_out_of_memory(message)) << message;
    EXPECT_TRUE(may_say_out_of_memory(message)) << message;
  }
}

TEST(OutOfMemory, IsNotToldByOtherMessages) {
  EXPECT_FALSE(may_say_out_of_memory("The size of tensor a (3) must match the size of tensor b (4)"));
}

}  // namespace
}  // namespace tbd
