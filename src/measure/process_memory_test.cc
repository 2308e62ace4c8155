#include "measure/process_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tbd {
namespace {

TEST(ProcessMemory, PartsAddUp) {
  const auto memory = process_memory();
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->resident_bytes, memory->anonymous_bytes + memory->file_bytes);
  EXPECT_GT(memory->file_bytes, 0);
}

TEST(ProcessMemory, SeesCodeThatIsMade) {
  const int64_t page = sysconf(_SC_PAGESIZE), before = process_memory()->made_code_bytes;
  auto* code = static_cast<char*>(mmap(nullptr, static_cast<size_t>(8 * page), PROT_READ | PROT_WRITE | PROT_EXEC,
                                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (code == MAP_FAILED) GTEST_SKIP() << "this system maps nothing that can be written and executed";
  code[0] = code[3 * page] = 1;
  EXPECT_EQ(process_memory()->made_code_bytes - before, 2 * page);
  munmap(code, static_cast<size_t>(8 * page));
}

TEST(ProcessMemory, TouchedPagesAreResident) {
  const int64_t page = sysconf(_SC_PAGESIZE), bytes = 8 * page;
  auto* block = static_cast<char*>(
      mmap(nullptr, static_cast<size_t>(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(block, MAP_FAILED);
  madvise(block, static_cast<size_t>(bytes), MADV_NOHUGEPAGE);
  EXPECT_EQ(resident_bytes(block, bytes), 0);
  block[0] = block[3 * page] = 1;
  EXPECT_EQ(resident_bytes(block, bytes), 2 * page);
  EXPECT_EQ(resident_bytes(block + 100, bytes - 100), 2 * page - 100);
  EXPECT_EQ(resident_bytes(block, 10), 10);
  munmap(block, static_cast<size_t>(bytes));
}

}  // namespace
}  // namespace tbd
