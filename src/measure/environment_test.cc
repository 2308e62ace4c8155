#include "measure/environment.h"

#include <gtest/gtest.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/json.h"
#include "measure/doctor.h"

namespace tbd {
namespace {

TEST(Environment, HoldsEveryGroup) {
  const Json environment = capture_environment({{"OMP_NUM_THREADS", "2"}, {"SECRET", "x"}});
  EXPECT_GE(environment["cpu"]["logical_cpus"].get<int>(), 1);
  EXPECT_TRUE(environment["cpu"]["caches"].is_array());
  EXPECT_TRUE(environment["cpu"]["pmu"].is_boolean());
  EXPECT_GT(environment["limits"]["usable_cores"].get<double>(), 0);
  EXPECT_GT(environment["limits"]["memory_bytes"].get<int64_t>(), 1 << 20);
  EXPECT_TRUE(environment["load"].contains("load_average"));
  EXPECT_TRUE(environment["software"]["kernel"].is_string());
  EXPECT_EQ(environment["variables"], (Json{{"OMP_NUM_THREADS", "2"}}));
  EXPECT_EQ(environment["hash"].get<std::string>().size(), 64u);
}

TEST(Environment, NamesNeitherHostNorUser) {
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  const std::string text = capture_environment({{"HOME", "/home/somebody"},
                                                {"LD_LIBRARY_PATH", "/home/somebody/lib"},
                                                {"HOSTNAME", host},
                                                {"USER", "somebody"}})
                               .dump();
  if (std::string(host).size() > 3) {  // "vm" could be a part of anything
    EXPECT_EQ(text.find(host), std::string::npos);
  }
  EXPECT_EQ(text.find("somebody"), std::string::npos);
}

TEST(Environment, HomesAreHidden) {
  const std::string root = getpwuid(0)->pw_dir;
  const Environment kept = allowed_variables({{"HOME", "/data/ann/"},
                                              {"LD_LIBRARY_PATH", "/data/ann/lib:/home/bob/lib:/opt/x:" + root + "/y"},
                                              {"LD_AUDIT", "/data/annex:/data/ann:" + root + "fs"},
                                              {"LD_PRELOAD", "/home/bob"},
                                              {"PATH", "/bin"}});
  EXPECT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept.at("LD_AUDIT"), "/data/annex:~:" + root + "fs") << "names that only begin as a home does";
  EXPECT_EQ(kept.at("LD_LIBRARY_PATH"), "~/lib:~/lib:/opt/x:~/y");
  EXPECT_EQ(kept.at("LD_PRELOAD"), "~");
}

TEST(Environment, HashLeavesOutWhatChangesByItself) {
  Json environment{{"cpu", {{"model", "a"}}}, {"load", {{"load_average", 1}}}};
  const std::string hash = environment_hash(environment);
  environment["load"]["load_average"] = 2;
  EXPECT_EQ(environment_hash(environment), hash);
  environment["cpu"]["model"] = "b";
  EXPECT_NE(environment_hash(environment), hash);
}

TEST(Environment, ProcessListsItsThreadsAndObjects) {
  const Json process = capture_process();
  EXPECT_GE(process["threads"].size(), 1u);
  const auto is_libc = [](const Json& object) { return object["name"].get<std::string>().starts_with("libc.so"); };
  const auto libc = std::find_if(process["objects"].begin(), process["objects"].end(), is_libc);
  ASSERT_NE(libc, process["objects"].end());
  EXPECT_TRUE((*libc)["build_id"].is_null() || (*libc)["build_id"].get<std::string>().size() >= 16);
}

TEST(Doctor, EachRowIsAvailableOrSaysWhyNot) {
  const std::vector<DoctorRow> rows = doctor_rows();
  EXPECT_GE(rows.size(), 9u);
  std::set<std::string> items;
  for (const DoctorRow& row : rows) {
    EXPECT_TRUE(items.insert(row.item).second) << row.item;
    EXPECT_EQ(row.available, row.reason.empty()) << row.item;
    EXPECT_EQ(row.available, !row.detail.empty()) << row.item;
    if (row.available) {
      EXPECT_TRUE(row.remedy.empty()) << row.item;
    }
  }
}

}  // namespace
}  // namespace tbd
