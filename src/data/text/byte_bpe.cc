#include "data/text/byte_bpe.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace tbd {
namespace {

constexpr int32_t kBytes = 256;

std::vector<int32_t> own_ids() {
  std::vector<int32_t> ids(kBytes);
  std::iota(ids.begin(), ids.end(), 0);
  return ids;
}

}  // namespace

ByteBpe::ByteBpe(std::vector<int32_t> bytes, const std::vector<Merge>& merges)
    : bytes_(std::move(bytes)), merges_(merges) {
  for (size_t byte = 0; byte < bytes_.size(); ++byte) texts_[bytes_[byte]] = std::string(1, static_cast<char>(byte));
  for (const Merge& merge : merges) texts_[merge.result] = texts_.at(merge.left) + texts_.at(merge.right);
  for (const auto& [id, text] : texts_) size_ = std::max<int64_t>(size_, id + 1);
}

ByteBpe::ByteBpe(const std::vector<Merge>& merges) : ByteBpe(own_ids(), merges) {
  bos_ = static_cast<int32_t>(size_++);
  eos_ = static_cast<int32_t>(size_++);
}

ByteBpe ByteBpe::trained(const WordCounts& counts, int64_t size) {
  require(size >= kBytes + 2, "bytes, bos and eos need ", kBytes + 2, " tokens, got room for ", size);
  Symbols symbols;
  for (int32_t byte = 0; byte < kBytes; ++byte) symbols.add(std::string(1, static_cast<char>(byte)));
  std::vector<CountedWord> words;
  for (const std::string& word : most_frequent(counts, counts.size())) {  // an order of its own, whatever the map's
    CountedWord counted{.count = counts.find(word)->second};
    for (const char byte : word) counted.symbols.push_back(static_cast<unsigned char>(byte));
    words.push_back(std::move(counted));
  }
  const auto joined = [](const std::string& left, const std::string& right) { return left + right; };
  return ByteBpe(learn_merges(words, symbols, static_cast<size_t>(size) - 2, joined));
}

const std::vector<int32_t>& ByteBpe::word_ids(std::string_view word) {
  if (const auto known = known_.find(word); known != known_.end()) return known->second;
  std::vector<int32_t> ids;
  for (const char byte : word) ids.push_back(bytes_[static_cast<unsigned char>(byte)]);
  merges_.apply(ids);
  return known_.emplace(word, std::move(ids)).first->second;
}

std::vector<int32_t> ByteBpe::encode(std::string_view text) {
  std::vector<int32_t> ids;
  for (const std::string_view word : byte_bpe_words(text)) {
    const std::vector<int32_t>& own = word_ids(word);
    ids.insert(ids.end(), own.begin(), own.end());
  }
  return ids;
}

std::string ByteBpe::decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids)
    if (const auto found = texts_.find(id); found != texts_.end()) text += found->second;
  return text;
}

}  // namespace tbd
