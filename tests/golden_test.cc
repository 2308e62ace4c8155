// Text in, text out. Each folder tests/golden/<case>/ holds command.txt ("tbd report records/three --format md", run in
// tests/golden) and what must come of it: expected.<ending> for stdout, expected.err for stderr, expected.code (default
// 0). TBD_UPDATE_GOLDEN=1 writes what came instead: read the difference before you commit it.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "analysis/cell.h"
#include "base/files.h"
#include "base/text.h"
#include "record/reader.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;

const fs::path kGolden = fs::path(TBD_SOURCE_DIR) / "tests/golden";

bool updating() { return std::getenv("TBD_UPDATE_GOLDEN") != nullptr; }

void expect_golden(const fs::path& file, const std::string& text) {
  if (updating()) return write_file(file, text);
  EXPECT_EQ(fs::exists(file) ? read_file(file) : "", text) << file;
}

std::vector<std::string> cases() {
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(kGolden))
    if (fs::exists(entry.path() / "command.txt")) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

struct Finished {
  int code = 0;
  std::string out, err;
};

Finished run(const std::string& arguments) {
  const TemporaryFolder folder;
  const fs::path err = folder.path() / "err";
  const std::string command =
      cat("cd '", kGolden.string(), "' && NO_COLOR=1 '", TBD_PROGRAM, "' ", arguments, " 2>'", err.string(), "'");
  Finished finished;
  FILE* pipe = ::popen(command.c_str(), "r");
  char buffer[1 << 16];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) finished.out.append(buffer, count);
  const int status = ::pclose(pipe);
  finished.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  finished.err = read_file(err);
  return finished;
}

// expected.md, expected.csv...: the one that holds stdout; expected.txt where there is none yet.
fs::path stdout_file(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string ending = entry.path().extension();
    if (entry.path().stem() == "expected" && ending != ".err" && ending != ".code") return entry.path();
  }
  return folder / "expected.txt";
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, OutputMatches) {
  if (!fs::exists(TBD_PROGRAM)) GTEST_SKIP() << "NO PROGRAM: " << TBD_PROGRAM << " is not built, nothing was compared";
  const fs::path folder = kGolden / GetParam();
  const std::string command(trim(read_file(folder / "command.txt")));
  ASSERT_TRUE(command.starts_with("tbd ")) << command;
  const Finished finished = run(command.substr(4));
  expect_golden(stdout_file(folder), finished.out);
  if (updating() ? !finished.err.empty() : fs::exists(folder / "expected.err"))
    expect_golden(folder / "expected.err", finished.err);
  if (updating() ? finished.code != 0 : fs::exists(folder / "expected.code"))
    expect_golden(folder / "expected.code", cat(finished.code, "\n"));
  else
    EXPECT_EQ(finished.code, 0) << finished.err;
}

INSTANTIATE_TEST_SUITE_P(Cases, Golden, testing::ValuesIn(cases()), [](const auto& instance) {
  std::string name = instance.param;
  std::ranges::replace_if(
      name, [](unsigned char c) { return !std::isalnum(c); }, '_');
  return name;
});

// The rows of `tbd run --json` and its other formats, without the program.
TEST(GoldenRows, AreThoseOfTheRecords) {
  fs::current_path(kGolden);
  for (const char* set : {"three", "outcomes"}) {
    std::vector<CellResult> cells;
    for (const fs::path& folder : find_records(fs::path("records") / set))
      cells.push_back(summarize(read_record(folder)));
    expect_golden(kGolden / "rows" / cat(set, ".json"), print_cells(cells, Format::json));
    expect_golden(kGolden / "rows" / cat(set, ".csv"), print_cells(cells, Format::csv));
    expect_golden(kGolden / "rows" / cat(set, ".md"), print_cells(cells, Format::markdown));
    expect_golden(kGolden / "rows" / cat(set, ".txt"), print_cells(cells, Format::text));
  }
}

}  // namespace
}  // namespace tbd
