#include "worker/span_judge.h"

#include "data/text/squad.h"
#include "quality/answer_spans.h"
#include "quality/squad.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

const SourceSpec& with_questions(const SourceSpec& data) {
  if (data.kind != SourceKind::squad)
    fail(ErrorKind::unsupported, "exact match needs a data set of questions with answers, not made data");
  return data;
}

class SpanJudge final : public Judge {
 public:
  explicit SpanJudge(const SourceSpec& data)
      : set_(open_squad_set(with_questions(data))), logits_(set_.windows().size()) {}

  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    const auto windows = batch.at(std::string(kPosition)).as<int32_t>();
    const auto rows = [&](const char* name) {
      return converted(sample_rows(answers.at(name), 0, samples), DType::f32);
    };
    const HostTensor start = rows("start_logits"), end = rows("end_logits");
    for (int64_t n = 0; n < samples; ++n) {
      const auto window = static_cast<size_t>(windows[static_cast<size_t>(n)]);
      logits_.at(window) = {row(start, n), row(end, n)};
    }
  }

  std::map<std::string, double> metrics() const override {
    const std::vector<AnsweredQuestion> questions = answered();
    if (questions.empty()) return {};
    const SquadScore score = squad_score(questions);
    return {{"exact_match", score.exact_match}, {"f1", score.f1}};
  }

 private:
  struct Logits {
    std::vector<float> start, end;  // empty: not added
  };

  static std::vector<float> row(const HostTensor& logits, int64_t sample) {
    const auto places = static_cast<size_t>(logits.shape().back());
    const auto own = logits.as<float>().subspan(static_cast<size_t>(sample) * places, places);
    return {own.begin(), own.end()};
  }

  std::vector<AnsweredQuestion> answered() const {
    std::vector<AnsweredQuestion> questions;
    for (const SquadQuestion& question : set_.file().questions) {
      AnsweredQuestion& asked = questions.emplace_back();
      for (const SquadAnswer& answer : question.answers) asked.answers.push_back(answer.text);
    }
    const std::vector<SquadWindow>& windows = set_.windows();
    bool all = true;
    for (size_t begin = 0, end = 0; begin < windows.size(); begin = end) {
      bool whole = true;
      for (; end < windows.size() && windows[end].question == windows[begin].question; ++end)
        whole = whole && !logits_[end].start.empty();
      if (whole) questions[windows[begin].question].prediction = prediction(begin, end);
      all = all && whole;
    }
    if (!all) std::erase_if(questions, [](const AnsweredQuestion& each) { return !each.prediction; });
    return questions;
  }

  // Of the windows begin ... end - 1, which are those of one question.
  std::string prediction(size_t begin, size_t end) const {
    std::vector<WindowLogits> logits;
    for (size_t i = begin; i < end; ++i)
      logits.push_back({.start = logits_[i].start,
                        .end = logits_[i].end,
                        .context = set_.context_place(set_.windows()[i]),
                        .count = static_cast<int64_t>(set_.windows()[i].count)});
    const auto owns = [&](size_t window, int64_t place) { return set_.is_best_context(begin + window, place); };
    const std::vector<AnswerSpan> spans = answer_spans(logits, owns);
    if (spans.empty()) return "empty";
    const AnswerSpan& best = spans.front();
    return std::string(set_.answer(set_.windows()[begin + best.window], best.start, best.end));
  }

  SquadSet set_;
  std::vector<Logits> logits_;  // of each window
};

}  // namespace

std::unique_ptr<Judge> span_judge(const SourceSpec& data) { return std::make_unique<SpanJudge>(data); }

}  // namespace tbd
