// The bytes of a file, plain or gzip (RFC 1952, several members one after the other), as a stream.
#pragma once
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/byte_source.h"

namespace tbd {

// Throws Error(not_found, io). A gzip stream that is cut off or damaged ends there, with `damage`; one that expands
// more than 300-fold beyond the first 64 MiB, as no trace does, throws Error(invalid).
std::unique_ptr<ByteSource> open_source(const std::filesystem::path& path);
// Over bytes in memory, plain or gzip; they must outlive it.
std::unique_ptr<ByteSource> memory_source(std::string_view bytes);

}  // namespace tbd
