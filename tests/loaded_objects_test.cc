// Each worker of this build trains a little, then its memory map is read: a second BLAS, OpenMP, protobuf or absl, or a
// copy from outside the framework's own folder, would share its symbols and its threads with the framework's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/files.h"
#include "built_workers.h"
#include "runner/prepare.h"
#include "runner/worker_process.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Family {
  const char* name;
  std::vector<std::string> parts;  // of a file name, after "lib"
};
const std::vector<Family>& families() {
  static const std::vector<Family> all = {
      {"BLAS", {"openblas", "blas", "cblas", "flexiblas", "atlas", "blis", "lapack", "mkl_", "nvpl_blas"}},
      {"OpenMP", {"gomp", "iomp", "omp"}},
      {"TBB", {"tbb"}},
      {"protobuf", {"protobuf"}},
      {"absl", {"absl"}}};
  return all;
}

bool belongs(const fs::path& object, const Family& family) {
  const std::string name = object.filename();
  return std::ranges::any_of(family.parts, [&](const std::string& part) { return name.starts_with("lib" + part); });
}

bool inside(const fs::path& object, const fs::path& root) {
  const std::string folder = fs::weakly_canonical(root).string() + "/";
  return fs::weakly_canonical(object).string().starts_with(folder);
}

// Whether the framework brings an object of this name; where it does not, it wants the system's.
bool brings(const fs::path& root, const std::string& name) {
  for (const auto& entry : fs::recursive_directory_iterator(root))
    if (entry.path().filename() == name) return true;
  return false;
}

// What is wrong with the objects of a worker whose framework lies in `root`, a sentence each.
std::vector<std::string> faults(const std::set<std::string>& objects, const fs::path& root) {
  std::vector<std::string> out;
  for (const Family& family : families()) {
    std::vector<std::string> found;
    for (const std::string& object : objects)
      if (belongs(object, family)) found.push_back(object);
    if (found.size() > 1) out.push_back(cat("more than one ", family.name, ": ", join(found, ", ")));
    for (const std::string& object : found) {
      const bool of_system = object.starts_with("/lib/") || object.starts_with("/usr/lib");
      const bool wanted =
          of_system && std::string(family.name) == "OpenMP" && !brings(root, fs::path(object).filename());
      if (!inside(object, root) && !wanted)
        out.push_back(cat(family.name, " from outside the framework's folder: ", object));
    }
  }
  return out;
}

std::set<std::string> objects_of(pid_t pid) {
  std::set<std::string> objects;
  for (const std::string& line : split(read_file(cat("/proc/", pid, "/maps")), '\n'))
    if (const size_t path = line.find('/'); path != std::string::npos && line.find(".so", path) != std::string::npos)
      objects.insert(line.substr(path));
  return objects;
}

class LoadedObjects : public ::testing::Test {
 protected:
  LoadedObjects() : settings_(built_settings()) {}
  void SetUp() override {
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
  }

  // The objects of a worker that has trained tiny ResNet-50 for two steps.
  std::set<std::string> trained(const WorkerEntry& entry) {
    const PreparedCell prepared =
        prepare({.model = "resnet50", .config = "tiny", .framework = entry.key, .batch = 2}, Effort::smoke, settings_);
    if (prepared.refused) throw Error(ErrorKind::not_found, prepared.refused->reason);
    WorkerProcess worker(entry, settings_, worker_environment(prepared, settings_), prepared.threads.cores, {});
    worker.hello();
    worker.ask<protocol::LoadReply>(load_request(prepared, false), "loading the program", settings_.deadlines.load);
    worker.run({.steps = 2}, [](std::span<const StepRow>) { return false; });
    std::set<std::string> objects = objects_of(worker.pid());
    worker.bye();
    return objects;
  }

  RunnerSettings settings_;
};

TEST_F(LoadedObjects, HoldEachRuntimeOnceAndTheFrameworksOwn) {
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    const std::set<std::string> objects = trained(entry);
    EXPECT_TRUE(objects.contains(fs::weakly_canonical(entry.library).string()) || objects.contains(entry.library));
    EXPECT_THAT(faults(objects, entry.root), IsEmpty());
  }
}

// The test above can fail: a library that some link line brought in would be seen.
TEST_F(LoadedObjects, APlantedLibraryIsFound) {
  const TemporaryFolder folder;
  const fs::path planted = folder.path() / "libopenblas.so.0";
  write_file(folder.path() / "planted.cc", "extern \"C\" int tbd_planted() { return 1; }\n");
  ASSERT_EQ(
      std::system(cat("c++ -shared -fPIC -o ", planted.string(), " ", folder.path().string(), "/planted.cc").c_str()),
      0);
  settings_.environment["LD_PRELOAD"] = planted.string();
  for (const WorkerEntry& entry : settings_.workers) {
    SCOPED_TRACE(entry.key);
    EXPECT_THAT(faults(trained(entry), entry.root), ::testing::Contains(HasSubstr(planted.string())));
  }
}

TEST(FaultsOfLoading, DetectSecondCopiesAndUnknownLibraries) {
  const TemporaryFolder root;
  const std::string own = (root.path() / "libgomp.so.1").string();
  write_file(own, "");
  EXPECT_THAT(faults({own, "/lib/x86_64-linux-gnu/libm.so.6"}, root.path()), IsEmpty());
  EXPECT_THAT(faults({"/lib/x86_64-linux-gnu/libgomp.so.1"}, root.path()),
              ElementsAre(HasSubstr("OpenMP from outside the framework's folder: /lib")));
  EXPECT_THAT(faults({own, "/opt/libiomp5.so"}, root.path()),
              ElementsAre(HasSubstr("more than one OpenMP"), HasSubstr("outside")));
  fs::remove(own);  // a framework that brings none wants the system's
  EXPECT_THAT(faults({"/lib/x86_64-linux-gnu/libgomp.so.1"}, root.path()), IsEmpty());
  EXPECT_THAT(faults({"/usr/lib/libprotobuf.so.32"}, root.path()), ElementsAre(HasSubstr("protobuf from outside")));
}

}  // namespace
}  // namespace tbd
