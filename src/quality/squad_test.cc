#include "quality/squad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/philox.h"

namespace tbd {
namespace {

constexpr double kSquadTolerance = 1e-9;

const Json& squad_golden() {
  static const Json all = parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/squad.json"), "squad.json");
  return all;
}

std::vector<AnsweredQuestion> questions_of(const Json& golden, std::string_view unanswered) {
  std::vector<AnsweredQuestion> questions;
  for (const Json& each : golden.at("cases")) {
    AnsweredQuestion question{.answers = each.at("answers").get<std::vector<std::string>>()};
    if (each.at("id") != unanswered) question.prediction = each.at("prediction").get<std::string>();
    questions.push_back(std::move(question));
  }
  return questions;
}

TEST(SquadGolden, NormalizesAndScoresQuestions) {
  for (const Json& each : squad_golden().at("cases")) {
    SCOPED_TRACE(each.at("id").get<std::string>());
    EXPECT_EQ(normalize_answer(each.at("prediction").get<std::string>()),
              each.at("normalised_prediction").get<std::string>());
    const auto answers = each.at("answers").get<std::vector<std::string>>();
    for (size_t i = 0; i < answers.size(); ++i)
      EXPECT_EQ(normalize_answer(answers[i]), each.at("normalised_answers")[i].get<std::string>());
    const SquadScore score = squad_score(each.at("prediction").get<std::string>(), answers);
    EXPECT_EQ(score.exact_match, each.at("em").get<double>());
    EXPECT_NEAR(score.f1, each.at("f1").get<double>(), kSquadTolerance);
  }
}

TEST(SquadGolden, ScoresTheSet) {
  const Json& golden = squad_golden();
  const SquadScore all = squad_score(questions_of(golden, ""));
  EXPECT_NEAR(all.exact_match, golden.at("exact_match").get<double>(), 100 * kSquadTolerance);
  EXPECT_NEAR(all.f1, golden.at("f1").get<double>(), 100 * kSquadTolerance);
  const Json& fewer = golden.at("one_unanswered");
  const SquadScore score = squad_score(questions_of(golden, fewer.at("missing").get<std::string>()));
  EXPECT_NEAR(score.exact_match, fewer.at("exact_match").get<double>(), 100 * kSquadTolerance);
  EXPECT_NEAR(score.f1, fewer.at("f1").get<double>(), 100 * kSquadTolerance);
}

TEST(SquadScore, BestAnswerIsTakenForEitherNumberApart) {
  // An exact match of nothing has no F1; the other answer has one.
  const std::vector<std::string> answers = {"!", "the cat"};
  EXPECT_EQ(squad_score("?", answers).exact_match, 1);
  EXPECT_EQ(squad_score("?", answers).f1, 0);
}

std::string random_answer(const Philox& draws) {
  constexpr std::string_view kParts[] = {"the", "A",   "an", " ", "  ", "-",      ".",
                                         "cat", "Dog", "_",  "é", "’",  "\u00A0", "Σ"};
  std::string text;
  const auto parts = static_cast<uint64_t>(draws.uniform(0) * 12);
  for (uint64_t i = 0; i < parts; ++i)
    text += kParts[static_cast<size_t>(draws.uniform(i + 1) * static_cast<double>(std::size(kParts)))];
  return text;
}

TEST(SquadScore, HoldsItsPropertiesOnRandomAnswers) {
  const Philox texts(5, "test/answers");
  for (uint32_t i = 0; i < 2000; ++i) {
    const std::string first = random_answer(texts.at(0, i)), second = random_answer(texts.at(1, i));
    const std::string normalized = normalize_answer(first);
    ASSERT_EQ(normalize_answer(normalized), normalized) << first;
    const SquadScore score = squad_score(first, std::vector{second}), turned = squad_score(second, std::vector{first});
    ASSERT_EQ(score.exact_match, turned.exact_match);
    ASSERT_DOUBLE_EQ(score.f1, turned.f1) << first << "|" << second;
    ASSERT_TRUE(score.f1 >= 0 && score.f1 <= 1);
    if (score.exact_match == 1) {
      ASSERT_DOUBLE_EQ(score.f1, normalized.empty() ? 0 : 1);
    }
  }
}

TEST(SquadScore, RefusesQuestionsThatCannotBeScored) {
  EXPECT_THROW(squad_score(std::span<const AnsweredQuestion>{}), Error);
  const std::vector<AnsweredQuestion> questions = {{.answers = {"a"}}, {.answers = {}}};
  try {
    squad_score(questions);
    FAIL();
  } catch (const Error& e) {
    EXPECT_STREQ(e.what(), "question 1: a question without answers");
  }
}

}  // namespace
}  // namespace tbd
