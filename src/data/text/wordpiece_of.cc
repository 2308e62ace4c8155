#include "data/text/wordpiece_of.h"

#include "base/error.h"

namespace tbd {
namespace fs = std::filesystem;

std::optional<WordPiece> given_wordpiece(const SourceSpec& spec) {
  std::error_code ignored;
  const fs::path root = fs::is_directory(spec.path, ignored) ? fs::path(spec.path) : fs::path(spec.path).parent_path();
  const bool named = !spec.text.vocabulary_file.empty();
  const fs::path file = root / (named ? spec.text.vocabulary_file : "vocab.txt");
  if (fs::exists(file, ignored)) return read_wordpiece(file, spec.text.vocabulary);
  if (named) fail(ErrorKind::not_found, "the vocabulary ", file.string(), " does not exist");
  return std::nullopt;
}

WordPiece wordpiece_of(const SourceSpec& spec, const std::function<void(WordCounts&)>& count) {
  if (auto given = given_wordpiece(spec)) return std::move(*given);
  constexpr int64_t kPublished = 30'522;
  WordCounts counts;
  count(counts);
  return WordPiece(train_wordpiece(counts, spec.text.vocabulary == 0 ? kPublished : spec.text.vocabulary),
                   "the trained vocabulary");
}

}  // namespace tbd
