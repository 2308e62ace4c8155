#include "runner/allocators.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <set>

#include "base/error.h"

namespace tbd {
namespace {

using Variables = std::map<std::string, std::string>;

// A folder of libraries, empty files.
class Allocators : public testing::Test {
 protected:
  Allocators() { folder_ = ::mkdtemp(name_.data()); }
  ~Allocators() override {
    for (const std::string& file : files_) ::unlink(file.c_str());
    ::rmdir(folder_.c_str());
  }
  std::string add(const std::string& library) {
    files_.push_back(cat(folder_, "/", library));
    FILE* file = ::fopen(files_.back().c_str(), "w");
    if (file) ::fclose(file);
    return files_.back();
  }
  std::vector<std::string> folders() const { return {"/nowhere", folder_}; }
  Variables variables(const Allocator& allocator, const Variables& environment = {}) const {
    return allocator_variables(allocator, environment, folders());
  }

 private:
  std::string name_ = "/tmp/tbd-allocators-XXXXXX", folder_;
  std::vector<std::string> files_;
};

TEST_F(Allocators, StockSetsNothingAndLeavesWhatAPersonHasSet) {
  EXPECT_EQ(variables(Allocator::kStock), Variables());
  EXPECT_EQ(variables(Allocator::kStock, {{"LD_PRELOAD", "/a.so"}, {"MALLOC_ARENA_MAX", "1"}}), Variables());
}

TEST_F(Allocators, KeptTellsTheCLibraryBehindAPersonsTunables) {
  const std::string kept = variables(Allocator::kKept).at("GLIBC_TUNABLES");
  EXPECT_NE(kept.find("glibc.malloc.mmap_max=0"), std::string::npos) << kept;
  EXPECT_NE(kept.find("glibc.malloc.trim_threshold="), std::string::npos) << "either alone costs more than none";
  const Variables own = {{"GLIBC_TUNABLES", "glibc.pthread.rseq=0:glibc.malloc.mmap_max=7"}};
  EXPECT_EQ(variables(Allocator::kKept, own).at("GLIBC_TUNABLES"), cat("glibc.pthread.rseq=0:", kept));
}

TEST_F(Allocators, HugeKeepsWhatIsFreedInHugePages) {
  const std::string absence = allocator_absence(Allocator::kHuge, folders());
  if (!absence.empty()) {
    EXPECT_THROW(variables(Allocator::kHuge), Error);
    GTEST_SKIP() << absence;
  }
  EXPECT_EQ(variables(Allocator::kHuge).at("GLIBC_TUNABLES"),
            cat(variables(Allocator::kKept).at("GLIBC_TUNABLES"), ":glibc.malloc.hugetlb=1"));
}

TEST(HugePages, NeedAKernelThatGivesThemAndACLibraryThatAsks) {
  EXPECT_EQ(huge_page_absence("always [madvise] never", "2.35"), "");
  EXPECT_EQ(huge_page_absence("[always] madvise never", "3.0"), "");
  EXPECT_NE(huge_page_absence("always madvise [never]", "2.36").find("the kernel gives none"), std::string::npos);
  EXPECT_NE(huge_page_absence("", "2.36").find("transparent_hugepage: absent"), std::string::npos);
  EXPECT_NE(huge_page_absence("[always] madvise never", "2.31").find("the C library 2.31"), std::string::npos);
  EXPECT_NE(huge_page_absence("[always] madvise never", "unknown").find("the C library unknown"), std::string::npos);
}

TEST_F(Allocators, ALibraryIsPreloadedBeforeThoseOfAPerson) {
  const std::string library = add("libjemalloc.so.2");
  EXPECT_EQ(variables(Allocator::kJemalloc).at("LD_PRELOAD"), library);
  EXPECT_EQ(variables(Allocator::kJemalloc, {{"LD_PRELOAD", "/a.so:/b.so"}}).at("LD_PRELOAD"),
            cat(library, ":/a.so:/b.so"));
}

TEST_F(Allocators, EachIsToldToKeepItsPagesUnlessAPersonSaysOtherwise) {
  for (const char* library : {"libjemalloc.so.2", "libmimalloc.so.2", "libtcmalloc_minimal.so.4"}) add(library);
  const std::string keep = "dirty_decay_ms:-1,muzzy_decay_ms:-1";
  EXPECT_EQ(variables(Allocator::kJemalloc).at("MALLOC_CONF"), keep);
  EXPECT_EQ(variables(Allocator::kJemalloc, {{"MALLOC_CONF", "narenas:1"}}).at("MALLOC_CONF"), cat(keep, ",narenas:1"))
      << "the last setting of a name counts";
  EXPECT_EQ(variables(Allocator::kMimalloc).at("MIMALLOC_ALLOW_DECOMMIT"), "0");
  EXPECT_EQ(variables(Allocator::kMimalloc, {{"MIMALLOC_ALLOW_DECOMMIT", "1"}}).count("MIMALLOC_ALLOW_DECOMMIT"), 0u);
  EXPECT_EQ(variables(Allocator::kTcmalloc).size(), 1u);
}

TEST_F(Allocators, EachIsFoundUnderItsDebianName) {
  add("libmimalloc.so.2");
  add("libtcmalloc_minimal.so.4");
  EXPECT_TRUE(allocator_library(Allocator::kMimalloc, folders()));
  EXPECT_TRUE(allocator_library(Allocator::kTcmalloc, folders()));
  EXPECT_FALSE(allocator_library(Allocator::kJemalloc, folders()));
  EXPECT_EQ(allocator_library(Allocator::kKept, folders()), "");
}

TEST_F(Allocators, AnAbsentOneIsRefusedWithTheCommandThatInstallsIt) {
  for (const auto& [allocator, package] :
       {std::pair(Allocator::kJemalloc, "libjemalloc2"), std::pair(Allocator::kMimalloc, "libmimalloc2.0"),
        std::pair(Allocator::kTcmalloc, "libtcmalloc-minimal4")}) {
    const std::string sentence = allocator_absence(allocator, folders());
    for (const std::string& words : {cat("allocator ", allocator, " is not here"), cat("apt-get install ", package),
                                     std::string("sh tools/setup.sh --group allocators")})
      EXPECT_NE(sentence.find(words), std::string::npos) << sentence;
    EXPECT_THROW(variables(allocator), Error);
  }
  EXPECT_EQ(allocator_absence(Allocator::kStock, folders()), "");
  EXPECT_EQ(allocator_absence(Allocator::kKept, folders()), "");
}

TEST_F(Allocators, FoldersOfAPersonComeFirst) {
  const std::vector<std::string> all = library_folders({{"LD_LIBRARY_PATH", "/own/lib::relative"}}, "/cache");
  EXPECT_EQ(all.at(0), "/own/lib");
  EXPECT_EQ(all.at(1), "/cache/debian-12/usr/lib/x86_64-linux-gnu");
  EXPECT_EQ(library_folders({}, "").at(0), "/usr/local/lib");
}

TEST_F(Allocators, APersonsOwnProgramGetsTheSameByOneLine) {
  EXPECT_EQ(allocator_line(Allocator::kStock, {}, folders()), "python train.py");
  EXPECT_EQ(allocator_line(Allocator::kKept, {}, folders(), "./train"),
            cat("GLIBC_TUNABLES=", variables(Allocator::kKept).at("GLIBC_TUNABLES"), " ./train"));
  const std::string library = add("libjemalloc.so.2");
  EXPECT_EQ(
      allocator_line(Allocator::kJemalloc, {{"LD_PRELOAD", "/it's.so"}}, folders()),
      cat("LD_PRELOAD='", library, ":/it'\\''s.so' MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1 python train.py"));
}

TEST_F(Allocators, AnotherThanTheWantedIsAFault) {
  using Loaded = std::vector<std::string>;
  const Loaded none, jemalloc = {"libjemalloc.so.2"}, two = {"libtcmalloc_minimal.so.4", "libjemalloc.so.2"};
  for (const auto& loaded : {std::optional<Loaded>(), std::optional(none), std::optional(two)})
    EXPECT_EQ(allocator_fault(Allocator::kStock, loaded), "");
  EXPECT_EQ(allocator_fault(Allocator::kKept, none), "");
  EXPECT_EQ(allocator_fault(Allocator::kJemalloc, jemalloc), "");
  EXPECT_EQ(allocator_fault(Allocator::kTcmalloc, two), "");
  EXPECT_NE(allocator_fault(Allocator::kJemalloc, two).find("the worker has libtcmalloc_minimal.so.4"),
            std::string::npos);
  EXPECT_NE(allocator_fault(Allocator::kKept, jemalloc).find("the worker has libjemalloc.so.2"), std::string::npos);
  EXPECT_NE(allocator_fault(Allocator::kMimalloc, none).find("that of the C library"), std::string::npos);
  EXPECT_NE(allocator_fault(Allocator::kMimalloc, std::nullopt).find("does not say"), std::string::npos);
}

TEST(HeapPadding, IsDrawnAnewForEachLaunchAndTheSameWheneverItIsDrawn) {
  std::set<int64_t> drawn;
  for (int64_t launch = 1; launch <= 20; ++launch) {
    const int64_t bytes = drawn_heap_padding(7, launch);
    EXPECT_EQ(drawn_heap_padding(7, launch), bytes);
    EXPECT_GE(bytes, 0);
    EXPECT_LT(bytes, kMostHeapPadding);
    drawn.insert(bytes);
  }
  EXPECT_GE(drawn.size(), 19u);
  EXPECT_NE(drawn_heap_padding(8, 1), drawn_heap_padding(7, 1));
}

}  // namespace
}  // namespace tbd
