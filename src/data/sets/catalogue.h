// Message catalogues in the binary form of GNU gettext (.mo files).
// Layout: GNU gettext manual, section "The Format of GNU MO Files".
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace tbd {

struct Message {
  std::string text, translation;  // UTF-8
};

// The messages of a catalogue in its order, without the header, without contexts and untranslated ones; of plurals the
// first form. Both byte orders. Throws as read_file, and Error(invalid) "FILE: ..." where the magic number is another,
// a table or a string lies outside the file, the header names no charset or another than UTF-8, or a message is not
// UTF-8 ("FILE: message 7 is not UTF-8", counted from 1 as they stand).
std::vector<Message> read_catalogue(const std::filesystem::path& path);

}  // namespace tbd
