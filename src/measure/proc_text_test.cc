#include "measure/proc_text.h"

#include <gtest/gtest.h>

namespace tbd {
namespace {

TEST(ProcText, ProcessNameMayHoldBlanksAndParentheses) {
  const auto stat = parse_process_stat(
      "42 (a) b (c)) S 7 42 42 0 -1 4194560 100 200 3 4 11 12 13 14 20 0 5 0 9999 8388608 321 18446744073709551615 1 1 "
      "0");
  ASSERT_TRUE(stat);
  EXPECT_EQ(stat->parent, 7);
  EXPECT_EQ(stat->minor_faults, 100);
  EXPECT_EQ(stat->child_minor_faults, 200);
  EXPECT_EQ(stat->major_faults, 3);
  EXPECT_EQ(stat->child_major_faults, 4);
  EXPECT_EQ(stat->user_ticks, 11);
  EXPECT_EQ(stat->system_ticks, 12);
  EXPECT_EQ(stat->child_user_ticks, 13);
  EXPECT_EQ(stat->child_system_ticks, 14);
  EXPECT_EQ(stat->threads, 5);
  EXPECT_EQ(stat->start_ticks, 9999);
  EXPECT_EQ(stat->resident_pages, 321);
}

TEST(ProcText, TruncatedStatIsUnknown) {
  EXPECT_FALSE(parse_process_stat(""));
  EXPECT_FALSE(parse_process_stat("42 (x)"));
  EXPECT_FALSE(parse_process_stat("42 (x) S 7 42"));
  EXPECT_FALSE(parse_schedstat("12 13\n"));
}

TEST(ProcText, ThreadScheduleIsThreeNumbers) {
  const auto schedule = parse_schedstat("123 45 6\n");
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->cpu_ns, 123);
  EXPECT_EQ(schedule->wait_ns, 45);
}

TEST(ProcText, MachineStatListsProcessorsWithoutTheirSum) {
  const auto cpus =
      parse_machine_stat("cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu3 1 0 0 0 0 0 0 0 0 0\nintr 5\n");
  ASSERT_EQ(cpus.size(), 2u);
  EXPECT_EQ(cpus.at(0).busy(), 1 + 2 + 3 + 6 + 7);
  EXPECT_EQ(cpus.at(0).total(), 36);
  EXPECT_EQ(cpus.at(0).steal, 8);
  EXPECT_EQ(cpus.at(3).user, 1);
}

TEST(ProcText, LinesWithUnits) {
  const auto lines = parse_colon_lines("Name:\tx\nVmHWM:\t  12 kB\nThreads:\t3\n\nVmRSS: 1 kB\n");
  EXPECT_EQ(bytes_of_line(lines, "VmHWM"), 12 * 1024);
  EXPECT_FALSE(bytes_of_line(lines, "Threads"));
  EXPECT_FALSE(bytes_of_line(lines, "VmRSS")) << "the first block alone is read";
}

TEST(ProcText, MadeCodeIsExecutableAndOfNoFile) {
  const char* const smaps =
      "55d1c0000000-55d1c0021000 rw-p 00000000 00:00 0                          [heap]\n"
      "Anonymous:            132 kB\n"
      "7f2a40000000-7f2a43800000 rwxp 00000000 00:00 0 \n"
      "Size:              57344 kB\n"
      "Anonymous:          1372 kB\n"
      "VmFlags: rd wr ex mr mw me ac sd\n"
      "7f2a50000000-7f2a50100000 r-xp 00001000 fe:00 311                        /usr/lib/libm.so.6\n"
      "Anonymous:             8 kB\n"
      "7f2a60000000-7f2a60001000 r-xp 00000000 00:00 0 \n"
      "Anonymous:             4 kB\n"
      "7ffd20000000-7ffd20002000 r-xp 00000000 00:00 0                          [vdso]\n"
      "Anonymous:             4 kB\n";
  EXPECT_EQ(parse_made_code(smaps), 1376 * 1024);
  EXPECT_EQ(parse_made_code(""), 0);
}

TEST(ProcText, PressureAndFlatKeys) {
  EXPECT_EQ(parse_pressure_total("some avg10=0.00 avg60=0.11 avg300=0.27 total=6282209\nfull avg10=0 total=7\n"),
            6282209);
  EXPECT_FALSE(parse_pressure_total("full avg10=0 total=7"));
  EXPECT_EQ(parse_flat_keys("nr_periods 3\nnr_throttled 4\nthrottled_usec 5\n").at("throttled_usec"), 5);
}

TEST(ProcText, CpuListRoundTrips) {
  EXPECT_EQ(parse_cpu_list("0-3,8\n"), (std::vector<int>{0, 1, 2, 3, 8}));
  EXPECT_EQ(cpu_list({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(cpu_list({5}), "5");
  EXPECT_TRUE(parse_cpu_list("3-1").empty());
  EXPECT_TRUE(parse_cpu_list("a").empty());
}

}  // namespace
}  // namespace tbd
