#include "trace/strings.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#undef XXH_INLINE_ALL

#include <algorithm>

#include "base/error.h"

namespace tbd {
namespace {

constexpr size_t kStringBlock = 64 << 10;

}  // namespace

StringTable::StringTable() : views_{std::string_view()}, hashes_{0}, slots_(1024, 0) {}

StringId StringTable::intern(std::string_view text) {
  if (text.empty()) return 0;
  const uint64_t hash = XXH3_64bits(text.data(), text.size());
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
    const StringId id = slots_[slot];
    if (hashes_[id] == hash && views_[id] == text) return id;
  }
  require(views_.size() < UINT32_MAX, "more than 4 billion strings");
  const auto id = static_cast<StringId>(views_.size());
  views_.push_back(keep(text));
  hashes_.push_back(hash);
  slots_[slot] = id;
  if (views_.size() * 2 > slots_.size()) grow();
  return id;
}

std::string_view StringTable::operator[](StringId id) const {
  require(id < views_.size(), "string ", id, " of ", views_.size());
  return views_[id];
}

std::string_view StringTable::keep(std::string_view text) {
  bytes_ += text.size();
  if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size())
    blocks_.emplace_back().reserve(std::max(kStringBlock, text.size()));
  std::string& block = blocks_.back();
  block.append(text);
  return {block.data() + block.size() - text.size(), text.size()};
}

void StringTable::grow() {
  slots_.assign(slots_.size() * 2, 0);
  const size_t mask = slots_.size() - 1;
  for (StringId id = 1; id < views_.size(); ++id) {
    size_t slot = hashes_[id] & mask;
    while (slots_[slot] != 0) slot = (slot + 1) & mask;
    slots_[slot] = id;
  }
}

}  // namespace tbd
