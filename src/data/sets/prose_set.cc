#include "data/sets/prose_set.h"

#include "base/files.h"
#include "base/json.h"
#include "data/text/text_file.h"

namespace tbd {
namespace {

struct ProseSide {
  std::string text;
  TextCounts counts;
};

void add_document(const ProseDocument& document, ProseSide& side) {
  if (!side.text.empty()) side.text += "\n";
  ++side.counts.documents;
  for (const auto& paragraph : document.paragraphs)
    for (const std::string& sentence : paragraph) {
      side.text += sentence + "\n";
      ++side.counts.sentences;
      side.counts.words += static_cast<int64_t>(words_of(sentence).size());
    }
}

Json text_counts_json(const TextCounts& counts) {
  return {{"documents", counts.documents}, {"sentences", counts.sentences}, {"words", counts.words}};
}

}  // namespace

ProseSetSummary make_prose_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                               const ProseOptions& options) {
  MadeSet made(out_dir);
  const Prose prose = read_prose(source_dir, options);
  ProseSide train, val;
  for (const ProseDocument& document : prose.documents) add_document(document, document.val ? val : train);
  write_file(made.folder() / "train.txt", train.text);
  write_file(made.folder() / "val.txt", val.text);
  ProseSetSummary summary{.train = train.counts, .val = val.counts, .left_out = prose.left_out};
  summary.set = made.finish(
      "prose", description_of(prose, options, text_counts_json(train.counts), text_counts_json(val.counts)));
  return summary;
}

}  // namespace tbd
