#include "measure/memory_ledger.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <map>

#include "base/error.h"
#include "base/philox.h"

namespace tbd {
namespace {

const void* address_of(intptr_t address) { return reinterpret_cast<const void*>(address); }

// A clock that ticks once a reading.
std::function<int64_t()> ticks() {
  return [now = int64_t{0}]() mutable { return now++; };
}

int64_t bytes_of_class(const MemoryTotals& totals, MemoryClass kind) { return totals[static_cast<size_t>(kind)]; }

TEST(MemoryLedger, ClassifiesByAllocatingAndReleasingPhase) {
  MemoryLedger ledger({"conv", "relu"}, ticks());
  ledger.allocated(address_of(1), 100, 128);
  EXPECT_TRUE(ledger.classify(address_of(1), MemoryClass::weight));
  ledger.begin_step(1);
  ledger.enter(MemoryPhase::forward);
  ledger.execute(0);
  ledger.allocated(address_of(2), 10, 16);  // scratch
  ledger.allocated(address_of(3), 20, 32);  // kept for backward
  ledger.freed(address_of(2));
  ledger.execute(1);
  ledger.allocated(address_of(4), 30, 32);  // passed on
  EXPECT_TRUE(ledger.propose(address_of(3), MemoryClass::feature_map));
  ledger.enter(MemoryPhase::backward);
  ledger.execute(1);
  ledger.freed(address_of(4));
  ledger.allocated(address_of(5), 40, 48);  // a gradient on its way
  ledger.execute(0);
  ledger.allocated(address_of(6), 100, 128);
  ledger.freed(address_of(5));
  ledger.classify(address_of(6), MemoryClass::weight_grad);
  EXPECT_EQ(ledger.live_bytes(), 100 + 20 + 100);
  EXPECT_EQ(ledger.peak_bytes(), 100 + 20 + 40 + 100);

  const MemoryLog log = ledger.log();
  const MemoryClass expected[] = {MemoryClass::weight,    MemoryClass::workspace,       MemoryClass::feature_map,
                                  MemoryClass::temporary, MemoryClass::activation_grad, MemoryClass::weight_grad};
  ASSERT_EQ(log.blocks.size(), std::size(expected));
  for (size_t i = 0; i < log.blocks.size(); ++i) EXPECT_EQ(name(log.blocks[i].kind), name(expected[i])) << i;
  EXPECT_EQ(log.blocks[2].node, 0);
  EXPECT_EQ(log.blocks[3].node, 1);
  EXPECT_EQ(log.blocks[3].phase, MemoryPhase::forward);
  EXPECT_EQ(log.event_ns.size(), 9u);
}

// The heap is what it watches. Under a sanitizer, whose heap shows no numbers, this holds of itself.
TEST(MemoryLedger, RecordsWithoutHeapAllocations) {
  MemoryLedger ledger({"conv"}, ticks());
  const auto tell = [&](intptr_t from) {
    for (intptr_t handle = from; handle < from + 20'000; ++handle) {
      if (handle % 100 == 0) {
        ledger.begin_step(handle);
        ledger.enter(MemoryPhase::forward);
        ledger.execute(0);
      }
      ledger.allocated(address_of(handle), 100, 128);
      if (handle % 2 == 0) ledger.freed(address_of(handle));
    }
  };
  const size_t before = mallinfo2().uordblks;
  tell(1);
  EXPECT_EQ(mallinfo2().uordblks, before);
  EXPECT_EQ(ledger.live_bytes(), 10'000 * 100);
}

TEST(MemoryLedger, LastClassificationWinsAndOverridesProposals) {
  MemoryLedger ledger({}, ticks());
  ledger.allocated(address_of(1), 8, 8);
  ledger.propose(address_of(1), MemoryClass::feature_map);
  ledger.propose(address_of(1), MemoryClass::temporary);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::feature_map), 8);
  ledger.classify(address_of(1), MemoryClass::input);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::input), 8);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::feature_map), 0);
}

TEST(MemoryLedger, SettleClassifiesOnlyUnclassifiedAllocations) {
  MemoryLedger ledger({}, ticks());
  ledger.allocated(address_of(1), 8, 8);
  ledger.allocated(address_of(2), 4, 4);
  ledger.classify(address_of(1), MemoryClass::weight);
  ledger.settle(MemoryClass::feature_map);
  ledger.allocated(address_of(3), 2, 2);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::weight), 8);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::feature_map), 4);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::temporary), 2);
}

// Of a library: scratch freed inside its op, and scratch kept with a handle. Of tensors: the same two.
TEST(MemoryLedger, WhatIsNoTensorIsALibrarysWhereTensorsAreTold) {
  MemoryLedger ledger({"conv"}, ticks());
  ledger.tell_tensors();
  ledger.enter(MemoryPhase::forward);
  ledger.execute(0);
  for (intptr_t handle = 1; handle <= 4; ++handle) ledger.allocated(address_of(handle), 10 * handle, 10 * handle);
  ledger.show_tensor(address_of(3));
  ledger.show_tensor(address_of(4));
  ledger.show_tensor(address_of(5));  // nothing lies there
  ledger.freed(address_of(1));
  ledger.freed(address_of(3));
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::temporary), 20 + 40) << "not settled yet";
  ledger.settle(MemoryClass::feature_map);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::library_workspace), 20);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::feature_map), 40);
  ledger.allocated(address_of(6), 60, 60);
  ledger.classify(address_of(6), MemoryClass::weight_grad);

  const MemoryLog log = ledger.log();
  const MemoryClass expected[] = {MemoryClass::library_workspace, MemoryClass::library_workspace,
                                  MemoryClass::workspace, MemoryClass::feature_map, MemoryClass::weight_grad};
  ASSERT_EQ(log.blocks.size(), std::size(expected));
  for (size_t i = 0; i < log.blocks.size(); ++i) EXPECT_EQ(name(log.blocks[i].kind), name(expected[i])) << i;
}

TEST(MemoryLedger, WhatWasAllocatedBeforeTensorsAreToldIsNoLibrarys) {
  MemoryLedger ledger({}, ticks());
  ledger.allocated(address_of(1), 8, 8);
  ledger.tell_tensors();
  ledger.settle(MemoryClass::feature_map);
  EXPECT_EQ(bytes_of_class(ledger.live(), MemoryClass::feature_map), 8);
}

TEST(MemoryLedger, CountsFreesOfUnknownAddresses) {
  MemoryLedger ledger({}, ticks());
  ledger.freed(address_of(7));
  EXPECT_FALSE(ledger.classify(address_of(7), MemoryClass::weight));
  EXPECT_EQ(ledger.log().unknown_frees, 1);
  EXPECT_TRUE(ledger.log().event_ns.empty());
}

TEST(MemoryLedger, AcceptsTimestampsForLateEvents) {
  int64_t now = 100;
  MemoryLedger ledger({}, [&] { return now; });
  ledger.at(150);
  ledger.allocated(address_of(1), 8, 8);
  ledger.at(170);
  ledger.freed(address_of(1));
  EXPECT_THROW(ledger.at(169), Error) << "before what was told";
  ledger.at(std::nullopt);
  now = 200;
  ledger.enter(MemoryPhase::forward);
  ledger.allocated(address_of(2), 8, 8);
  const MemoryLog log = ledger.log();
  EXPECT_EQ(log.event_ns, (std::vector<int64_t>{150, 170, 200}));
  EXPECT_EQ(log.marks.back().time_ns, 200);
  EXPECT_EQ(log.marks.back().event, 2u);
}

TEST(MemoryLedger, RefusesWhatCannotBe) {
  MemoryLedger ledger({"conv"}, ticks());
  ledger.allocated(address_of(1), 8, 8);
  EXPECT_THROW(ledger.allocated(address_of(1), 8, 8), Error) << "two blocks in one place";
  EXPECT_THROW(ledger.allocated(address_of(2), 8, 4), Error) << "less held than asked for";
  EXPECT_THROW(ledger.execute(1), Error) << "a node of no name";
}

// Whatever happens, after each event the classes add up to what is live, and none is below 0.
TEST(MemoryLedger, ClassesAlwaysAddUpToWhatIsLive) {
  const Philox stream(1, "ledger");
  auto below = [&, drawn = uint64_t{0}](uint32_t n) mutable { return stream.word(drawn++) % n; };
  MemoryLedger ledger({"a", "b", "c"}, ticks());
  std::map<intptr_t, int64_t> live;
  for (int i = 0; i < 5000; ++i) {
    const auto address = static_cast<intptr_t>(below(64));
    switch (below(5)) {
      case 0:
      case 1:
        if (live.contains(address)) break;
        live[address] = static_cast<int64_t>(below(1000));
        ledger.allocated(address_of(address), live[address], live[address] + 8);
        break;
      case 2:
        ledger.freed(address_of(address));
        live.erase(address);
        break;
      case 3:
        EXPECT_EQ(ledger.classify(address_of(address), static_cast<MemoryClass>(below(kMemoryClasses))),
                  live.contains(address));
        break;
      default:
        ledger.execute(static_cast<int32_t>(below(4)) - 1);
    }
    const MemoryTotals totals = ledger.live();
    int64_t bytes = 0, expected = 0;
    for (const int64_t total : totals) {
      ASSERT_GE(total, 0);
      bytes += total;
    }
    for (const auto& [where, size] : live) expected += size;
    ASSERT_EQ(bytes, expected);
    ASSERT_EQ(ledger.live_bytes(), expected);
  }
}

}  // namespace
}  // namespace tbd
