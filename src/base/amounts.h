// Amounts as plans and the command line write them: "20s", "2m", "4GiB". What is written parses back to the same.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tbd {

// A number above 0. Throws Error(invalid) that starts with `what`.
double positive_number_from(std::string_view text, std::string_view what);

// Seconds above 0: a plain number, or one with s, m (min) or h. Throws Error(invalid) that starts with `what`.
double seconds_from(std::string_view text, std::string_view what);
std::string seconds_text(double seconds);  // "20s"; the shortest digits that parse back

// Bytes above 0: a number with B, kB, MB, GB, KiB, MiB or GiB (TB and TiB too); a unit is required. Throws
// Error(invalid) that starts with `what`.
int64_t bytes_from(std::string_view text, std::string_view what);
std::string bytes_text(int64_t bytes);  // "4GiB": the largest binary unit that divides it, else "123B"

}  // namespace tbd
