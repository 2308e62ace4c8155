#include "worker/prediction_judge.h"

#include <algorithm>

#include "graph/program.h"
#include "quality/perplexity.h"
#include "quality/top_k.h"
#include "worker/sample_rows.h"

namespace tbd {
namespace {

HostTensor in_single(const HostTensor& tensor) {
  return tensor.dtype() == DType::f32 || tensor.dtype() == DType::f64 ? tensor : converted(tensor, DType::f32);
}

// One term of a loss: the answer that it reads, and what the data say.
struct ChoiceTerm {
  std::string name;           // of the term
  std::string answer;         // of the output
  std::string label, weight;  // inputs; weight may be empty
  int32_t ignored = -1;       // label of rows that do not count
};

std::optional<std::string> output_that_is(const Phase& phase, const std::string& value) {
  for (const auto& [name, node] : phase.outputs)
    if (node == value) return name;
  return std::nullopt;
}

bool is_given(const Phase& phase, const std::string& name) {
  return std::ranges::find(phase.inputs, name, &InputSpec::name) != phase.inputs.end();
}

std::vector<ChoiceTerm> choice_terms(const Phase& phase) {
  std::vector<ChoiceTerm> terms;
  for (const LossTerm& term : phase.loss) {
    const auto node = std::ranges::find(phase.nodes, term.value, &Node::name);
    const auto* loss = node == phase.nodes.end() ? nullptr : std::get_if<SoftmaxCrossEntropy>(&node->op);
    if (!loss || !is_given(phase, node->inputs.at(1))) continue;
    const std::optional<std::string> answer = output_that_is(phase, node->inputs[0]);
    if (!answer) continue;
    ChoiceTerm each{.name = term.name, .answer = *answer, .label = node->inputs[1]};
    if (node->inputs.size() > 2) each.weight = node->inputs[2];
    each.ignored = static_cast<int32_t>(loss->ignore);
    terms.push_back(std::move(each));
  }
  return terms;
}

class PredictionJudge final : public Judge {
 public:
  explicit PredictionJudge(std::vector<ChoiceTerm> terms) : terms_(std::move(terms)), sums_(terms_.size()) {}

  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    for (size_t i = 0; i < terms_.size(); ++i) {
      const ChoiceTerm& term = terms_[i];
      const HostTensor scores = in_single(sample_rows(answers.at(term.answer), 0, samples));
      const HostTensor labels = converted(sample_rows(batch.at(term.label), 0, samples), DType::i32);
      std::vector<float> weights;
      if (!term.weight.empty())
        for (const double weight : as_doubles(sample_rows(batch.at(term.weight), 0, samples)))
          weights.push_back(static_cast<float>(weight));
      sums_[i].counts += count_predictions(scores, labels.as<int32_t>(), {.ignored = term.ignored, .weights = weights});
      sums_[i].one_a_sample = scores.shape().rank() == 2;
      sums_[i].classes = scores.shape().back();
      if (sums_[i].one_a_sample) sums_[i].top5 += top_k_hits(label_ranks(scores, labels.as<int32_t>()), 5);
    }
  }

  std::map<std::string, double> metrics() const override {
    std::map<std::string, double> metrics;
    for (size_t i = 0; i < terms_.size(); ++i) {
      const std::string prefix = terms_.size() > 1 ? terms_[i].name + "_" : "";
      const Sums& sums = sums_[i];
      const auto put = [&](const char* name, const std::optional<double>& value) {
        if (value) metrics[prefix + name] = *value;
      };
      put(sums.one_a_sample ? "top1" : "accuracy", accuracy(sums.counts));
      if (!sums.one_a_sample) put("perplexity", perplexity(sums.counts));
      if (sums.one_a_sample && sums.classes > 5 && sums.counts.count > 0)
        put("top5", static_cast<double>(sums.top5) / static_cast<double>(sums.counts.count));
    }
    return metrics;
  }

 private:
  struct Sums {
    PredictionCounts counts;
    bool one_a_sample = false;
    int64_t classes = 0, top5 = 0;
  };
  std::vector<ChoiceTerm> terms_;
  std::vector<Sums> sums_;  // of each term
};

class MoveJudge final : public Judge {
 public:
  void add(const TensorMap& batch, const TensorMap& answers, int64_t samples) override {
    const std::vector<double> given = as_doubles(sample_rows(batch.at("pi"), 0, samples));
    const std::vector<double> chosen = as_doubles(sample_rows(answers.at("policy_logits"), 0, samples));
    const std::vector<double> won = as_doubles(sample_rows(batch.at("z"), 0, samples));
    const std::vector<double> value = as_doubles(sample_rows(answers.at("value"), 0, samples));
    const auto moves = static_cast<int64_t>(given.size()) / samples;
    for (int64_t n = 0; n < samples; ++n) {
      hits_ += likeliest(given, n, moves) == likeliest(chosen, n, moves);
      const double error = value[static_cast<size_t>(n)] - won[static_cast<size_t>(n)];
      error_ += error * error;
    }
    samples_ += samples;
  }

  std::map<std::string, double> metrics() const override {
    if (samples_ == 0) return {};
    const auto all = static_cast<double>(samples_);
    return {{"policy_top1", static_cast<double>(hits_) / all}, {"value_error", error_ / all}};
  }

 private:
  static int64_t likeliest(const std::vector<double>& scores, int64_t sample, int64_t moves) {
    const auto begin = scores.begin() + sample * moves;
    return std::max_element(begin, begin + moves) - begin;  // the first of equal ones
  }

  int64_t samples_ = 0, hits_ = 0;
  double error_ = 0;
};

}  // namespace

std::unique_ptr<Judge> prediction_judge(const Phase& phase) {
  std::vector<ChoiceTerm> terms = choice_terms(phase);
  return terms.empty() ? nullptr : std::make_unique<PredictionJudge>(std::move(terms));
}
std::unique_ptr<Judge> move_judge() { return std::make_unique<MoveJudge>(); }

}  // namespace tbd
