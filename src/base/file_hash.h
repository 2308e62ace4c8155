// The SHA-256 of a file's content.
#pragma once
#include <filesystem>
#include <string>

namespace tbd {

std::string sha256_of_file(const std::filesystem::path& path);  // streams; throws Error like read_file

}  // namespace tbd
