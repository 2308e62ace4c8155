// A program's message as tokens with spaces between, as parallel text has them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace tbd {

// What stands for everything in a message that is no language.
inline constexpr std::string_view kPlaceholder = "<x>";

struct TokenisedMessage {
  std::string text;   // tokens with one space between
  int64_t words = 0;  // tokens that hold a letter, placeholders left out
};
// Placeholders are conversions of printf (%d, %-5s, %1$s; "%%" is a percent sign), of Python and others (%(name)s,
// {name}, {0}, %{name}, ${name}, %1), and markup (<b>, </b>, <file>). Tokens stand between white space; every other
// punctuation mark or ASCII sign is a token of its own, but ' ’ - . _ and , between letters or digits, and dashes
// before a word that begins there (--all). Control characters part words.
TokenisedMessage tokenised_message(std::string_view message);

// Without the mark of a keyboard shortcut ("_Open", "Be_arbeiten", "&File") where both hold exactly one of the same
// kind before a letter.
void drop_shortcuts(std::string& text, std::string& translation);

}  // namespace tbd
