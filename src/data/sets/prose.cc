#include "data/sets/prose.h"

#include <algorithm>
#include <unordered_set>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "data/sets/html_text.h"
#include "data/sets/made_set.h"
#include "data/sets/sentences.h"
#include "data/text/utf8.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

bool is_page(const fs::path& path) { return path.extension() == ".html" || path.extension() == ".htm"; }

// "pkgs" of "developers-reference/usr/share/pkgs.en.html": a page keeps its split wherever it lies.
std::string bare_name(const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  return name.substr(0, name.find('.'));
}

}  // namespace

Prose read_prose(const fs::path& folder, const ProseOptions& options) {
  Prose prose;
  std::unordered_set<std::string> known;
  for (const std::string& file : files_below(folder, is_page)) {
    const std::string html = read_file(folder / file);
    if (const auto bad = first_bad_byte(html)) {
      prose.left_out.push_back({file, cat("byte ", *bad + 1, " is not UTF-8")});
      continue;
    }
    const HtmlText text = text_of_html(html);
    if (!text.language.empty() && !text.language.starts_with("en")) continue;
    ProseDocument document{.file = file, .val = share_of(bare_name(file)) < options.val_share};
    for (const std::string& paragraph : text.paragraphs) {
      std::vector<std::string> sentences;
      for (const std::string_view sentence : sentences_of(paragraph))
        if (is_sentence(sentence, options.least_words) && known.emplace(sentence).second)
          sentences.emplace_back(sentence);
      if (!sentences.empty()) document.paragraphs.push_back(std::move(sentences));
    }
    if (!document.paragraphs.empty()) prose.documents.push_back(std::move(document));
  }
  const auto val = std::ranges::count(prose.documents, true, &ProseDocument::val);
  const auto all = static_cast<int64_t>(prose.documents.size());
  require(val > 0 && val < all, folder.string(), " gives ", all - val, " pages of English text for training and ", val,
          " for validation (*.html)");
  return prose;
}

Json description_of(const Prose& prose, const ProseOptions& options, const Json& train_counts, const Json& val_counts) {
  Json sources = Json::array();
  for (const ProseDocument& document : prose.documents) sources.push_back(origin_json(document.file));
  return {{"train", train_counts},
          {"val", val_counts},
          {"val_share", options.val_share},
          {"least_words", options.least_words},
          {"sources", sources},
          {"left_out", left_out_json(prose.left_out)}};
}

}  // namespace tbd
