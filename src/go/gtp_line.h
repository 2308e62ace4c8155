// Lines of the Go Text Protocol, version 2 (Farnebäck 2002, sections 2.3 to 2.6), as an engine reads and writes them.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tbd::go {

struct GtpCommand {
  std::string id;  // digits that the answer repeats; "": none
  std::string name;
  std::vector<std::string> arguments;
};
// Without control characters and what follows a '#'; nullopt for a line that is empty then.
std::optional<GtpCommand> read_gtp_command(std::string_view line);

// "=ID text" or, for a failure, "?ID text", with the empty line that ends it. Empty lines within the text are left out.
std::string gtp_answer(const GtpCommand& command, bool success, std::string_view text);

}  // namespace tbd::go
