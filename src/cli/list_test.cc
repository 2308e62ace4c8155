// The forms of `tbd list`, without a worker.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "cli/list_overview.h"
#include "cli/screen.h"
#include "cli/testing_command.h"
#include "models/model.h"
#include "record/frameworks.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::string text_of(const std::vector<Table>& tables) {
  std::string out;
  for (const Table& table : tables) out += to_text(table);
  return out;
}

Availability running(const std::string& key) {
  Availability out{
      .key = key, .framework = key, .version = "1.2.3", .state = "runs", .reason = "", .note = "", .can = {}};
  out.can.emplace();
  out.can->precisions = {Precision::kFp64, Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16};
  out.can->devices = {Device::kCpu, Device("cuda:0"), Device("cuda:1"), Device("cuda:2")};
  return out;
}

Availability not_built(const std::string& key) {
  return {.key = key,
          .framework = key,
          .version = "",
          .state = "absent",
          .reason = cat("not built here; './tbd setup --frameworks ", key, "' fetches and builds it"),
          .note = "",
          .can = {}};
}

// One answer for every question.
Matrix answered(const std::vector<Availability>& frameworks, const std::vector<LoweringQuestion>& questions) {
  return Matrix(frameworks.size(), std::vector<Lowering>(questions.size()));
}

// What the table says of the network in the framework.
std::string cell_of(const std::vector<Table>& tables, const std::string& row_name, const std::string& column_key) {
  for (const Table& table : tables)
    for (size_t column = 0; column < table.columns.size(); ++column)
      for (const auto& row : table.rows)
        if (table.columns[column].key == column_key && std::get<std::string>(row[0]) == row_name)
          return std::get<std::string>(row[column]);
  return "none";
}

class Lists : public testing::Test {
 protected:
  Said tbd(std::vector<std::string> arguments) {
    return said_by(std::move(arguments), folder_.path() / "cache", folder_.path() / "build", TBD_SOURCE_DIR);
  }

 private:
  TemporaryFolder folder_;
};

TEST(Wrapped, LinesFitAndKeepEveryWord) {
  EXPECT_THAT(wrap("one two three four", 9), ElementsAre("one two", "  three", "  four"));
  EXPECT_THAT(wrap("extraordinarily long", 5), ElementsAre("extraordinarily", "  long"));
  EXPECT_THAT(wrap("any text", kNoWidth), ElementsAre("any text"));
  EXPECT_EQ(terminal_columns(-1, "100"), 100);
  for (const char* said : {"", "wide", "0"}) EXPECT_EQ(terminal_columns(-1, said), kUnbounded) << "no terminal";
}

TEST_F(Lists, PlainListFitsAScreen) {
  const Said said = tbd({"list"});
  ASSERT_EQ(said.code, kDone) << said.err;
  EXPECT_LE(widest(said.out), 80u) << said.out;
  EXPECT_LE(lines_of(said.out).size(), 32u) << said.out;
  EXPECT_THAT(said.out, AllOf(HasSubstr("mxnet, mlx, cntk: not built here"), HasSubstr("Plans: plans/all.plan"),
                              HasSubstr("tbd list MODEL"), HasSubstr("tbd list --all")));
}

TEST_F(Lists, PlainListHasARowANetwork) {
  const std::string out = tbd({"list"}).out;
  for (const Model& model : all_models()) {
    const auto is_row = [&](const std::string& line) { return line.starts_with(model.name + " "); };
    EXPECT_EQ(std::ranges::count_if(lines_of(out), is_row), 1) << model.name;
  }
}

TEST_F(Lists, OneNetworkShowsItsConfigurations) {
  const Said said = tbd({"list", "resnet50"});
  ASSERT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("resnet50: ResNet-50 v1.5"), HasSubstr("\n152 "), HasSubstr("60,192,808"),
                              HasSubstr("pytorch absent: not built here"), Not(HasSubstr("bert"))));
  EXPECT_LE(widest(said.out), 80u) << said.out;
}

TEST_F(Lists, UnknownNetworkOffersTheNearest) {
  const Said said = tbd({"list", "resnet5"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("did you mean 'resnet50'?"));
  EXPECT_THAT(said.out, IsEmpty());
}

TEST_F(Lists, TakesANetworkOrAll) {
  const Said said = tbd({"list", "resnet50", "--all"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("list takes a model or --all, got 'resnet50' and --all"));
}

TEST_F(Lists, AllNamesEveryConfiguration) {
  const std::string out = tbd({"list", "--all"}).out;
  EXPECT_THAT(out, AllOf(HasSubstr("dominant layer"), HasSubstr("squad_frozen_tiny"), HasSubstr("plans/all.plan\n")));
}

TEST_F(Lists, JsonHasEveryRowWithAndWithoutAll) {
  const std::string rows = tbd({"list", "--json"}).out;
  EXPECT_EQ(rows, tbd({"list", "--all", "--json"}).out);
  EXPECT_THAT(lines_of(rows), SizeIs(all_questions().size() * known_frameworks().size()));
  EXPECT_THAT(lines_of(tbd({"list", "minigo", "--json"}).out), Each(HasSubstr("\"model\":\"minigo\"")));
}

TEST(NetworkOverview, MarksSayWhatRuns) {
  const std::vector<LoweringQuestion> questions = all_questions();
  const std::vector<Availability> frameworks = {running("pytorch"), not_built("mxnet")};
  Matrix matrix = answered(frameworks, questions);
  for (size_t i = 0; i < questions.size(); ++i) {
    const bool bf16 = questions[i].precision == Precision::kBf16, tiny = questions[i].config == "tiny";
    if (questions[i].model == "bert" && bf16) matrix[0][i].state = Lowering::State::composed;
    if (questions[i].model == "minigo" && tiny) matrix[0][i].state = Lowering::State::unsupported;
    if (questions[i].model == "llama") matrix[0][i].state = Lowering::State::unsupported;
    if (questions[i].model == "wgan_gp" && bf16) matrix[0][i].state = Lowering::State::unsupported;
  }
  const std::vector<Table> tables = network_overview(frameworks, questions, matrix, kScreenWidth);
  EXPECT_EQ(cell_of(tables, "resnet50", "pytorch"), "runs");
  EXPECT_EQ(cell_of(tables, "bert", "pytorch"), "composed");
  EXPECT_EQ(cell_of(tables, "minigo", "pytorch"), "3 of 4");
  EXPECT_EQ(cell_of(tables, "llama", "pytorch"), "no");
  EXPECT_EQ(cell_of(tables, "wgan_gp", "pytorch"), "runs");
  EXPECT_EQ(cell_of(tables, "resnet50", "mxnet"), "absent");
  EXPECT_THAT(text_of(tables), AllOf(HasSubstr("composed: runs, but "), HasSubstr("N of M: "), HasSubstr("absent: ")));
}

TEST(NetworkOverview, FitsTheScreenWithManyFrameworks) {
  std::vector<Availability> frameworks = {running("pytorch"), running("tensorflow"), not_built("mxnet")};
  for (const char* version : {"2.1.0", "2.4.1", "2.7.0"}) frameworks.push_back(running(cat("pytorch@", version)));
  const std::vector<LoweringQuestion> questions = all_questions();
  const Matrix matrix = answered(frameworks, questions);
  EXPECT_LE(widest(text_of(network_overview(frameworks, questions, matrix, kScreenWidth))), 80u);
  EXPECT_THAT(network_overview(frameworks, questions, matrix, kNoWidth), SizeIs(1));
  EXPECT_EQ(cell_of(network_overview(frameworks, questions, matrix, kScreenWidth), "bert", "pytorch@2.7.0"), "runs");
  const std::string overview = to_text(framework_overview(frameworks, kScreenWidth));
  EXPECT_LE(widest(overview), 80u);
  EXPECT_THAT(overview, HasSubstr("cpu cuda:0-2\n"));
}

TEST(NetworkDetail, MarksComposedOpsAndExplainsUnsupportedOnes) {
  const std::vector<LoweringQuestion> questions = questions_of(find_model("seq2seq"));
  const std::vector<Availability> frameworks = {running("pytorch"), not_built("mxnet")};
  Matrix matrix = answered(frameworks, questions);
  matrix[0][1].state = Lowering::State::composed;
  matrix[0][2] = {.state = Lowering::State::unsupported, .composed = {}, .reason = "no such op"};
  matrix[1].assign(questions.size(), {.state = Lowering::State::unsupported, .composed = {}, .reason = "not built"});
  const std::vector<Table> tables = network_detail(frameworks, questions, matrix, kScreenWidth);
  EXPECT_EQ(cell_of(tables, "canonical", "pytorch"), "fp32 bf16*");
  EXPECT_EQ(cell_of(tables, "canonical", "mxnet"), "absent");
  EXPECT_THAT(text_of(tables), AllOf(HasSubstr("\n*: some ops are combined"), HasSubstr("\npytorch fp16: no such op\n"),
                                     HasSubstr("\nmxnet absent: not built\n")));
}

}  // namespace
}  // namespace tbd::cli
