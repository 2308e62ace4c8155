// Decimal text to integers, without a double in between.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace tbd {

// text * 10^scale, as "1234.567" microseconds with scale 3 are 1234567 ns. Digits beyond the unit are rounded, halves
// away from zero. nullopt when the text is no JSON number (quotes around one are passed over) or leaves int64.
std::optional<int64_t> scaled_decimal(std::string_view text, int scale);
// The whole number in a JSON number or in a string of one; nullopt otherwise.
std::optional<int64_t> whole_number(std::string_view text);

}  // namespace tbd
