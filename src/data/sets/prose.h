// English running text of documentation pages.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "data/source.h"

namespace tbd {

struct ProseDocument {
  std::string file;                                  // below the folder read
  bool val = false;                                  // the split, decided by the file's name
  std::vector<std::vector<std::string>> paragraphs;  // their sentences
};
struct Prose {
  std::vector<ProseDocument> documents;  // by path; none empty
  std::vector<BadFile> left_out;         // pages that are not UTF-8
};
struct ProseOptions {
  double val_share = 0.1;  // of the pages
  int least_words = 4;     // of a sentence
};

// Every page (*.html, *.htm) below `folder`, one document each: its sentences of at least least_words words that have
// not stood in an earlier page, so that no sentence is in both splits. Pages that say they are in another language than
// English are passed over. A page is of val where share_of(its name without endings) < val_share. Throws
// Error(not_found or io) when the folder cannot be read, Error(invalid) when a split has no document.
Prose read_prose(const std::filesystem::path& folder, const ProseOptions& options = {});

// What data.json says of a set made of `prose`: what is counted of both splits, the options, the pages' origins, and
// the pages left out.
Json description_of(const Prose& prose, const ProseOptions& options, const Json& train_counts, const Json& val_counts);

}  // namespace tbd
