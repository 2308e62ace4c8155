// Plain text as documents: one sentence a line, a blank line between documents.
#pragma once
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "data/source.h"
#include "data/text/text_file.h"

namespace tbd {

// The files of spec's split in byte order: path/<split>.txt, or path/<split>/*.txt; for training also path itself where
// it is a file, or path/*.txt. Throws Error(not_found) naming what was looked for.
std::vector<std::filesystem::path> find_plain_text(const SourceSpec& spec);
std::vector<std::filesystem::path> find_training_text(const SourceSpec& spec);

class PlainText {
 public:
  // Throws what TextFile throws, and Error(invalid) when there is no sentence.
  explicit PlainText(const std::vector<std::filesystem::path>& files);
  using Document = std::vector<std::string_view>;  // its lines, none blank
  const std::vector<Document>& documents() const { return documents_; }

 private:
  std::vector<std::unique_ptr<TextFile>> files_;
  std::vector<Document> documents_;
};

}  // namespace tbd
