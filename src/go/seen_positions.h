// The hashes of a game's positions, as a set that grows.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tbd::go {

// Open addressing; Zobrist hashes are spread as they are. 0 marks a free place and stands for 1.
class SeenPositions {
 public:
  void insert(uint64_t hash) {
    if (2 * (count_ + 1) > table_.size()) grow();
    uint64_t& place = table_[place_of(hash)];
    if (place == 0) ++count_;
    place = key(hash);
  }
  bool contains(uint64_t hash) const { return !table_.empty() && table_[place_of(hash)] != 0; }

 private:
  static constexpr size_t kFirst = 1024;  // places: enough for most games, so that they allocate once
  static uint64_t key(uint64_t hash) { return hash == 0 ? 1 : hash; }
  // Where `hash` stands, or the free place where it would.
  size_t place_of(uint64_t hash) const {
    const size_t mask = table_.size() - 1;
    size_t place = hash & mask;
    while (table_[place] != 0 && table_[place] != key(hash)) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    std::vector<uint64_t> old(table_.empty() ? kFirst : 2 * table_.size());
    old.swap(table_);
    for (const uint64_t hash : old)
      if (hash != 0) table_[place_of(hash)] = hash;
  }

  std::vector<uint64_t> table_;  // a power of two, at most half full
  size_t count_ = 0;
};

}  // namespace tbd::go
