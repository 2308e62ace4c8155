// The side tables of a trace: one for each type of detail, equal values once.
#pragma once
#include <algorithm>
#include <span>
#include <tuple>
#include <type_traits>
#include <vector>

#include "trace/event.h"

namespace tbd {

// Mixing of splitmix64 (Steele, Lea, Flood 2014, "Fast splittable pseudorandom number generators").
constexpr uint64_t mixed(uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9u;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebu;
  return x ^ x >> 31;
}
template <class Detail>
uint64_t hash_of(const Detail& detail) {
  uint64_t hash = 0;
  const auto take = [&](const auto& field) { hash = mixed(hash + 0x9e3779b97f4a7c15u + static_cast<uint64_t>(field)); };
  std::apply([&](const auto&... field) { (take(field), ...); }, Detail::fields(detail));
  return hash;
}

template <class Detail>
class DetailTable {
 public:
  uint32_t intern(const Detail& value) {
    if (2 * (rows_.size() + 1) > slots_.size()) grow();
    size_t slot = slot_of(value);
    for (; slots_[slot] != 0; slot = (slot + 1) & (slots_.size() - 1))
      if (rows_[slots_[slot] - 1] == value) return slots_[slot] - 1;
    rows_.push_back(value);
    slots_[slot] = static_cast<uint32_t>(rows_.size());
    return slots_[slot] - 1;
  }
  const Detail* find(uint32_t id) const { return id < rows_.size() ? &rows_[id] : nullptr; }
  std::span<const Detail> rows() const { return rows_; }
  size_t memory_bytes() const { return rows_.capacity() * sizeof(Detail) + slots_.capacity() * sizeof(uint32_t); }
  void clear() {
    rows_.clear();
    slots_.assign(slots_.size(), 0);
  }

 private:
  size_t slot_of(const Detail& value) const { return hash_of(value) & (slots_.size() - 1); }
  void grow() {
    slots_.assign(std::max<size_t>(16, slots_.size() * 2), 0);
    for (uint32_t i = 0; i < rows_.size(); ++i) {
      size_t slot = slot_of(rows_[i]);
      while (slots_[slot] != 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = i + 1;
    }
  }

  std::vector<Detail> rows_;
  std::vector<uint32_t> slots_;  // open addressing, id + 1, 0: free
};

class Details {
 public:
  template <class Detail>
  DetailTable<Detail>& of() {
    return std::get<DetailTable<Detail>>(tables_);
  }
  template <class Detail>
  const DetailTable<Detail>& of() const {
    return std::get<DetailTable<Detail>>(tables_);
  }
  template <class Visit>
  void for_each(Visit visit) {
    std::apply([&](auto&... table) { (visit(table), ...); }, tables_);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    std::apply([&](const auto&... table) { (visit(table), ...); }, tables_);
  }

 private:
  std::tuple<DetailTable<OpDetail>, DetailTable<KernelDetail>, DetailTable<CopyDetail>, DetailTable<CollectiveDetail>,
             DetailTable<SyncDetail>, DetailTable<MemoryDetail>, DetailTable<CounterDetail>>
      tables_;
};

}  // namespace tbd
