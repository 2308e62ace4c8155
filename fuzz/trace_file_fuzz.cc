// Any bytes as a native trace. The first byte picks: 'f' a whole file; else blocks with headers and checksums that are
// right, so that fuzzing reaches their content: type, two bytes of size (little-endian), content, and so on.
#include "trace/file.h"

#include "base/files.h"
#include "trace/block.h"
#include "trace_target.h"

namespace {

std::string file_of_blocks(std::string_view rest) {
  std::string out = std::string(tbd::kTraceMagic) + std::string("\x01\0\0\0\0\0\0\0", 8);
  while (rest.size() >= 3) {
    const size_t size = static_cast<uint8_t>(rest[1]) | size_t{static_cast<uint8_t>(rest[2])} << 8;
    out += tbd::encode_block(rest[0], rest.substr(3, size), {});
    rest.remove_prefix(std::min(rest.size(), 3 + size));
  }
  return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const tbd::TemporaryFolder folder("tbd-fuzz");
  const auto path = folder.path() / "trace.tbdt";
  return tbd::fuzz::judge(data, size, [&](std::string_view bytes, tbd::Trace& trace) {
    if (bytes.empty()) return;
    tbd::write_file(path, bytes[0] == 'f' ? std::string(bytes.substr(1)) : file_of_blocks(bytes.substr(1)));
    try {
      tbd::read_index(path);
    } catch (const tbd::Error&) {
    }
    trace = tbd::read_trace(path);
  });
}
