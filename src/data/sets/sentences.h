// Sentences of English running text.
#pragma once
#include <string_view>
#include <vector>

namespace tbd {

// The sentences of a paragraph whose words stand between single spaces. A sentence ends behind . ! or ? and closing
// quotation marks or brackets, where the next word begins with a capital letter, a digit or an opening sign; not behind
// abbreviations (e.g., i.e., etc., vs., cf., Mr., a single letter).
std::vector<std::string_view> sentences_of(std::string_view paragraph);

// Whether it ends as a sentence does and has at least `least_words` words (between spaces, with a letter).
bool is_sentence(std::string_view text, int least_words);

}  // namespace tbd
