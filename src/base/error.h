// One error type, thrown where the fault is known, given its context in one place.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

#include "base/text.h"

namespace tbd {

enum class ErrorKind {
  invalid,      // a value that breaks a contract: a bad graph, a malformed file
  usage,        // the person's command line or plan
  not_found,    // a name or file that does not exist
  io,           // the system refused: permission, full disk, broken pipe
  unsupported,  // well-formed, but this build, framework or version cannot do it
  internal,     // a bug of tbd
};
std::string_view name(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& sentence) : std::runtime_error(sentence), kind_(kind) {}
  ErrorKind kind() const { return kind_; }
  // The same error with "context: " before its sentence.
  Error within(std::string_view context) const;

 private:
  ErrorKind kind_;
};

[[noreturn]] void throw_error(ErrorKind kind, std::initializer_list<TextPart> parts);
template <class... Parts>
[[noreturn]] void fail(ErrorKind kind, const Parts&... parts) {
  throw_error(kind, {TextPart(parts)...});
}
// Throws Error(invalid) with the arguments joined when `condition` is false.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) fail(ErrorKind::invalid, parts...);
}

}  // namespace tbd
