// tbd data as a person uses it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/testing_command.h"
#include "data/known_sets.h"
#include "data/sets/made_set.h"
#include "data/sets/stamp_set.h"
#include "data/testing_images.h"
#include "graph/graph.h"
#include "models/model.h"

namespace tbd::cli {
namespace {
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Of the boxes of a picture as a network's input takes them; nullopt where it takes none.
std::optional<int64_t> places_for_boxes(std::string_view network) {
  const size_t colon = std::min(network.find(':'), network.size());
  const std::string config(network.substr(std::min(colon + 1, network.size())));
  const Program program = find_model(network.substr(0, colon)).config(config).program();
  const Graph graph = bind(program, program.phases.at(0), {{"N", 2}});
  const std::optional<ValueId> boxes = graph.find("gt_box");
  return boxes ? std::optional(graph.value(*boxes).shape[1]) : std::nullopt;
}

TEST(KnownSets, StampsHaveNoMoreObjectsThanTheirNetworksHavePlacesFor) {
  constexpr std::string_view kOption = "--objects ";
  int asked = 0;
  for (const KnownSet& set : known_sets()) {
    if (!set.made_by.starts_with("tbd data stamps")) continue;
    const size_t option = set.made_by.find(kOption);
    int64_t most = StampSetOptions().objects;
    if (option != set.made_by.npos) {
      const std::string_view rest = set.made_by.substr(option + kOption.size());
      most = parse_int(rest.substr(0, rest.find(' '))).value();
    }
    for (const std::string& network : split(set.models, ' '))
      if (const std::optional<int64_t> places = places_for_boxes(network)) {
        EXPECT_LE(most, *places) << set.name << " for " << network;
        ++asked;
      }
  }
  EXPECT_EQ(asked, 2);
}

class DataCommand : public testing::Test {
 protected:
  Said data(std::vector<std::string> words) const {
    words.insert(words.begin(), "data");
    return said_by(std::move(words), path("cache"));
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  std::string made_messages() const {
    MadeSet made(path("out"));
    for (const char* split : {"train", "val"}) {
      write_file(made.folder() / cat(split, ".en"), "no such file\nno space\n");
      write_file(made.folder() / cat(split, ".de"), "keine Datei\nkein Platz\n");
    }
    made.finish("messages", {{"languages", {"en", "de"}}});
    return path("out").string();
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(DataCommand, WithoutArgumentsListsTheSetsOfEveryModel) {
  const Said said = data({});
  ASSERT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("SQuAD v1.1\n  read as  squad\n"), HasSubstr("CC BY-SA 4.0"),
                              HasSubstr("87,599 training")));
  for (const Model& model : all_models()) EXPECT_THAT(said.out, HasSubstr(model.name)) << model.name;
}

TEST_F(DataCommand, ListsOneObjectASetAndWhereItIs) {
  make_folder(path("cache/data/prose"));
  write_file(path("cache/data/prose/data.json"), "{}");
  const Said said = data({"--json"});
  std::istringstream lines(said.out);
  int sets = 0, made = 0;
  for (std::string line; std::getline(lines, line); ++sets) {
    const Json json = parse_json(line, "data");
    for (const char* key : {"name", "kind", "models", "source", "licence", "layout"})
      EXPECT_FALSE(at<std::string>(json, key).empty()) << key;
    if (!json["folder"].is_null()) made += json["name"] == "prose" ? 1 : 100;
  }
  EXPECT_GE(sets, 11);
  EXPECT_EQ(made, 1);
}

TEST_F(DataCommand, ChecksAFolderThatItMade) {
  const std::string out = made_messages();
  const Said said = data({"check", "parallel_text", out, "--json"});  // its data.json names the languages
  ASSERT_EQ(said.code, kDone) << said.err;
  const Json train = parse_json(said.out.substr(0, said.out.find('\n')), "check");
  EXPECT_EQ(train["split"], "train");
  EXPECT_EQ(at<int64_t>(train, "samples"), 2);
  EXPECT_EQ(train["as_recorded"], true);
}

TEST_F(DataCommand, FailsOnABadFileWithTheReadersMessage) {
  const std::string out = made_messages();
  write_file(path("out/val.de"), "\xff\n");
  const Said said = data({"check", "parallel_text", out});
  EXPECT_EQ(said.code, kVerdictFailed);
  EXPECT_THAT(said.err, HasSubstr("val.de:1: byte 0xff at column 1 is not UTF-8"));
  EXPECT_THAT(said.out, IsEmpty());
}

TEST_F(DataCommand, ReportsSkippedSamplesAndFailsWhenStrict) {
  write_file(path("train.en"), "a b\n\n");
  write_file(path("train.vi"), "x\ny\n");
  const std::string root = path("").string();
  const Said told = data({"check", "parallel_text", root});
  EXPECT_EQ(told.code, kDone);
  EXPECT_THAT(told.out, AllOf(HasSubstr("train.en:2: an empty sentence"), Not(HasSubstr("\nval"))));
  const Said strict = data({"check", "parallel_text", root, "--strict"});
  EXPECT_EQ(strict.code, kVerdictFailed);
  EXPECT_THAT(strict.err, HasSubstr("train.en:2: an empty sentence"));
}

TEST_F(DataCommand, ChecksGamesMoveByMove) {
  make_folder(path("games/train"));
  const std::string root = path("games").string();
  write_file(path("games/train/good.sgf"), "(;SZ[9]RE[B+R];B[aa];W[bb];B[])");
  write_file(path("games/train/handicap.sgf"), "(;SZ[9]HA[3]RE[B+R];W[aa])");
  const Said good = data({"check", "sgf", root});
  EXPECT_EQ(good.code, kDone) << good.err;
  EXPECT_THAT(good.out, HasSubstr("left out: handicap.sgf: a game with handicap"));
  write_file(path("games/train/bad.sgf"), "(;SZ[9]RE[B+R];B[aa];W[aa])");
  const Said bad = data({"check", "sgf", root});
  EXPECT_EQ(bad.code, kVerdictFailed);
  EXPECT_THAT(bad.out, HasSubstr("left out: bad.sgf: move 2: White at A9 is illegal: the point is occupied"));
  const Said other = data({"check", "sgf", root, "--board", "19"});
  EXPECT_EQ(other.code, kVerdictFailed);
  EXPECT_THAT(other.err, HasSubstr("no usable game"));
}

TEST_F(DataCommand, UnlabelledImagesAreCheckedAtTheSizeOfTheirFolder) {
  testing_images::write_png(path("set/train_16x16/a.png"), 1, {16, 16});
  testing_images::write_png(path("set/train_16x16/b.png"), 2, {16, 16});
  const std::string set = path("set").string();
  const Said good = data({"check", "unlabelled_images", set, "--json"});
  EXPECT_EQ(good.code, kDone) << good.err;
  EXPECT_EQ(parse_json(good.out, "check")["samples"], 2);
  testing_images::write_png(path("set/train_16x16/b.png"), 2, {16, 15});
  const Said bad = data({"check", "unlabelled_images", set});
  EXPECT_EQ(bad.code, kVerdictFailed);
  EXPECT_THAT(bad.out, HasSubstr("b.png: an image of 16 x 15 pixels, not of 16 x 16"));
  EXPECT_THAT(data({"check", "unlabelled_images", set, "--size", "8"}).err, HasSubstr("only train_16x16"));
}

TEST_F(DataCommand, MakesCropsOfTheSizeAskedFor) {
  testing_images::write_jpeg(path("in/a.jpg"), 1, {1001, 1000});
  const Said made = data({"crops", "--source", path("in").string(), "--out", path("out").string(), "--size", "8"});
  ASSERT_EQ(made.code, kDone) << made.err;
  EXPECT_THAT(made.out, HasSubstr("250 training and 25 validation images from 1 pictures"));
  EXPECT_EQ(data({"check", "unlabelled_images", path("out").string()}).code, kDone);
}

TEST_F(DataCommand, RefusesUnknownNamesAndMissingArguments) {
  EXPECT_THAT(data({"photo"}).err, HasSubstr("did you mean 'photos'?"));
  EXPECT_THAT(data({"prompts"}).err, HasSubstr("data prompts needs --source DIR and --out DIR"));
  EXPECT_THAT(data({"stamps", "--source", path("none").string(), "--out", path("o").string(), "--sides", "24"}).err,
              HasSubstr("--sides needs two whole numbers as in 24-320, got '24'"));
  EXPECT_THAT(data({"games"}).err, HasSubstr("data games needs --out DIR"));
  EXPECT_THAT(data({"prompts", "more"}).err, HasSubstr("unexpected argument 'more'"));
  EXPECT_THAT(data({"check", "squad"}).err, HasSubstr("data check takes KIND and FOLDER"));
  EXPECT_THAT(data({"check", "sqad", "x"}).err, HasSubstr("did you mean 'squad'?"));
  const Said absent = data({"check", "squad", path("none").string()});
  EXPECT_EQ(absent.code, kBadUsage);
  EXPECT_THAT(absent.err, HasSubstr("has no training questions"));
}

TEST_F(DataCommand, RemovesAPartialSetOnFailure) {
  make_folder(path("in"));
  const Said said = data({"prompts", "--source", path("in").string(), "--out", path("out").string()});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("has no list of prompts"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("")), std::filesystem::directory_iterator()), 1);
}

}  // namespace
}  // namespace tbd::cli
