#include "record/safetensors.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "base/files.h"

namespace tbd {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class Safetensors : public testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "weights.safetensors"; }

  void write_raw(const std::string& header, size_t data_bytes, std::optional<uint64_t> claimed = {}) {
    std::string text(8, '\0');
    const uint64_t size = claimed.value_or(header.size());
    for (size_t i = 0; i < 8; ++i) text[i] = static_cast<char>(size >> (8 * i) & 0xff);
    write_file(file(), text + header + std::string(data_bytes, 'x'));
  }
  std::string refusal() {
    try {
      read_safetensors(file());
    } catch (const Error& error) {
      return error.what();
    }
    return "accepted";
  }

  TemporaryFolder folder_;
};

HostTensor floats(Shape shape, std::vector<float> values) {
  return HostTensor(DType::f32, std::move(shape), std::span<const float>(values));
}

TEST_F(Safetensors, EveryDtypeComesBack) {
  TensorMap tensors;
  for (DType d : {DType::f64, DType::f32, DType::bf16, DType::f16, DType::i64, DType::i32, DType::u8, DType::boolean}) {
    HostTensor tensor(d, {3, 1});
    for (size_t i = 0; i < tensor.bytes().size(); ++i) tensor.bytes()[i] = static_cast<std::byte>(i + 1);
    tensors.emplace(std::string(name(d)), tensor);
  }
  tensors.emplace("scalar", floats({}, {42.f}));
  tensors.emplace("empty", floats({0, 7}, {}));
  write_safetensors(file(), tensors);
  const TensorMap read = read_safetensors(file());
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [key, tensor] : tensors) {
    EXPECT_EQ(read.at(key).dtype(), tensor.dtype()) << key;
    EXPECT_EQ(read.at(key).shape(), tensor.shape()) << key;
    EXPECT_TRUE(std::ranges::equal(read.at(key).bytes(), tensor.bytes())) << key;
  }
}

TEST_F(Safetensors, BytesAreThoseOfTheFormat) {
  write_safetensors(file(), {{"b", floats({1}, {1.f})}, {"a", HostTensor(DType::u8, {1})}});
  const std::string text = read_file(file());
  const std::string header =
      R"({"b":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"U8","shape":[1],"data_offsets":[4,5]}})";
  EXPECT_EQ(text.substr(8, header.size()), header);
  EXPECT_EQ(static_cast<unsigned char>(text[0]) % 8, 0);
  EXPECT_EQ(text.substr(text.size() - 5), std::string("\0\0\x80\x3f\0", 5));
}

TEST_F(Safetensors, EveryCutIsRefused) {
  write_safetensors(file(), {{"layer.weight", floats({4}, {1, 2, 3, 4})}});
  const std::string whole = read_file(file());
  for (size_t length = 0; length < whole.size(); ++length) {
    write_file(file(), whole.substr(0, length));
    EXPECT_THAT(refusal(), AllOf(HasSubstr("weights.safetensors"), testing::Not(HasSubstr("accepted")))) << length;
  }
  EXPECT_THAT(refusal(), AllOf(HasSubstr("layer.weight"), HasSubstr("cut off")));
}

TEST_F(Safetensors, HostileHeadersAreRefused) {
  write_raw("{}", 0, ~uint64_t{0});
  EXPECT_THAT(refusal(), HasSubstr("header claims"));
  write_raw("{]", 0);
  EXPECT_THAT(refusal(), HasSubstr("not JSON"));
  write_raw("[]", 0);
  EXPECT_THAT(refusal(), HasSubstr("not a JSON object"));
  write_raw(R"({"w":{"dtype":"F8","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("'w'"), HasSubstr("F8")));
  write_raw(R"({"w":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4);
  EXPECT_THAT(refusal(), HasSubstr("negative"));
  write_raw(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296,16],"data_offsets":[0,0]}})", 0);
  EXPECT_THAT(refusal(), HasSubstr("too large"));
  write_raw(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})", 4);
  EXPECT_THAT(refusal(), HasSubstr("do not hold the 8 bytes"));
  write_raw(R"({"w":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", 5);
  EXPECT_THAT(refusal(), HasSubstr("belong to no tensor"));
}

TEST_F(Safetensors, OverlapsAndHolesAreRefused) {
  write_raw(
      R"({"v":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"w":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})",
      3);
  EXPECT_THAT(refusal(), HasSubstr("overlaps"));
  write_raw(
      R"({"v":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"w":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})",
      3);
  EXPECT_THAT(refusal(), HasSubstr("gap"));
}

TEST_F(Safetensors, MetadataIsSkipped) {
  write_raw(R"({"__metadata__":{"format":"pt"},"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", 1);
  EXPECT_EQ(read_safetensors(file()).size(), 1u);
}

TEST_F(Safetensors, AFailedWriteLeavesNothing) {
  EXPECT_THROW(write_safetensors(folder_.path() / "absent" / "x", {{"w", floats({}, {1.f})}}), Error);
  EXPECT_THROW(write_safetensors(file(), {{"__metadata__", floats({}, {1.f})}}), Error);
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
}

TEST_F(Safetensors, AMissingFileIsNamed) { EXPECT_THAT(refusal(), HasSubstr("weights.safetensors")); }

TEST_F(Safetensors, OverwritingKeepsTheFileAndLeavesNothingOfWhatWasThere) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder.path() / "a";
  const std::vector<float> many(1000, 1.f), few = {2, 3};
  overwrite_safetensors(file, {{"x", HostTensor(DType::f32, {1000}, std::span<const float>(many))}});
  std::filesystem::create_hard_link(file, folder.path() / "same");
  overwrite_safetensors(file, {{"y", HostTensor(DType::f32, {2}, std::span<const float>(few))}});
  const TensorMap found = read_safetensors(folder.path() / "same");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(as_doubles(found.at("y")), (std::vector<double>{2, 3}));
}

}  // namespace
}  // namespace tbd
