// Tensors in files: the safetensors format, https://huggingface.co/docs/safetensors (8-byte little-endian header
// length, JSON header, then the bytes, without holes). dtypes F64 F32 BF16 F16 I64 I32 U8 BOOL.
#pragma once
#include <filesystem>

#include "base/tensor.h"

namespace tbd {

// Throws Error(invalid) with one sentence that names the file, and the tensor where one is at fault: a header that is
// cut off, longer than 100 MB or no JSON; an unknown dtype; offsets that overlap, leave holes, pass the end of the
// file or disagree with the shape; a name that occurs twice. Error(not_found or io) when the file cannot be read.
TensorMap read_safetensors(const std::filesystem::path& path);

// The same tensors give the same bytes: wide elements first, then by name. Written as by replace_file.
void write_safetensors(const std::filesystem::path& path, const TensorMap& tensors);
// The same in the file that is there, whose places on the disk stay: for files that processes hand to each other again
// and again. Whoever reads meanwhile may see half of it.
void overwrite_safetensors(const std::filesystem::path& path, const TensorMap& tensors);

}  // namespace tbd
