// How frameworks, libraries and the loader say that memory was refused: often words are all that tells.
#pragma once
#include <string_view>

namespace tbd {

bool says_out_of_memory(std::string_view message);
// Also words that have other causes too, for a process whose memory is known to be limited.
bool may_say_out_of_memory(std::string_view message);

}  // namespace tbd
