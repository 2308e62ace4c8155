// Any bytes are a set of tensors or one Error, and what is read is written and read back the same.
#include "record/safetensors.h"

#include <cstdlib>

#include "base/files.h"

using tbd::Error, tbd::TensorMap;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tbd::TemporaryFolder folder("tbd-fuzz");
  const auto path = folder.path() / "input.safetensors";
  tbd::write_file(path, {reinterpret_cast<const char*>(data), size});
  TensorMap tensors;
  try {
    tensors = tbd::read_safetensors(path);
  } catch (const Error&) {
    return 0;
  }
  tbd::write_safetensors(path, tensors);
  const std::string once = tbd::read_file(path);
  tbd::write_safetensors(path, tbd::read_safetensors(path));
  if (tbd::read_file(path) != once) std::abort();
  return 0;
}
