#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <thread>

#include "base/file_hash.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/philox.h"
#include "base/tensor.h"
#include "base/testing_growth.h"
#include "base/text.h"

namespace tbd {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <class Action>
std::string error_of(Action action) {
  try {
    action();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(Text, NearestNamesPutsTheClosestFirst) {
  const std::vector<std::string> known = {"resnet50", "inception_v3", "transformer"};
  EXPECT_THAT(nearest_names("resnet5", known), ElementsAre("resnet50"));
  EXPECT_THAT(nearest_names("xyzzy", known), ElementsAre());
  EXPECT_EQ(unknown_name("model", "resnt50", known), "unknown model 'resnt50', did you mean 'resnet50'?");
}

TEST(Text, FormatsNumbersWithUnits) {
  EXPECT_EQ(grouped(25557032), "25,557,032");
  EXPECT_EQ(grouped(-999), "-999");
  EXPECT_EQ(format_bytes(1536), "1.50 KiB");
  EXPECT_EQ(format_seconds(125), "2 min 05 s");
  EXPECT_EQ(format_seconds(10799.6), "180 min 00 s");
  EXPECT_EQ(format_seconds(11400), "3 h 10 min");
  EXPECT_EQ(format_seconds(9.9e7), "1,146 days");
  EXPECT_EQ(format_seconds(0.00456), "4.56 ms");
  EXPECT_EQ(format_seconds(-0.00456), "-4.56 ms");
  EXPECT_EQ(format_percent(0.1234), "12.3 %");
}

TEST(Text, ParsersTakeTheWholeTextOnly) {
  EXPECT_EQ(parse_int("42"), 42);
  EXPECT_EQ(parse_int("42x"), std::nullopt);
  EXPECT_EQ(parse_double("1e-3"), 1e-3);
  EXPECT_EQ(parse_double("nan"), std::nullopt);
}

TEST(Hash, Sha256OfAbcIsTheStandardsExample) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

// Known answers published with Random123 (kat_vectors, philox 4x32 10).
TEST(Philox, MatchesThePublishedKnownAnswers) {
  EXPECT_THAT(philox4x32({0, 0, 0, 0}, {0, 0}), ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox4x32({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}),
              ElementsAre(0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd));
}

TEST(Philox, NormalsHaveUnitMoments) {
  const Philox stream(7, "test");
  double sum = 0, squares = 0;
  constexpr int kCount = 20000;
  for (uint32_t i = 0; i < kCount; ++i) {
    const double value = stream.at(0, i).normal(0);
    sum += value;
    squares += value * value;
  }
  EXPECT_NEAR(sum / kCount, 0, 0.03);
  EXPECT_NEAR(squares / kCount, 1, 0.05);
}

TEST(Philox, TruncatedNormalStaysInside) {
  const Philox stream(7, "test");
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_LE(std::abs(stream.at(0, i).truncated_normal(0, 1, -0.5, 0.5)), 0.5);
}

TEST(Json, ErrorsNameTheKeyAndThePlace) {
  EXPECT_THAT(error_of([] { parse_json("{\"a\":", "x.json"); }), HasSubstr("x.json: not JSON at byte"));
  const Json object = parse_json(R"({"a": "text"})", "x");
  EXPECT_THAT(error_of([&] { at<int>(object, "a"); }), HasSubstr("'a' has the wrong type"));
  EXPECT_THAT(error_of([&] { at<int>(object, "b"); }), HasSubstr("'b' is missing"));
}

TEST(Json, ANumberBeyondTheTypeIsRefused) {
  const Json object = parse_json(R"({"large": 1e300, "over": 9223372036854775808, "small": -1e30, "fits": 2e9})", "x");
  for (const char* key : {"large", "over", "small"})
    EXPECT_THAT(error_of([&] { at<int64_t>(object, key); }), HasSubstr("is out of range")) << key;
  EXPECT_THAT(error_of([&] {
                maybe<int>(object, "fits");
                maybe<int>(object, "large");
              }),
              HasSubstr("'large'"));
  EXPECT_EQ(at<int64_t>(object, "fits"), 2'000'000'000);
  EXPECT_EQ(at<uint64_t>(object, "over"), 9223372036854775808u);
  EXPECT_EQ(at<double>(object, "large"), 1e300);
}

TEST(Json, RefusesAKeyThatIsGivenTwice) {
  EXPECT_THAT(error_of([] { parse_json(R"({"version": 1, "a": [{"b": 1}], "version": 2})", "p.json"); }),
              HasSubstr("p.json: key 'version' is given twice"));
  EXPECT_THAT(error_of([] { parse_json(R"([{"a": {"b": 1, "\u0062": 2}}])", "p.json"); }), HasSubstr("key 'b'"));
  EXPECT_EQ(parse_json(R"([{"a": {"a": 1}}, {"a": 2}])", "p.json").size(), 2u);
}

TEST(Json, RefusesHostileNesting) {
  EXPECT_THAT(error_of([] { parse_json(std::string(100000, '['), "deep"); }), HasSubstr("nested deeper than 200"));
}

TEST(Tensor, ConvertsToBf16RoundingToEven) {
  const float values[] = {1.0f, 1.00390625f, 3.14159265f};
  const HostTensor tensor(DType::f32, {3}, std::span<const float>(values));
  EXPECT_THAT(as_doubles(converted(tensor, DType::bf16)), ElementsAre(1.0, 1.0, 3.140625));
}

TEST(Files, AtomicWriteReplacesAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  write_file_atomic(folder.path() / "a", "old");
  write_file_atomic(folder.path() / "a", "new");
  EXPECT_EQ(read_file(folder.path() / "a"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

std::filesystem::perms permissions_of(const std::filesystem::path& path) {
  return std::filesystem::status(path).permissions();
}

TEST(Files, AtomicWriteFollowsALinkAndKeepsIt) {
  namespace fs = std::filesystem;
  const TemporaryFolder folder;
  fs::create_directory(folder.path() / "there");
  write_file(folder.path() / "there/old", "old");
  fs::create_symlink("there/old", folder.path() / "link");
  fs::create_symlink("link", folder.path() / "link of a link");
  fs::create_symlink("there/new", folder.path() / "dangling");
  write_file_atomic(folder.path() / "link of a link", "new");
  write_file_atomic(folder.path() / "dangling", "first");
  EXPECT_EQ(read_file(folder.path() / "there/old"), "new");
  EXPECT_EQ(read_file(folder.path() / "there/new"), "first");
  for (const char* link : {"link", "link of a link", "dangling"})
    EXPECT_TRUE(fs::is_symlink(folder.path() / link)) << link;
  fs::create_symlink("loop", folder.path() / "loop");
  EXPECT_THAT(error_of([&] { write_file_atomic(folder.path() / "loop", ""); }), HasSubstr("Too many levels"));
}

TEST(Files, AtomicWriteKeepsPermissionsAndOwner) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "a";
  write_file(file, "old");
  const uid_t owner = ::geteuid() == 0 ? 12 : ::geteuid();  // only root gives files away
  ASSERT_EQ(::chown(file.c_str(), owner, static_cast<gid_t>(-1)), 0);
  for (const auto wanted : {std::filesystem::perms(0640), std::filesystem::perms(0400)}) {
    std::filesystem::permissions(file, wanted);
    write_file_atomic(file, "new");
    EXPECT_EQ(permissions_of(file), wanted);
  }
  EXPECT_EQ(read_file(file), "new");
  struct stat status {};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, owner);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, AtomicWriteGoesThroughAPipe) {
  const TemporaryFolder folder;
  const std::filesystem::path pipe = folder.path() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  const std::string long_text(300'000, 'x');
  std::string got;
  {
    const std::jthread reader([&] {
      std::ifstream in(pipe);  // read_file refuses a pipe that has a name
      got.assign(std::istreambuf_iterator<char>(in), {});
    });
    write_file_atomic(pipe, long_text);
  }
  EXPECT_EQ(got, long_text);
  EXPECT_TRUE(std::filesystem::is_fifo(pipe));
}

TEST(Files, AtomicWriteGoesIntoADevice) {
  const TemporaryFolder folder;
  const std::filesystem::path null = folder.path() / "null", full = folder.path() / "full";
  if (::mknod(null.c_str(), S_IFCHR | 0666, makedev(1, 3)) != 0 ||
      ::mknod(full.c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0)
    GTEST_SKIP() << "NO DEVICES: only root makes them";
  write_file_atomic(null, "content");
  EXPECT_THAT(error_of([&] { write_file_atomic(full, "content"); }), HasSubstr("No space left"));
  for (const auto& device : {null, full}) EXPECT_TRUE(std::filesystem::is_character_file(device)) << device;
}

TEST(Files, AReplacementThatFailsLeavesTheOldFileAlone) {
  const TemporaryFolder folder;
  write_file(folder.path() / "a", "old");
  const auto fill = [](const std::filesystem::path& file) {
    write_file(file, "half");
    fail(ErrorKind::io, "the rest is missing");
  };
  EXPECT_THAT(error_of([&] { replace_file(folder.path() / "a", fill); }), HasSubstr("the rest is missing"));
  EXPECT_EQ(read_file(folder.path() / "a"), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

TEST(Files, AMissingFileIsNamed) {
  EXPECT_THAT(error_of([] { read_file("no/such/file"); }), HasSubstr("no/such/file"));
}

TEST(JsonText, RoundTripsUnchanged) {
  const std::string text = R"({"b":[1,-2,3.5,"x",null,true,[],{}],"a":{"":{"k":18446744073709551615}}})";
  EXPECT_EQ(parse_json(text, "f").dump(), text);
  EXPECT_EQ(parse_json(" 7 ", "f").dump(), "7");
  EXPECT_EQ(error_of([] { parse_json(R"({"a":1,)", "f"); }), "f: not JSON at byte 8");
  EXPECT_THAT(error_of([] { parse_json("1e999", "f"); }), HasSubstr("f: not JSON: "));
}

TEST(JsonText, AKeyThatComesTwiceIsRefused) {
  EXPECT_EQ(error_of([] { parse_json(R"({"a":{"b":1},"c":[{"b":2,"b":3}]})", "f"); }), "f: key 'b' is given twice");
  EXPECT_EQ(error_of([] { parse_json(R"([{"b":1},{"b":2}])", "f"); }), "");
}

TEST(JsonText, ParsesManyKeysInLinearTime) {
  const auto parse = [](int64_t keys) {
    std::string text = "{\"k\":0";
    for (int64_t i = 0; i < keys; ++i) text += cat(",\"k", i, "\":0");
    EXPECT_EQ(parse_json(text + "}", "f").size(), static_cast<size_t>(keys + 1));
  };
  EXPECT_LT(growth_by_ten(30'000, parse), kLinearGrowth);
}

TEST(Files, RejectsFilesThatAreNotRegular) {
  const TemporaryFolder folder;
  const std::string pipe = (folder.path() / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const std::string& path : {pipe, std::string("/dev/zero")}) {
    const std::string sentence = cat("cannot read ", path, ": it is not a regular file");
    EXPECT_EQ(error_of([&] { read_file(path); }), sentence);
    EXPECT_EQ(error_of([&] { require_regular_file(path); }), sentence);
    EXPECT_EQ(error_of([&] { sha256_of_file(path); }), sentence);
  }
  EXPECT_THAT(error_of([&] { read_file(folder.path()); }), HasSubstr("it is a folder"));
}

TEST(Files, RejectsFilesLongerThanTheLimit) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "file";
  write_file(file, std::string(2048, ' '));
  EXPECT_EQ(read_file(file, 2048).size(), 2048u);
  EXPECT_EQ(error_of([&] { read_file(file, 2047); }),
            cat("cannot read ", file.string(), ": it is longer than 2.00 KiB"));
}

TEST(Files, APipeThatWasHandedOverIsRead) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "text", 4), 4);
  ::close(ends[1]);
  EXPECT_EQ(read_file(cat("/dev/fd/", ends[0])), "text");
  EXPECT_THAT(error_of([&] { require_regular_file(cat("/dev/fd/", ends[0])); }), HasSubstr("not a regular file"));
  ::close(ends[0]);
}

}  // namespace
}  // namespace tbd
