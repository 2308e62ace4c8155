// Which malloc this process has: the C library's, or that of a library which LD_PRELOAD or a framework brings.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace tbd {

// The loaded libraries that take the place of the C library's malloc, by the names of their files, in the order of
// loading: the first one answers. Empty: malloc is the C library's, and mallinfo2 counts it.
std::vector<std::string> malloc_libraries();

// Bytes that the C library's heap has handed out to all threads and not got back (mallinfo2).
int64_t c_heap_bytes();

}  // namespace tbd
