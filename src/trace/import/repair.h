// Makes strict JSON of what profilers write by mistake.
#pragma once
#include <string>
#include <string_view>

namespace tbd {

// Outside strings NaN, Infinity, inf (any case and sign) become null; inside strings control characters become \u00XX
// and bytes that are no UTF-8 become '?'. All else stays.
std::string repaired_json(std::string_view text);

}  // namespace tbd
