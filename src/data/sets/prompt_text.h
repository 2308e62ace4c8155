// What is said in a telephone prompt, by the list that comes with the recordings.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace tbd {

struct ListedPrompt {
  std::string name;  // of the recording, without its ending: "digits/7"
  std::string text;
};
// The lines "NAME: TEXT" of a list; empty lines and lines that begin with ; are no prompts. A file that ends in .gz is
// read through gzip. Throws as TextFile, and Error(invalid) naming file and line for another line.
std::vector<ListedPrompt> read_prompt_list(const std::filesystem::path& file);

// The normal transcript (data/transcripts.h) of a prompt. A single digit that stands alone becomes its English word.
// Throws Error(invalid) for a text with brackets of any kind (a tone, silence, a note), with "..." (a part that is
// joined to others, its pauses unknown), with another number (it can be read in several ways), and as
// normal_transcript.
std::string prompt_transcript(std::string_view text);

}  // namespace tbd
