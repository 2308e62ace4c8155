// Files with a JSON object a line, which grow while a run goes on.
#pragma once
#include <filesystem>
#include <functional>

#include "base/json_fwd.h"

namespace tbd {

// Nothing where there is no such file; a last line that was cut is left out. Throws Error(invalid) with the line's
// number for another malformed line, and for one that `take` refuses.
void for_each_json_line(const std::filesystem::path& file, const std::function<void(const Json&)>& take);

}  // namespace tbd
