#include "base/error.h"

namespace tbd {

std::string_view name(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid:
      return "invalid";
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::not_found:
      return "not_found";
    case ErrorKind::io:
      return "io";
    case ErrorKind::unsupported:
      return "unsupported";
    case ErrorKind::internal:
      return "internal";
  }
  return "internal";
}

Error Error::within(std::string_view context) const { return Error(kind_, cat(context, ": ", what())); }

void throw_error(ErrorKind kind, std::initializer_list<TextPart> parts) {
  std::string sentence = joined(parts);
  for (size_t at = sentence.find('\0'); at != std::string::npos; at = sentence.find('\0', at))
    sentence.replace(at, 1, "\\x00");  // what() would end there
  throw Error(kind, sentence);
}

}  // namespace tbd
