#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "data/sets/cloze.h"
#include "data/sets/prose_set.h"
#include "data/text/utf8.h"

namespace tbd {
namespace {

struct Questions {
  Json articles = Json::array();
  int64_t contexts = 0, questions = 0;
};

// Characters before byte `end`.
int64_t character_count(std::string_view text, size_t end) {
  int64_t count = 0;
  for (size_t i = 0; i < end; i += code_point_at(text, i).value().length) ++count;
  return count;
}

Json questions_on(const std::vector<std::string>& sentences, const std::string& context) {
  Json qas = Json::array();
  size_t begin = 0;  // of the sentence in the context
  for (const std::string& sentence : sentences) {
    if (const auto cloze = cloze_of(sentence, context)) {
      const std::string answer = sentence.substr(cloze->begin, cloze->end - cloze->begin);
      const Json given = {{"text", answer}, {"answer_start", character_count(context, begin + cloze->begin)}};
      qas.push_back({{"id", sha256_hex(sentence).substr(0, 24)}, {"question", cloze->question}, {"answers", {given}}});
    }
    begin += sentence.size() + 1;
  }
  return qas;
}

void add_questions(const ProseDocument& document, Questions& side) {
  Json paragraphs = Json::array();
  for (const auto& sentences : document.paragraphs) {
    if (sentences.size() < 2) continue;
    const std::string context = join(sentences, " ");
    Json qas = questions_on(sentences, context);
    if (qas.empty()) continue;
    ++side.contexts;
    side.questions += static_cast<int64_t>(qas.size());
    paragraphs.push_back({{"context", context}, {"qas", std::move(qas)}});
  }
  if (!paragraphs.empty()) side.articles.push_back({{"title", document.file}, {"paragraphs", std::move(paragraphs)}});
}

void write(const std::filesystem::path& path, const Questions& side) {
  write_file(path, Json{{"version", "1.1"}, {"data", side.articles}}.dump(1) + "\n");
}

Json question_counts_json(const Questions& side) {
  return {{"contexts", side.contexts}, {"questions", side.questions}};
}

}  // namespace

ClozeSetSummary make_cloze_set(const std::filesystem::path& source_dir, const std::filesystem::path& out_dir,
                               const ProseOptions& options) {
  MadeSet made(out_dir);
  const Prose prose = read_prose(source_dir, options);
  Questions train, val;
  for (const ProseDocument& document : prose.documents) add_questions(document, document.val ? val : train);
  require(train.questions > 0 && val.questions > 0, source_dir.string(), " gives ", train.questions,
          " questions for training and ", val.questions, " for validation");
  write(made.folder() / "train-v1.1.json", train);
  write(made.folder() / "dev-v1.1.json", val);
  ClozeSetSummary summary{.train_contexts = train.contexts,
                          .train_questions = train.questions,
                          .val_contexts = val.contexts,
                          .val_questions = val.questions,
                          .left_out = prose.left_out};
  summary.set =
      made.finish("cloze", description_of(prose, options, question_counts_json(train), question_counts_json(val)));
  return summary;
}

}  // namespace tbd
