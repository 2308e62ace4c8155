// Text as Python's `str` treats it, for metrics whose public implementation is a Python script. Properties of
// characters are utf8proc's; what Python adds to them follows CPython 3.11, Objects/unicodeobject.c. All functions take
// UTF-8 and throw Error(invalid) "text is not UTF-8 at byte N".
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

// split(): the words between white space. White space has the bidirectional class WS, B or S, or is a space separator:
// U+00A0 and U+3000 are, U+200B is not. The views point into `text`.
std::vector<std::string_view> python_split(std::string_view text);
// rstrip(): without the white space at the end.
std::string_view python_rstrip(std::string_view text);
// lower(): lower-case letters by the full mapping: U+0130 becomes two characters, and a capital sigma that ends a word
// the final sigma.
std::string python_lower(std::string_view text);
// re.sub(r"\b(W1|W2|...)\b", replacement, text) for words of letters: whole runs of letters, numbers and underscores
// that equal one of `words`.
std::string python_replace_words(std::string_view text, const std::vector<std::string_view>& words,
                                 std::string_view replacement);

}  // namespace tbd
