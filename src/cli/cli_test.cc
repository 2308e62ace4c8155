// What a person sees: one clear sentence, the right exit code, nothing half-written. No worker is started here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <wordexp.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "base/testing_growth.h"
#include "cli/testing_command.h"

namespace tbd::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

class CommandLine : public testing::Test {
 protected:
  Said tbd(std::vector<std::string> arguments) {
    return said_by(std::move(arguments), folder_.path() / "cache", folder_.path() / "build", TBD_SOURCE_DIR);
  }
  std::filesystem::path path(const std::string& name) const { return folder_.path() / name; }
  bool nothing_written() const { return std::filesystem::is_empty(folder_.path()); }

 private:
  TemporaryFolder folder_;
};

TEST_F(CommandLine, WithoutACommandPrintsHelpAndReturnsBadUsage) {
  const Said said = tbd({});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.out, AllOf(HasSubstr("quickstart"), HasSubstr("doctor")));
}

TEST_F(CommandLine, UnknownCommandOffersTheNearest) {
  const Said said = tbd({"quikstart"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("unknown command 'quikstart', did you mean 'quickstart'?"));
  EXPECT_THAT(said.out, IsEmpty());
}

TEST_F(CommandLine, UnknownModelOffersTheNearest) {
  const Said said = tbd({"describe", "resnet5"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("did you mean 'resnet50'?"));
}

TEST_F(CommandLine, UnknownConfigOffersTheNearest) {
  const Said said = tbd({"describe", "resnet50", "--config", "tinny"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("did you mean 'tiny'?"));
}

TEST_F(CommandLine, UnknownOptionOffersTheNearest) {
  const Said said = tbd({"run", "resnet50", "--bach", "4"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("unknown option '--bach', did you mean '--batch'?"));
}

TEST_F(CommandLine, UnknownFormatAndPrecisionAndEffortAreNamed) {
  EXPECT_THAT(tbd({"describe", "resnet50", "--format", "jsn"}).err, HasSubstr("did you mean 'json'?"));
  EXPECT_THAT(tbd({"describe", "resnet50", "--precision", "bf61"}).err, HasSubstr("'bf61'"));
  EXPECT_THAT(tbd({"describe", "resnet50", "--framework", "jax"}).err,
              HasSubstr("pytorch, tensorflow or mxnet, not 'jax'"));
  EXPECT_THAT(tbd({"run", "resnet50", "--effort", "quik"}).err, HasSubstr("did you mean 'quick'?"));
}

TEST_F(CommandLine, BatchMustBePositiveAndWithinTheLimit) {
  for (const char* batch : {"0", "-3", "four", "1e3", "99999999999", "999999999999999999999"}) {
    const Said said = tbd({"run", "resnet50", cat("--batch=", batch)});
    EXPECT_EQ(said.code, kBadUsage) << batch;
    EXPECT_THAT(said.err, AllOf(HasSubstr("--batch"), HasSubstr(batch)));
  }
  EXPECT_TRUE(nothing_written());
}

TEST_F(CommandLine, RunWithoutAModelSaysWhatItNeeds) {
  const Said said = tbd({"run"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("run needs a model, --plan FILE or --like RECORD"));
}

TEST_F(CommandLine, APlanWithABadLineIsNamedWithItsNumber) {
  write_file(path("bad.plan"), "# a comment\nmodels: resnet5\n");
  const Said said = tbd({"run", "--plan", path("bad.plan").string()});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("bad.plan:2"));
}

TEST_F(CommandLine, AnAbsentFrameworkIsARefusalWithTheReason) {
  const Said said = tbd({"run", "resnet50", "--framework", "pytroch", "--batch", "2", "--out", path("out").string()});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("pytroch"));
  EXPECT_FALSE(std::filesystem::exists(path("out")));
}

TEST_F(CommandLine, ReportOfNothingIsRefused) {
  const Said said = tbd({"report", path("no-such-results").string(), "--out", path("r.html").string()});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("no-such-results"));
  EXPECT_FALSE(std::filesystem::exists(path("r.html")));
}

TEST_F(CommandLine, ReportOffersItsOwnFormatAmongTheOthers) {
  const std::string results = path("r").string();
  EXPECT_THAT(tbd({"report", results, "--format", "markdown"}).err, HasSubstr("known: html, table, md, csv, json"));
  EXPECT_THAT(tbd({"report", results, "--format", "htm"}).err, HasSubstr("did you mean 'html'"));
}

TEST_F(CommandLine, DescribePrintsOneJsonLine) {
  const Said said = tbd({"describe", "resnet50", "--json"});
  ASSERT_EQ(said.code, kDone) << said.err;
  EXPECT_EQ(std::ranges::count(said.out, '\n'), 1);
  const Json json = parse_json(said.out, "describe");
  EXPECT_EQ(at<int64_t>(json, "parameters"), 25'557'032);
  EXPECT_EQ(at<int64_t>(json, "trainable_parameters"), 25'557'032);
  EXPECT_EQ(at<int64_t>(json, "buffers"), 53'120);
  EXPECT_EQ(at<int64_t>(json, "weight_bytes"), 102'228'128);
  EXPECT_EQ(at<int64_t>(json, "forward_macs"), 4'089'184'256);
  EXPECT_EQ(at<int64_t>(json, "train_flops"), 24'299'077'632);
  EXPECT_EQ(at<std::string>(json, "model_hash").size(), 16u);
  EXPECT_FALSE(at<Json>(json, "layers").empty());
}

TEST_F(CommandLine, DescribePredictsMemoryOfAsManyRowsAsAreValid) {
  const auto described = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"describe", "mask_rcnn", "--config", "tiny", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    return tbd(words);
  };
  const auto memory = [&](std::vector<std::string> more) {
    return at<Json>(parse_json(described(std::move(more)).out, "describe"), "predicted_memory_bytes");
  };
  const Json all = memory({}), three = memory({"--rows", "3"});
  EXPECT_EQ(at<int64_t>(all, "ragged_rows"), 8);
  EXPECT_EQ(at<int64_t>(three, "ragged_rows"), 3);
  EXPECT_LT(at<int64_t>(three, "peak"), at<int64_t>(all, "peak"));
  EXPECT_EQ(at<int64_t>(memory({"--rows", "8"}), "peak"), at<int64_t>(all, "peak"));
  const auto kept = [&](std::vector<std::string> more) {
    const Json json = parse_json(described(std::move(more)).out, "describe");
    int64_t bytes = 0;
    for (const Json& layer : json.at("layers")) bytes += at<int64_t>(layer, "saved_bytes");
    return bytes;
  };
  EXPECT_EQ(kept({"--rows", "3"}), at<int64_t>(three, "feature_maps")) << "of the layers";
  EXPECT_EQ(kept({}), at<int64_t>(all, "feature_maps"));
  EXPECT_THAT(described({"--rows", "9"}).err, HasSubstr("--rows is 9, of 8 ragged rows"));
  EXPECT_THAT(tbd({"describe", "resnet50", "--rows", "1"}).err, HasSubstr("it has no ragged rows"));
}

TEST_F(CommandLine, DescribeTakesTheLeastBatchOfTheNetwork) {
  const auto batch = [&](const std::string& model) {
    const Said said = tbd({"describe", model, "--config", "tiny", "--json"});
    return said.code == kDone ? at<int64_t>(parse_json(said.out, "describe"), "batch") : 0;
  };
  EXPECT_EQ(batch("resnet50"), 1);
  EXPECT_EQ(batch("efficientdet_d0"), 2) << "its last map is one cell, which batch statistics cannot do with alone";
  const Said one = tbd({"describe", "efficientdet_d0", "--config", "tiny", "--batch", "1"});
  EXPECT_EQ(one.code, kBadUsage);
  EXPECT_THAT(one.err, HasSubstr("more than one value per channel"));
}

TEST_F(CommandLine, AProgramFileIsTheModelItCameFrom) {
  const Said program = tbd({"describe", "resnet50", "--config", "tiny", "--program"});
  write_file(path("tiny.json"), program.out);
  const Said by_name = tbd({"describe", "resnet50", "--config", "tiny", "--json"});
  const Said by_file = tbd({"describe", path("tiny.json").string(), "--json"});
  EXPECT_EQ(by_name.out, by_file.out);
}

TEST_F(CommandLine, ATruncatedProgramFileIsNamed) {
  write_file(path("cut.json"), tbd({"describe", "resnet50", "--program"}).out.substr(0, 1000));
  const Said said = tbd({"describe", path("cut.json").string()});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, AllOf(HasSubstr("cut.json"), HasSubstr("not JSON")));
}

TEST_F(CommandLine, RefusesAProgramFileThatIsNotRegular) {
  const Said said = tbd({"describe", "/dev/zero"});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_EQ(said.err, "tbd: error: cannot read /dev/zero: it is not a regular file\n");
}

// A chain of affine layers with a loss at its end.
std::string chain_of(int64_t layers) {
  std::string nodes, parameters, last = "x";
  for (int64_t i = 0; i < layers; ++i) {
    const std::string name = cat("l", i);
    parameters += cat(i ? "," : "", R"({"name":")", name, R"(.weight","shape":[4,4]})");
    nodes += cat(R"({"name":")", name, R"(","op":"linear","inputs":[")", last, R"(",")", name,
                 R"(.weight"],"attributes":{"out":4,"bias":false}},)");
    last = name;
  }
  return cat(R"({"version":1,"step":[{"phase":"train"}],"parameters":[)", parameters,
             R"(],"phases":[{"name":"train","inputs":[{"name":"x","shape":["N",4]},{"name":"label","shape":["N"],)",
             R"("dtype":"i32"}],"nodes":[)", nodes, R"({"name":"ce","op":"softmax_cross_entropy","inputs":[")", last,
             R"(","label"]}],"loss":[{"name":"ce","value":"ce"}],"update":{"optimizer":{"kind":"sgd"},"groups":)",
             R"([{"parameters":["l0.weight"]}],"schedule":{"kind":"constant","base":0.1}}}]})");
}

TEST_F(CommandLine, DescribesALongProgramInLinearTime) {
  const auto describe = [&](int64_t layers) {
    write_file(path("long.json"), chain_of(layers));
    const Said said = tbd({"describe", path("long.json").string()});
    EXPECT_EQ(said.code, kDone) << said.err;
    EXPECT_THAT(said.out, HasSubstr(cat("l", layers - 1)));
  };
  EXPECT_LT(growth_by_ten(2'000, describe), kLinearGrowth);
}

TEST_F(CommandLine, DescribesManyOutputsInLinearTime) {
  const auto describe = [&](int64_t count) {
    Json program = parse_json(chain_of(1), "program");
    Json::object_t outputs;
    for (int64_t i = 0; i < count; ++i) outputs.emplace_back(cat("o", i), "l0");
    program["phases"][0]["outputs"] = std::move(outputs);
    write_file(path("outputs.json"), program.dump());
    const Said said = tbd({"describe", path("outputs.json").string()});
    EXPECT_EQ(said.code, kDone) << said.err;
  };
  EXPECT_LT(growth_by_ten(10'000, describe), kLinearGrowth);
}

TEST_F(CommandLine, ErrorsEscapeControlCharacters) {
  EXPECT_THAT(tbd({"run", "\x1b[31mx"}).err, HasSubstr("unknown model '\\x1b[31mx'"));
  EXPECT_THAT(tbd({"\x1b[2J"}).err, HasSubstr("unknown command '\\x1b[2J'"));
  EXPECT_THAT(tbd({"run", "--\x07"}).err, HasSubstr("--\\x07"));
  EXPECT_THAT(tbd({"describe", "a\xff\u202eb\u00e4"}).err, HasSubstr("'a\\xff\\u202eb\u00e4'"));
  write_file(path("binary.plan"), std::string("\x7f"
                                              "ELF\x02\0\xc3(",
                                              8));
  const Said said = tbd({"run", "--plan", path("binary.plan").string()});
  EXPECT_EQ(said.code, kBadUsage);
  EXPECT_THAT(said.err, HasSubstr("\\x7fELF\\x02\\x00\\xc3("));
}

TEST_F(CommandLine, ListNamesEveryConfigAndWhyAFrameworkIsAbsent) {
  const Said said = tbd({"list", "--json"});
  ASSERT_EQ(said.code, kDone) << said.err;
  EXPECT_THAT(said.out, AllOf(HasSubstr("\"152\""), HasSubstr("absent"), HasSubstr("not built here")));
}

TEST_F(CommandLine, CheckTakesOneModelOrAll) {
  const auto refused = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "check");
    const Said said = tbd(arguments);
    EXPECT_EQ(said.code, kBadUsage);
    EXPECT_THAT(said.out, IsEmpty());
    return said.err;
  };
  EXPECT_THAT(refused({}), HasSubstr("check needs a model, or --all"));
  EXPECT_THAT(refused({"resnet50", "--all"}), HasSubstr("check takes a model or --all, got 'resnet50' and --all"));
  EXPECT_THAT(refused({"--all", "--workers", "2"}), HasSubstr("--workers checks one model, got --all"));
  EXPECT_THAT(refused({"--records", "r", "--workers", "2"}), HasSubstr("--workers checks a model, got --records"));
  EXPECT_THAT(refused({"resnet50", "--workers", "2", "--precision", "fp16"}), HasSubstr("--workers checks in fp64"));
  EXPECT_THAT(refused({"resnet50", "--workers", "2", "--device", "cuda:0"}), HasSubstr("--workers checks on the CPU"));
  EXPECT_THAT(refused({"resnet50", "--exchange", "sharded"}), HasSubstr("is of several workers: ask for them"));
  EXPECT_THAT(refused({"resnet50", "--workers", "2", "--exchange", "none"}), HasSubstr("leaves nothing to check"));
  EXPECT_THAT(refused({"resnet50", "--workers", "2", "--exchange", "shard"}), HasSubstr("did you mean 'sharded'"));
  EXPECT_THAT(refused({"resnet50", "--workers", "0"}), HasSubstr("--workers needs a positive whole number"));
  EXPECT_THAT(refused({"resnet50", "--hosts", "a,b"}), HasSubstr("--hosts is of several workers: give --workers"));
  EXPECT_THAT(refused({"resnet50", "--workers", "3", "--hosts", "a,b"}), HasSubstr("--hosts has places for 2 workers"));
  EXPECT_THAT(refused({"--all", "--config", "canonical"}), HasSubstr("--config canonical names one"));
  EXPECT_THAT(refused({"--all", "--framework", "pytroch"}), HasSubstr("pytroch"));
  EXPECT_TRUE(nothing_written());
}

TEST_F(CommandLine, LinkRefusesWhatNoMachineCanExchange) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--workers", "1"}, "an exchange needs 2 workers, got --workers 1"},
      {{"--workers", "0"}, "--workers needs a positive whole number, got '0'"},
      {{"--workers", "1.5"}, "--workers needs a positive whole number, got '1.5'"},
      {{"--workers", "5000"}, ", got 5000: each needs a core of its own, and "},
      {{"--framework", "pytroch"}, "unknown framework 'pytroch', did you mean 'pytorch'?"},
      {{"--dtype", "fp31"}, "unknown type 'fp31', did you mean 'fp32'"},
      {{"--dtype", "fp32,int8"}, "known are fp32, bf16, fp16, fp64"},
      {{"--sizes", "4096"}, "--sizes"},
      {{"--sizes", "1KiB,0B"}, "--sizes"},
      {{"--sizes", "6B"}, "6 bytes are no whole number of elements of fp32, which have 4 bytes each"},
      {{"--seconds", "0"}, "--seconds must be above 0, got 0"},
      {{"--repetitions", "0"}, "--repetitions needs a positive whole number"},
      {{"--out", "/no/such/folder/link.json"}, "--out: there is no folder /no/such/folder"},
      {{"--out", "/usr"}, "--out: /usr is a folder, not a file"},
      {{"--out", "/link.json", "--oversubscribe"}, "workers that share cores measure no link"},
      {{"--out", "/link.json", "--hosts", "a,b"}, "--out keeps what predictions take for links of one machine"},
      {{"--hosts", "a"}, "--hosts has places for 1 worker, and --workers is 2"},
      {{"--format", "jsn"}, "did you mean 'json'?"},
  };
  for (const auto& [options, sentence] : cases) {
    std::vector<std::string> arguments = {"link"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Said said = tbd(arguments);
    EXPECT_EQ(said.code, kBadUsage) << said.err;
    EXPECT_THAT(said.err, HasSubstr(sentence));
    EXPECT_THAT(said.out, IsEmpty());
  }
  EXPECT_TRUE(nothing_written());
}

TEST_F(CommandLine, EveryCommandExplainsItself) {
  for (const auto& command : all_commands()) {
    const Said said = tbd({command->name(), "--help"});
    EXPECT_EQ(said.code, kDone) << command->name();
    EXPECT_THAT(said.out, HasSubstr("Usage")) << command->name();
  }
}

// Commands that documents tell a person to type.
struct Typed {
  std::string file, line;
  std::vector<std::string> words;  // without "./tbd"
  bool has(const std::string& word) const { return std::ranges::count(words, word) > 0; }
  std::string value_of(const std::string& option) const {
    const auto found = std::ranges::find(words, option);
    return found == words.end() || found + 1 == words.end() ? "" : *(found + 1);
  }
};

std::vector<std::string> shell_words(const std::string& line) {
  wordexp_t expanded{};
  EXPECT_EQ(wordexp(line.c_str(), &expanded, WRDE_NOCMD | WRDE_SHOWERR), 0) << line;
  std::vector<std::string> words(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  wordfree(&expanded);
  return words;
}

// Lines of the document's blocks of shell, without comments and redirections.
std::vector<Typed> typed_in(const std::filesystem::path& file) {
  std::vector<Typed> all;
  bool shell = false;
  for (const std::string& each : split(read_file(file), '\n')) {
    const std::string line(trim(each));
    if (line.starts_with("```")) shell = line == "```sh";
    if (!shell || !line.starts_with("./tbd ")) continue;
    std::vector<std::string> words = shell_words(line.substr(0, std::min(line.find(" #"), line.find(" >"))));
    all.push_back({file.filename().string(), line, {words.begin() + 1, words.end()}});
  }
  return all;
}

std::vector<Typed> typed_in_all() {
  const std::filesystem::path source = TBD_SOURCE_DIR;
  std::vector<Typed> all = typed_in(source / "README.md");
  for (const std::filesystem::directory_entry& entry : std::filesystem::directory_iterator(source / "docs"))
    if (entry.path().extension() == ".md") std::ranges::copy(typed_in(entry.path()), std::back_inserter(all));
  return all;
}

TEST(Documented, CommandsAreThoseThatTheProgramTakes) {
  const std::vector<Typed> all = typed_in_all();
  EXPECT_GT(all.size(), 50u);
  for (const Typed& typed : all) {
    SCOPED_TRACE(cat(typed.file, ": ", typed.line));
    const auto commands = all_commands();
    const auto command = std::ranges::find(commands, typed.words.at(0), [](const auto& c) { return c->name(); });
    ASSERT_NE(command, commands.end());
    Options options;
    (*command)->declare(options);
    EXPECT_EQ(parse(options, typed.words[0], "", {typed.words.begin() + 1, typed.words.end()}).misuse, "");
  }
}

// A number of effort smoke is no evidence: what observe is asked about must be measured with another.
TEST(Documented, TheTutorialObservesWhatItMeasuredBefore) {
  std::set<std::string> measured;
  int observed = 0;
  for (const Typed& typed : typed_in(std::filesystem::path(TBD_SOURCE_DIR) / "docs/tutorial.md")) {
    if (typed.words[0] == "observe") {
      ++observed;
      EXPECT_TRUE(measured.contains(typed.words.at(1))) << typed.line;
    } else if (typed.has("--out") && typed.value_of("--effort") != "smoke") {
      measured.insert(typed.value_of("--out"));
    }
  }
  EXPECT_GT(observed, 0);
}

}  // namespace
}  // namespace tbd::cli
