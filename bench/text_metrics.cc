// Task metrics of what a JSON file gives, one JSON line an item (bench/peers/text_metrics.py compares them).
//   bench_text_metrics text FILE           [text]: it in small letters, its words, it without articles
//   bench_text_metrics bleu FILE           [{"text", "references"}]: tokens, counts and sentence scores; then the
//   corpus bench_text_metrics squad FILE          [{"prediction", "answers"}]: normalized, exact match, F1; then the
//   set bench_text_metrics predictions FILE    [{"logits", "labels", "ignored"}]: ranks, counts, perplexity
#include <ctime>
#include <iostream>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "quality/bleu.h"
#include "quality/perplexity.h"
#include "quality/python_text.h"
#include "quality/squad.h"
#include "quality/top_k.h"

namespace tbd {
namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

void print(const Json& line) { std::cout << line.dump() << "\n"; }

void print_text(const Json& items) {
  for (const Json& item : items) {
    const auto text = item.get<std::string>();
    Json words = Json::array();
    for (const std::string_view word : python_split(text)) words.push_back(std::string(word));
    print({{"lower", python_lower(text)},
           {"words", words},
           {"stripped", std::string(python_rstrip(text))},
           {"without", python_replace_words(text, {"a", "an", "the"}, " ")}});
  }
}

Json numbers_of(const BleuCounts& counts, const Bleu& score) {
  return {{"correct", counts.correct},
          {"total", counts.total},
          {"length", counts.length},
          {"reference_length", counts.reference_length},
          {"score", score.score},
          {"precisions", score.precisions},
          {"brevity_penalty", score.brevity_penalty}};
}
void print_bleu(const Json& items) {
  std::vector<Translation> corpus;
  for (const Json& item : items)
    corpus.push_back({at<std::string>(item, "text"), item.at("references").get<std::vector<std::string>>()});
  for (const Translation& translation : corpus) {
    const BleuCounts counts = bleu_counts(translation);
    Json line = numbers_of(counts, sentence_bleu(counts));
    line["tokens"] = tokenize_13a(translation.text);
    print(line);
  }
  const double start = cpu_seconds();
  const BleuCounts counts = bleu_counts(corpus);
  Json line = numbers_of(counts, bleu(counts));
  line["seconds"] = cpu_seconds() - start;
  line["signature"] = bleu_signature(corpus);
  print(line);
}

void print_squad(const Json& items) {
  std::vector<AnsweredQuestion> questions;
  for (const Json& item : items) {
    questions.push_back({.answers = item.at("answers").get<std::vector<std::string>>(),
                         .prediction = maybe<std::string>(item, "prediction")});
    if (!questions.back().prediction) continue;
    const std::string& prediction = *questions.back().prediction;
    const SquadScore score = squad_score(prediction, questions.back().answers);
    print({{"normalized", normalize_answer(prediction)}, {"exact_match", score.exact_match}, {"f1", score.f1}});
  }
  const SquadScore score = squad_score(questions);
  print({{"exact_match", score.exact_match}, {"f1", score.f1}});
}

void print_predictions(const Json& items) {
  for (const Json& item : items) {
    std::vector<float> logits;
    for (const Json& row : item.at("logits"))
      for (const Json& value : row) logits.push_back(value.get<float>());
    const auto labels = item.at("labels").get<std::vector<int32_t>>();
    const auto rows = static_cast<int64_t>(labels.size()), classes = static_cast<int64_t>(logits.size()) / rows;
    const HostTensor scores(DType::f32, {rows, classes}, std::span<const float>(logits));
    const PredictionCounts counts = count_predictions(scores, labels, {.ignored = maybe<int32_t>(item, "ignored")});
    print({{"ranks", item.contains("ignored") ? Json(nullptr) : Json(label_ranks(scores, labels))},
           {"nll", counts.nll},
           {"count", counts.count},
           {"correct", counts.correct},
           {"perplexity", or_null(perplexity(counts))}});
  }
}

int run(const std::vector<std::string>& arguments) {
  const std::string verb = arguments.size() == 3 ? arguments[1] : "";
  const bool is_known = verb == "text" || verb == "bleu" || verb == "squad" || verb == "predictions";
  if (!is_known) fail(ErrorKind::usage, "bench_text_metrics text | bleu | squad | predictions FILE");
  const Json items = parse_json(read_file(arguments[2]), arguments[2]);
  if (verb == "text") print_text(items);
  if (verb == "bleu") print_bleu(items);
  if (verb == "squad") print_squad(items);
  if (verb == "predictions") print_predictions(items);
  return 0;
}

}  // namespace
}  // namespace tbd

int main(int count, char** arguments) try {
  return tbd::run({arguments, arguments + count});
} catch (const std::exception& e) {
  std::cerr << e.what() << "\n";
  return 2;
}
