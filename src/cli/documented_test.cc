// Commands that documents tell a person to type: each is one that the program takes, and the tutorial's build on each
// other.
#include <gtest/gtest.h>
#include <wordexp.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "base/text.h"
#include "cli/command.h"

namespace tbd::cli {
namespace {
namespace fs = std::filesystem;

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
std::vector<Typed> typed_in(const fs::path& file) {
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
  const fs::path source = TBD_SOURCE_DIR;
  std::vector<Typed> all = typed_in(source / "README.md");
  for (const fs::directory_entry& entry : fs::directory_iterator(source / "docs"))
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
  for (const Typed& typed : typed_in(fs::path(TBD_SOURCE_DIR) / "docs/tutorial.md")) {
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
