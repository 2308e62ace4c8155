#include "quality/perplexity.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

template <class T>
HostTensor logits_of(DType dtype, const std::vector<std::vector<T>>& rows) {
  std::vector<T> values;
  for (const std::vector<T>& row : rows) values.insert(values.end(), row.begin(), row.end());
  const auto classes = static_cast<int64_t>(rows.front().size());
  return {dtype, {static_cast<int64_t>(rows.size()), classes}, std::span<const T>(values)};
}

TEST(PerplexityGolden, CountsPredictions) {
  const Json golden =
      parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/predictions.json"), "predictions.json").at("perplexity");
  const auto labels = golden.at("labels").get<std::vector<int32_t>>();
  const PredictionCounts counts =
      count_predictions(logits_of(DType::f64, golden.at("logits").get<std::vector<std::vector<double>>>()), labels,
                        {.ignored = golden.at("ignore").get<int32_t>()});
  EXPECT_EQ(counts.count, golden.at("tokens").get<int64_t>());
  EXPECT_NEAR(counts.nll, golden.at("nll_sum").get<double>(), 1e-9 * counts.nll);
  EXPECT_NEAR(*perplexity(counts), golden.at("perplexity").get<double>(), 1e-9 * *perplexity(counts));
  EXPECT_NEAR(*accuracy(counts), golden.at("masked_accuracy").get<double>(), 1e-9);
}

TEST(Perplexity, OfANetworkThatKnowsNothingIsTheVocabulary) {
  const HostTensor scores(DType::f32, {4, 50});
  const PredictionCounts counts = count_predictions(scores, std::vector<int32_t>{0, 7, 49, 0});
  EXPECT_NEAR(*perplexity(counts), 50, 1e-9);
  EXPECT_EQ(counts.correct, 2);  // the lowest of equal scores is the prediction
}

TEST(Perplexity, IsThatOfShiftedLogitsAndOfLogProbabilities) {
  const Philox draws(6, "test/logits");
  std::vector<std::vector<double>> rows(20, std::vector<double>(7));
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < rows[i].size(); ++j) rows[i][j] = 3 * draws.normal(i * 7 + j);
  std::vector<int32_t> labels;
  for (size_t i = 0; i < rows.size(); ++i) labels.push_back(static_cast<int32_t>(i % 7));
  const PredictionCounts counts = count_predictions(logits_of(DType::f64, rows), labels);
  double nll = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    double sum = 0;
    for (const double value : rows[i]) sum += std::exp(value);
    nll -= rows[i][i % 7] - std::log(sum);
    for (double& value : rows[i]) value += 800 - std::log(sum);
  }
  EXPECT_NEAR(counts.nll, nll, 1e-9 * nll);
  EXPECT_NEAR(count_predictions(logits_of(DType::f64, rows), labels).nll, nll, 1e-9 * nll);
}

TEST(Perplexity, BatchesAddUp) {
  const auto logits = logits_of<float>(DType::f32, {{1, 2}, {0, 5}});
  PredictionCounts sum = count_predictions(logits_of<float>(DType::f32, {{1, 2}}), std::vector<int32_t>{0});
  sum += count_predictions(logits_of<float>(DType::f32, {{0, 5}}), std::vector<int32_t>{1});
  const PredictionCounts whole = count_predictions(logits, std::vector<int32_t>{0, 1});
  EXPECT_DOUBLE_EQ(sum.nll, whole.nll);
  EXPECT_EQ(sum.correct, whole.correct);
  EXPECT_EQ(sum.count, 2);
}

TEST(Perplexity, WeightsAndIgnoredLabelsSayWhatCounts) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto logits = logits_of<float>(DType::f32, {{0, 0}, {nan, 0}, {0, nan}, {9, 0}});
  const std::vector<int32_t> labels = {1, -100, 0, 0};
  const std::vector<float> weights = {1, 1, 0, 0.5F};
  const PredictionCounts counts = count_predictions(logits, labels, {.ignored = -100, .weights = weights});
  EXPECT_EQ(counts.count, 2);  // a weight that is not 0 counts one
  EXPECT_EQ(counts.correct, 1);
}

TEST(Perplexity, OverflowIsInfinite) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto far = logits_of<float>(DType::f32, {{0, 701}}), never = logits_of<float>(DType::f32, {{-infinity, 0}});
  EXPECT_EQ(*perplexity(count_predictions(far, std::vector<int32_t>{0})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(*perplexity(count_predictions(never, std::vector<int32_t>{0})), std::numeric_limits<double>::infinity());
  EXPECT_EQ(*perplexity(count_predictions(never, std::vector<int32_t>{1})), 1);
}

TEST(Perplexity, BitsPerByteAreThoseOfTheText) {
  const HostTensor uniform(DType::f32, {8, 256});  // a byte each, none foreseen
  const PredictionCounts counts = count_predictions(uniform, std::vector<int32_t>(8, 65));
  EXPECT_NEAR(*bits_per_byte(counts, 8), 8, 1e-12);
  EXPECT_NEAR(*bits_per_byte(counts, 16), 4, 1e-12);
  EXPECT_FALSE(bits_per_byte(counts, 0));
  EXPECT_THROW(bits_per_byte(counts, -1), Error);
}

TEST(Perplexity, NothingCountedIsAbsent) {
  EXPECT_FALSE(perplexity({}));
  EXPECT_FALSE(accuracy({}));
}

TEST(Perplexity, RefusesWhatIsNoPrediction) {
  const auto refusal = [](const std::vector<std::vector<float>>& rows, std::vector<int32_t> labels) -> std::string {
    try {
      count_predictions(logits_of(DType::f32, rows), labels);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(refusal({{0, 1}, {nan, 1}}, {0, 1}), "row 1: the score of class 0 is nan");
  EXPECT_EQ(refusal({{0, infinity}}, {0}), "row 0: the score of class 1 is inf");
  EXPECT_EQ(refusal({{-infinity, -infinity}}, {0}), "row 0: no class has a finite score");
  EXPECT_EQ(refusal({{0, 1}}, {2}), "row 0: label 2 of 2 classes");
  EXPECT_EQ(refusal({{0, 1}}, {0, 1}), "scores (1, 2) with 2 labels");
}

}  // namespace
}  // namespace tbd
