#include "quality/error_rate.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/edit_distance.h"
#include "base/error.h"

namespace tbd {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words = split(text, ' ');
  std::erase(words, "");
  return words;
}
std::string without_spaces(std::string text) {
  std::erase(text, ' ');
  return text;
}

// Sums over the pairs, each cut into elements by `elements`.
template <class Cut>
ErrorCount counted(std::span<const std::string> references, std::span<const std::string> spelled, const Cut& elements) {
  require(references.size() == spelled.size(), references.size(), " references, but ", spelled.size(),
          " spelled texts");
  ErrorCount count;
  for (size_t i = 0; i < references.size(); ++i) {
    const auto said = elements(references[i]), found = elements(spelled[i]);
    using Element = typename decltype(said)::value_type;
    count.edits += edit_distance<Element>(said, found);
    count.reference += static_cast<int64_t>(said.size());
  }
  return count;
}

}  // namespace

std::optional<double> ErrorCount::rate() const {
  if (reference == 0) return std::nullopt;
  return static_cast<double>(edits) / static_cast<double>(reference);
}

ErrorCount word_errors(std::span<const std::string> references, std::span<const std::string> spelled) {
  return counted(references, spelled, words_of);
}

ErrorCount character_errors(std::span<const std::string> references, std::span<const std::string> spelled) {
  return counted(references, spelled, without_spaces);
}

}  // namespace tbd
