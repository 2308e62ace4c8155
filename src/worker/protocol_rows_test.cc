#include "worker/protocol_rows.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"

namespace tbd::protocol {
namespace {

StepRow full_row() {
  StepRow row{.step = 3, .completed_ns = 12, .units = 8};
  row.loss = 0.5;
  row.pause_ns = 7;
  row.fma_flop_rate = 9;
  row.read_byte_rate = 11;
  row.foreign_ns = 13;
  row.device_ns = 17;
  row.rows = 19;
  return row;
}

TEST(ProtocolRows, ComeBackAsTheyWere) {
  const StepRow sent = full_row();
  const std::vector<StepRow> rows = unpack(pack(std::vector{sent, StepRow{.step = 4, .completed_ns = 20}}));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].completed_ns, 12);
  EXPECT_EQ(rows[0].loss, 0.5);
  EXPECT_EQ(rows[0].pause_ns, 7);
  EXPECT_EQ(rows[0].fma_flop_rate, 9);
  EXPECT_EQ(rows[0].read_byte_rate, 11);
  EXPECT_EQ(rows[0].foreign_ns, 13);
  EXPECT_EQ(rows[0].device_ns, 17);
  EXPECT_EQ(rows[0].rows, 19);
  EXPECT_FALSE(rows[1].pause_ns);
}

TEST(ProtocolRows, OfAWorkerWithoutASpeedProbeEndAfterTheLoss) {
  Steps steps = pack(std::vector{full_row()});
  Json& row = steps.rows->front();
  while (row.size() > 15) row.erase(row.size() - 1);
  const std::vector<StepRow> rows = unpack(steps);
  EXPECT_EQ(rows[0].loss, 0.5);
  EXPECT_FALSE(rows[0].pause_ns);
  row.erase(row.size() - 1);
  EXPECT_THROW(unpack(steps), Error) << "before its loss it may not end";
}

}  // namespace
}  // namespace tbd::protocol
