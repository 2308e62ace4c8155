// Copies of small data sets in which training labels say nothing of their inputs; validation files stay away.
#pragma once
#include <filesystem>

namespace tbd {

// The first `classes` classes of an image folder, both splits, by links.
void link_classes(const std::filesystem::path& from, const std::filesystem::path& to, size_t classes);
// Files of the training split are dealt to the classes anew.
void shuffle_classes(const std::filesystem::path& from, const std::filesystem::path& to);
// The target words of all training pairs change places; each pair keeps their number.
void shuffle_target_words(const std::filesystem::path& from, const std::filesystem::path& to);
// The letters and spaces of the training text change places; each line keeps their number.
void shuffle_letters(const std::filesystem::path& from, const std::filesystem::path& to);
// The transcripts of a training folder's list change places among those of about their length, so that the network has
// steps for them.
void shuffle_transcripts(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace tbd
