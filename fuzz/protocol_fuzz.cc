// A line from either side is a message or an Error, whatever it holds; what is accepted is written and read back alike.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "worker/protocol.h"
#include "worker/protocol_rows.h"

namespace {

template <class Read>
void try_line(std::string_view line, const Read& read) {
  try {
    const std::string once = tbd::protocol::to_line(read(line));
    if (tbd::protocol::to_line(read(once)) != once) std::abort();
  } catch (const tbd::Error&) {  // the line is refused with a sentence
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view line(reinterpret_cast<const char*>(data), size);
  try_line(line, [](std::string_view text) { return tbd::protocol::request_from(text); });
  try_line(line, [](std::string_view text) {
    const tbd::protocol::Message message = tbd::protocol::message_from(text);
    if (const auto* steps = std::get_if<tbd::protocol::Steps>(&message)) (void)tbd::protocol::unpack(*steps);
    return message;
  });
  return 0;
}
