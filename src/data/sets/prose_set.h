// English text for language models, and questions on it (docs/data.md, "The small text sets").
#pragma once
#include "data/sets/made_set.h"
#include "data/sets/prose.h"

namespace tbd {

struct TextCounts {
  int64_t documents = 0, sentences = 0, words = 0;  // words stand between spaces
};
struct ProseSetSummary {
  SetSummary set;
  TextCounts train, val;
  std::vector<BadFile> left_out;
};
// Writes the text that read_prose finds as out_dir/{train,val}.txt, one sentence a line and a blank line between
// documents, and out_dir/data.json. Throws what read_prose throws, and Error(invalid) when out_dir is not empty.
ProseSetSummary make_prose_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                               const ProseOptions& options = {});

struct ClozeSetSummary {
  SetSummary set;
  int64_t train_contexts = 0, train_questions = 0, val_contexts = 0, val_questions = 0;
  std::vector<BadFile> left_out;
};
// Writes out_dir/{train,dev}-v1.1.json, SQuAD v1.1: a context is a paragraph of at least two sentences, a question one
// of its sentences with a span (cloze.h) replaced. Throws as make_prose_set, and when a split has no question.
ClozeSetSummary make_cloze_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                               const ProseOptions& options = {});

}  // namespace tbd
