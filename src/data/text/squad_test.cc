#include "data/text/squad.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "base/files.h"
#include "base/json.h"
#include "data/text/testing_text.h"

namespace tbd {
namespace {
namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using namespace testing_text;

constexpr const char* kSquadVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nwho\n?\na\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\n##x\n.\n";

Json answer(const std::string& text, int64_t start) { return {{"text", text}, {"answer_start", start}}; }
Json set_of(const std::string& context, const std::string& question, const Json& answers) {
  const Json qa = {{"id", "q1"}, {"question", question}, {"answers", answers}};
  const Json paragraph = {{"context", context}, {"qas", Json::array({qa})}};
  return {{"version", "1.1"}, {"data", Json::array({{{"title", "t"}, {"paragraphs", Json::array({paragraph})}}})}};
}

struct Tree {
  TemporaryFolder root;
  fs::path train = root.path() / "train-v1.1.json";
  explicit Tree(const std::string& content) {
    write_file(root.path() / "vocab.txt", kSquadVocabulary);
    write_file(train, content);
  }
  SourceSpec spec(int64_t length = 10, int64_t stride = 3) const {
    SourceSpec spec{.kind = SourceKind::squad, .path = root.path().string(), .batch = 1, .seed = 1};
    spec.text.vocabulary = 21;
    spec.text.length = length;
    spec.text.stride = stride;
    return spec;
  }
  std::string refusal(bool strict = false) const {
    SourceSpec given = spec();
    given.text.strict = strict;
    const std::string whole = refusal_of([&] { open_source(given); });
    const std::string prefix = root.path().string() + "/";
    return whole.starts_with(prefix) ? whole.substr(prefix.size()) : whole;
  }
};

TEST(Squad, ReadsManyQuestionsOnALongContextInLinearTime) {
  std::string context;
  for (int i = 0; i < 100'000; ++i) context += "a b ";
  Json set = set_of(context, "Who?", Json::array({answer("b", 399'998)}));
  Json& questions = set["data"][0]["paragraphs"][0]["qas"];
  const Json question = questions[0];
  for (int i = 0; i < 20'000; ++i) questions.push_back(question);
  const Tree tree(set.dump());
  const auto began = std::chrono::steady_clock::now();
  const SquadFile file = read_squad(tree.train, true);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
  ASSERT_EQ(file.questions.size(), 20'001u);
  EXPECT_EQ(file.questions.back().answers[0].begin, 399'998u);
}

TEST(Squad, WindowsMoveByTheStrideAndEndWithTheContext) {
  const Tree tree(set_of("a b c d e f g h i j k l", "Who?", Json::array({answer("e f", 8)})).dump());
  const SquadSet set = open_squad_set(tree.spec());  // room 10 - 2 - 3 = 5
  std::vector<std::vector<size_t>> windows;
  for (const SquadWindow& w : set.windows())
    windows.push_back({w.first, w.count, static_cast<size_t>(w.start), static_cast<size_t>(w.end)});
  // Tokens e f are 4 and 5: split by the first window, inside the second, at place 4 + (4 - 3).
  EXPECT_THAT(windows, ElementsAre(ElementsAre(0, 5, 0, 0), ElementsAre(3, 5, 5, 6), ElementsAre(6, 5, 0, 0),
                                   ElementsAre(9, 3, 0, 0)));
}

TEST(Squad, ASampleIsQuestionAndPartWithLabels) {
  const Tree tree(set_of("a bx c.", "Who?", Json::array({answer("bx", 2)})).dump());
  const auto source = open_source(tree.spec(12));
  EXPECT_EQ(source->size(), 1);
  const TensorMap batch = source->batch_at(1);
  EXPECT_THAT(row(batch, "input_ids", 0), ElementsAre(2, 5, 6, 3, 7, 8, 19, 9, 20, 3, 0, 0));
  EXPECT_THAT(row(batch, "token_type_ids", 0), ElementsAre(0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0, 0));
  EXPECT_THAT(row(batch, "attention_mask", 0), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0));
  EXPECT_THAT(ints(batch, "start"), ElementsAre(5));
  EXPECT_THAT(ints(batch, "end"), ElementsAre(6));
  EXPECT_EQ(count(batch, "tokens"), 10);
  EXPECT_FALSE(batch.contains("count/span"));
}

TEST(Squad, AnswerStartCountsCharactersNotBytes) {
  const Tree tree(set_of("\xe1\xba\xbf\xc3\xa9 b", "who", Json::array({answer("b", 3)})).dump());
  const SquadSet set = open_squad_set(tree.spec());
  EXPECT_EQ(set.file().questions[0].answers[0].begin, 6);
  EXPECT_EQ(set.answer(set.windows()[0], set.windows()[0].start, set.windows()[0].end), "b");
}

TEST(Squad, LongQuestionsAreCut) {
  const Tree tree(set_of("a b c", "a b c d e f g h", Json::array({answer("b", 2)})).dump());
  SourceSpec spec = tree.spec(10);
  spec.text.query = 4;
  const SquadSet set = open_squad_set(spec);
  EXPECT_EQ(set.query(set.windows()[0]).size(), 4);
  EXPECT_EQ(set.windows()[0].start, 7);
}

TEST(Squad, ScoringTakesEachTokenWhereItHasMostContext) {
  const Tree tree(set_of("a b c d e f g h i j k l", "Who?", Json::array({answer("a", 0)})).dump());
  const SquadSet set = open_squad_set(tree.spec());
  // Token 4 (e) is the last of window 0 (poorer side 0) and the second of window 1 (poorer side 1).
  EXPECT_FALSE(set.is_best_context(0, 4 + 4));
  EXPECT_TRUE(set.is_best_context(1, 4 + 1));
  // Token 3: poorer side 1 in window 0, 0 in window 1.
  EXPECT_TRUE(set.is_best_context(0, 4 + 3));
  EXPECT_FALSE(set.is_best_context(1, 4));
  EXPECT_FALSE(set.is_best_context(0, 0));
  for (size_t token = 0; token < 12; ++token) {
    int best = 0;
    for (size_t w = 0; w < set.windows().size(); ++w)
      if (token >= set.windows()[w].first)
        best += set.is_best_context(w, static_cast<int64_t>(4 + token - set.windows()[w].first));
    EXPECT_EQ(best, 1);
  }
  EXPECT_EQ(set.answer(set.windows()[1], 5, 6), "e f");
  EXPECT_EQ(set.answer(set.windows()[1], 1, 6), "");
}

TEST(Squad, RefusesAnAnswerOutsideItsContextByNameAndLine) {
  const Tree late(set_of("a b c", "Who?", Json::array({answer("c d", 4)})).dump(2));
  EXPECT_EQ(late.refusal(),
            "train-v1.1.json:11: answer 'c d' of question 'q1' at character 4 lies outside its context");
  const Tree negative(set_of("a b c", "Who?", Json::array({answer("a", -1)})).dump());
  EXPECT_EQ(negative.refusal(),
            "train-v1.1.json:1: answer 'a' of question 'q1' at character -1 lies outside its context");
  EXPECT_THAT(Tree(set_of("a b c", "Who?", Json::array({answer("a", INT64_MAX)})).dump()).refusal(),
              HasSubstr("at character 9223372036854775807 lies outside its context"));
  EXPECT_EQ(Tree(set_of("a b c", "Who?", Json::array({answer("c", 4)})).dump()).refusal(), "");
}

TEST(Squad, LeavesOutQuestionsThatFillTheSequenceAndSaysSo) {
  Json set = set_of("a b c", "Who?", Json::array({answer("c", 4)}));
  Json& qas = set["data"][0]["paragraphs"][0]["qas"];
  qas.push_back({{"id", "q2"}, {"question", "a b c d e f g h"}, {"answers", Json::array({answer("c", 4)})}});
  const Tree tree(set.dump());
  const auto source = open_source(tree.spec(/*length=*/11));
  EXPECT_EQ(source->size(), 1);
  const std::string reason = "question 'q2' of 8 tokens leaves no room for its context in 11";
  ASSERT_EQ(source->statistics().bad_files.size(), 1);
  EXPECT_EQ(source->statistics().bad_files[0].reason, reason);
  SourceSpec strict = tree.spec(11);
  strict.text.strict = true;
  EXPECT_THAT(refusal_of([&] { open_source(strict); }), HasSubstr(reason));
  EXPECT_THAT(refusal_of([&] { open_source(tree.spec(5)); }), HasSubstr("leaves no room for its context in 5"));
}

TEST(Squad, RefusesACutOffFileAndBytesThatAreNotUtf8) {
  const std::string whole = set_of("a b c", "Who?", Json::array({answer("c", 4)})).dump(1);
  const Tree cut(whole.substr(0, whole.find("answers")));
  EXPECT_THAT(cut.refusal(), testing::MatchesRegex("train-v1.1.json:13: not JSON at byte [0-9]+, where the file ends"));
  const Tree broken(whole.substr(0, 30) + "\n\xff" + whole.substr(30));
  EXPECT_THAT(broken.refusal(), HasSubstr("is not UTF-8"));
  EXPECT_THAT(Tree("{\"data\":\n[}").refusal(), HasSubstr("train-v1.1.json:2: not JSON at byte "));
}

TEST(Squad, NamesWhatIsMissing) {
  Json set = set_of("a b c", "Who?", Json::array({answer("c", 4)}));
  set["data"][0]["paragraphs"][0]["qas"][0].erase("question");
  EXPECT_EQ(Tree(set.dump()).refusal(), "train-v1.1.json: data[0].paragraphs[0].qas[0]: 'question' is missing");
  EXPECT_EQ(Tree("{}").refusal(), "train-v1.1.json: data: a list is missing");
  EXPECT_EQ(Tree("[]").refusal(), "train-v1.1.json: data: a list is missing");
  EXPECT_EQ(Tree(set_of(" ", "Who?", Json::array({answer("c", 0)})).dump()).refusal(),
            "train-v1.1.json: data[0].paragraphs[0]: an empty context");
  EXPECT_EQ(Tree(set_of("c", " ", Json::array({answer("c", 0)})).dump()).refusal(),
            "train-v1.1.json:1: question 'q1' is empty");
}

TEST(Squad, NotesAnAnswerThatIsNotAtItsStatedOffset) {
  const Tree tree(set_of("a b c", "Who?", Json::array({answer("b", 4), answer("c", 4)})).dump());
  const auto source = open_source(tree.spec());
  ASSERT_EQ(source->statistics().bad_files.size(), 1);
  const std::string reason = "answer 'b' of question 'q1' does not stand at character 4 of its context";
  EXPECT_EQ(source->statistics().bad_files[0].reason, reason);
  EXPECT_EQ(tree.refusal(true), "train-v1.1.json:1: " + reason);
}

TEST(Squad, ValidationSaysWhichWindowASampleIs) {
  const Tree tree(set_of("a b c d e f g h i j k l", "Who?", Json::array({answer("b", 2)})).dump());
  write_file(tree.root.path() / "dev-v1.1.json", read_file(tree.train));
  SourceSpec spec = tree.spec();
  EXPECT_FALSE(open_source(spec)->batch_at(1).contains(std::string(kPosition)));
  spec.split = Split::val;
  EXPECT_THAT(ints(open_source(spec)->batch_at(2), std::string(kPosition)), ElementsAre(1));
}

}  // namespace
}  // namespace tbd
