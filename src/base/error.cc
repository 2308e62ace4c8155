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

}  // namespace tbd
