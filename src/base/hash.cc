#include "base/hash.h"

#include <openssl/evp.h>

#include <fstream>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/file_hash.h"
#include "base/files.h"

namespace tbd {
namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    require(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1, "SHA-256 is not available");
  }
  void update(std::string_view bytes) { EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()); }
  std::array<uint8_t, 32> finish() {
    std::array<uint8_t, 32> digest{};
    EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr);
    return digest;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

std::string hex(std::span<const uint8_t> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const uint8_t byte : bytes) out += {kDigits[byte >> 4], kDigits[byte & 15]};
  return out;
}

}  // namespace

std::array<uint8_t, 32> sha256(std::string_view bytes) {
  Sha256 hash;
  hash.update(bytes);
  return hash.finish();
}

std::string sha256_hex(std::string_view bytes) { return hex(sha256(bytes)); }

std::string sha256_of_file(const std::filesystem::path& path) {
  require_regular_file(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) fail(ErrorKind::io, "cannot read ", path.string());
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (file.read(buffer.data(), static_cast<std::streamsize>(buffer.size())), file.gcount() > 0)
    hash.update({buffer.data(), static_cast<size_t>(file.gcount())});
  return hex(hash.finish());
}

}  // namespace tbd
