#include "worker/span_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "data/text/squad.h"

namespace tbd {
namespace {

using ::testing::DoubleNear;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

// Three questions of one token on contexts of 8, 8 and 3; windows hold 4 tokens and begin 2 apart: 3, 3 and 1.
constexpr const char* kQuestions = R"({"data": [{"title": "t", "paragraphs": [
  {"context": "a b c d e f g h", "qas": [
    {"id": "1", "question": "Who", "answers": [{"text": "d e", "answer_start": 6}, {"text": "d", "answer_start": 6}]},
    {"id": "2", "question": "Who", "answers": [{"text": "h", "answer_start": 14}]}]},
  {"context": "f g h", "qas": [
    {"id": "3", "question": "Who", "answers": [{"text": "g h", "answer_start": 2}]}]}]}]})";
constexpr int64_t kLength = 8, kWindows = 7, kPlace = 3;  // [CLS] who [SEP], then the context

class SpanJudgeTest : public testing::Test {
 protected:
  SpanJudgeTest() {
    write_file(root_.path() / "vocab.txt", "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nwho\na\nb\nc\nd\ne\nf\ng\nh\n");
    write_file(root_.path() / "dev-v1.1.json", kQuestions);
  }
  SourceSpec spec(int64_t batch = kWindows) const {
    SourceSpec spec{.kind = SourceKind::squad, .path = root_.path().string(), .split = Split::val, .batch = batch};
    spec.text.vocabulary = 14;
    spec.text.length = kLength;
    spec.text.stride = 2;
    return spec;
  }
  TensorMap batch() const { return open_source(spec())->batch_at(1); }

  // One logit of 9 at the place, of each sample.
  static HostTensor sure_of(const std::vector<int32_t>& places) {
    HostTensor logits(DType::f32, {std::ssize(places), kLength});
    for (size_t n = 0; n < places.size(); ++n) logits.as<float>()[n * kLength + static_cast<size_t>(places[n])] = 9;
    return logits;
  }
  static std::vector<int32_t> labels(const TensorMap& batch, const char* name) {
    const auto values = batch.at(name).as<int32_t>();
    return {values.begin(), values.end()};
  }
  static TensorMap truth(const TensorMap& batch) {
    return {{"start_logits", sure_of(labels(batch, "start"))}, {"end_logits", sure_of(labels(batch, "end"))}};
  }

  TemporaryFolder root_;
};

TEST_F(SpanJudgeTest, FindsTheLabelsOfTheDataPerfect) {
  const TensorMap given = batch();
  const auto judge = span_judge(spec());
  judge->add(given, truth(given), kWindows);
  EXPECT_THAT(judge->metrics(), UnorderedElementsAre(Pair("exact_match", 100), Pair("f1", 100)));
}

TEST_F(SpanJudgeTest, JoinsWindowsWhateverBatchTheyCameIn) {
  const auto source = open_source(spec(2));
  const auto judge = span_judge(spec(2));
  for (int64_t step = 4; step >= 1; --step) {
    const TensorMap given = source->batch_at(step);
    judge->add(given, truth(given), step == 4 ? 1 : 2);
  }
  EXPECT_EQ(judge->metrics().at("exact_match"), 100);
}

TEST_F(SpanJudgeTest, CountsWordsThatAreSharedWithTheBetterAnswer) {
  const TensorMap given = batch();
  std::vector<int32_t> end = labels(given, "end");
  end.back() -= 1;  // "g" of "g h": precision 1, recall 1/2
  TensorMap answers = truth(given);
  answers.at("end_logits") = sure_of(end);
  const auto judge = span_judge(spec());
  judge->add(given, answers, kWindows);
  EXPECT_THAT(judge->metrics(), UnorderedElementsAre(Pair("exact_match", DoubleNear(100 * 2.0 / 3, 1e-12)),
                                                     Pair("f1", DoubleNear(100 * (2 + 2.0 / 3) / 3, 1e-12))));
}

// Question 2: the second window is surest, that an answer starts at its last token; but the third gives that token more
// context, and is not sure of it.
TEST_F(SpanJudgeTest, PassesOverAWindowThatSeesItsStartAtItsEdge) {
  const TensorMap given = batch();
  TensorMap answers = truth(given);
  constexpr size_t kSecondWindow = 4;
  answers.at("start_logits").as<float>()[kSecondWindow * kLength + kPlace + 3] = 20;
  const auto judge = span_judge(spec());
  judge->add(given, answers, kWindows);
  EXPECT_EQ(judge->metrics().at("exact_match"), 100);
}

// The 20 best starts and ends of a long sample are all outside of the context: the word "empty" answers.
TEST_F(SpanJudgeTest, SaysEmptyWhereNoGoodPlaceIsOfTheContext) {
  SourceSpec padded = spec();
  padded.text.length = 32;
  const TensorMap given = open_source(padded)->batch_at(1);
  const int64_t samples = given.at("start").shape()[0];
  HostTensor outside(DType::f32, {samples, 32});
  std::ranges::fill(outside.as<float>(), 1.F);
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t place = kPlace; place < kPlace + 8; ++place)
      outside.as<float>()[static_cast<size_t>(n * 32 + place)] = 0;
  const auto judge = span_judge(padded);
  judge->add(given, {{"start_logits", outside}, {"end_logits", outside}}, samples);
  EXPECT_THAT(judge->metrics(), UnorderedElementsAre(Pair("exact_match", 0), Pair("f1", 0)));
}

TEST_F(SpanJudgeTest, CountsQuestionsOfWhichAllWindowsCame) {
  const TensorMap given = batch();
  const auto judge = span_judge(spec());
  judge->add(given, truth(given), 2);
  EXPECT_THAT(judge->metrics(), IsEmpty());
  judge->add(given, truth(given), 5);  // the second question misses one
  EXPECT_EQ(judge->metrics().at("f1"), 100);
}

TEST_F(SpanJudgeTest, CountsAQuestionWithoutRoomAsUnanswered) {
  std::string longer = kQuestions;
  longer.replace(longer.rfind("Who"), 3, "who who who who who");
  write_file(root_.path() / "dev-v1.1.json", longer);
  const TensorMap given = open_source(spec(6))->batch_at(1);
  const auto judge = span_judge(spec(6));
  judge->add(given, truth(given), 6);
  EXPECT_THAT(judge->metrics().at("f1"), DoubleNear(100 * 2.0 / 3, 1e-12));
}

TEST_F(SpanJudgeTest, NeedsQuestions) {
  SourceSpec made = spec();
  made.kind = SourceKind::synthetic;
  EXPECT_THROW(span_judge(made), Error);
}

}  // namespace
}  // namespace tbd
