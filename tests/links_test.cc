// Real workers behind links of limited rate: they train as over the loopback, slower, and leave nothing behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "analysis/cell.h"
#include "analysis/verify/verify.h"
#include "base/files.h"
#include "base/json.h"
#include "base/subprocess.h"
#include "built_workers.h"
#include "record/reader.h"
#include "runner/emulated_links.h"
#include "runner/run.h"

namespace tbd {
namespace {

using ::testing::HasSubstr;

std::string network_of(const std::string& process) {
  std::error_code code;
  return std::filesystem::read_symlink(cat("/proc/", process, "/ns/net"), code).string();
}

// Processes that run, with another network namespace than this one.
std::vector<std::string> processes_elsewhere() {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string process = entry.path().filename().string();
    const std::string network = parse_int(process) ? network_of(process) : "";
    if (!network.empty() && network != network_of("self")) found.push_back(process);
  }
  std::ranges::sort(found);
  return found;
}

bool run_in(const std::string& process, const std::filesystem::path& folder) {
  std::error_code code;
  return std::filesystem::read_symlink(cat("/proc/", process, "/fd/2"), code).string().starts_with(folder.string());
}

class RanksOverALink : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = built_settings(folder_.path() / "cache");
    if (const std::string why = no_two_workers(settings_); !why.empty()) GTEST_SKIP() << why;
  }
  static std::string lacking(const char* link) {
    try {
      (void)EmulatedLinks(Link(link), 2, {{"PATH", "/usr/bin:/bin"}});
      return "";
    } catch (const Error& e) {
      return e.what();
    }
  }
  Record measured(const std::string& link) {
    const Workload cell{
        .model = "resnet50", .config = "tiny", .batch = 4, .threads = 1, .workers = 2, .link = Link(link)};
    const auto runs =
        run_cells({cell}, {.effort = Effort::smoke, .out = folder_.path() / "out", .peaks = false}, settings_, {});
    return runs.empty() ? Record() : read_record(runs.front().record);
  }
  // Workers of this test that run behind a link.
  std::vector<std::string> workers_behind_links() const {
    std::vector<std::string> found = processes_elsewhere();
    std::erase_if(found, [&](const std::string& process) { return !run_in(process, folder_.path()); });
    return found;
  }

  TemporaryFolder folder_{"tbd-links"};
  RunnerSettings settings_;
};

TEST_F(RanksOverALink, TrainAsOverTheLoopback) {
  if (const std::string reason = lacking("200Mbit"); !reason.empty()) GTEST_SKIP() << reason;
  const Record linked = measured("200Mbit"), free = measured("");
  ASSERT_EQ(linked.run.outcome.kind, OutcomeKind::ok) << linked.run.outcome.reason;
  EXPECT_EQ(linked.folder.filename(), "resnet50-tiny-pytorch-fp32-b4-t1-w2-200Mbit-nchw-resident");
  EXPECT_THAT(linked.run.workload.repro, HasSubstr(" --workers 2 --link 200Mbit "));
  const auto &here = linked.launches.at(0).steps, &there = free.launches.at(0).steps;
  const size_t both = std::min(here.size(), there.size());
  ASSERT_GE(both, 3u);
  for (size_t i = 0; i < both; ++i) {
    ASSERT_TRUE(here[i].loss);
    EXPECT_EQ(here[i].loss, there[i].loss) << "step " << i + 1;
  }
  for (const Check& check : verify(linked.folder))
    EXPECT_NE(check.verdict, CheckVerdict::differs) << check.check << ": " << check.reason;
  // Of two ranks each sends half the gradients to be summed, and half of the sums.
  const double gradients = 4.0 * static_cast<double>(linked.run.parameters.value_or(0));
  const double sent = summarize(linked)["link_bytes"].value.value_or(0);
  EXPECT_GT(sent, gradients);
  EXPECT_LT(sent, 1.2 * gradients + 20'000);
  EXPECT_FALSE(summarize(free)["link_bytes"].value);
  EXPECT_TRUE(std::filesystem::exists(launch_folder(linked, linked.launches[0]) / "rank-1" / "launch.json"));
  EXPECT_TRUE(workers_behind_links().empty());
}

TEST_F(RanksOverALink, AreUnavailableWhereAProgramIsMissing) {
  settings_.environment["PATH"] = folder_.path().string();
  const Record record = measured("200Mbit");
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::unavailable);
  EXPECT_THAT(record.run.outcome.reason,
              HasSubstr("links of 200Mbit cannot be emulated here: there is no program 'ip' in PATH"));
}

TEST_F(RanksOverALink, AreUnavailableWhereNothingDelays) {
  if (const std::string reason = lacking("200Mbit"); !reason.empty()) GTEST_SKIP() << reason;
  if (lacking("200Mbit+1ms").empty()) GTEST_SKIP() << "the kernel has netem";
  const Record record = measured("200Mbit+1ms");
  EXPECT_EQ(record.run.outcome.kind, OutcomeKind::unavailable);
  EXPECT_THAT(record.run.outcome.reason, HasSubstr("packets cannot be delayed: the kernel needs the queue netem"));
}

TEST_F(RanksOverALink, EndWithAProgramThatIsKilled) {
  if (const std::string reason = lacking("200Mbit"); !reason.empty()) GTEST_SKIP() << reason;
  if (!std::filesystem::exists(TBD_PROGRAM)) GTEST_SKIP() << "NO PROGRAM: " << TBD_PROGRAM << " is not built";
  Subprocess program({.argv = {TBD_PROGRAM, "run", "resnet50", "--config", "tiny", "--batch", "4", "--workers", "2",
                               "--threads", "1", "--link", "200Mbit", "--device", "cpu", "--no-check", "--no-peaks",
                               "--out", (folder_.path() / "out").string()},
                      .environment = {{"PATH", "/usr/bin:/bin"}, {"HOME", folder_.path().string()}},
                      .stderr_file = (folder_.path() / "said").string()});
  const auto wait_until = [&](const auto& holds) {
    for (int i = 0; i < 300 && !holds(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
    return holds();
  };
  ASSERT_TRUE(wait_until([&] { return workers_behind_links().size() == 2; })) << read_file(folder_.path() / "said");
  const std::vector<std::string> workers = workers_behind_links();
  const std::string network = network_of(workers.front());
  ::kill(program.pid(), SIGKILL);
  EXPECT_TRUE(wait_until([&] { return workers_behind_links().empty(); }));
  for (const std::string& process : processes_elsewhere()) EXPECT_NE(network_of(process), network) << process;
}

}  // namespace
}  // namespace tbd
