#include "worker/protocol.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "base/json.h"
#include "worker/protocol_rows.h"

namespace tbd::protocol {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view line) {
  try {
    request_from(line);
  } catch (const Error& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Protocol, EveryRequestComesBackAsItWas) {
  Load load;
  load.bindings = {{"N", 8}};
  load.threads = 2;
  load.seed = 18446744073709551615u;
  load.capture = true;
  load.device_memory_bytes = int64_t{5} << 30;
  load.world = World{.place = {1, 2},
                     .store = "s",
                     .addresses = {"10.0.0.1", "10.0.0.2"},
                     .ports = {40000, 40001},
                     .wire = WireType::kBf16,
                     .every = 4};
  protocol::Run run;
  run.steps = 7;
  run.at_step = 3;
  run.lr = 0.1;
  run.phase = "train";
  run.input = {.mode = InputMode::kPipeline, .source = Json{{"kind", "folder"}}};
  const std::vector<Request> all = {Hello{},
                                    load,
                                    Write{"w"},
                                    Read{{"param/"}, "r"},
                                    run,
                                    Answer{"train.answers", "x", "y"},
                                    Survey{},
                                    Gemm{},
                                    Link{DType::bf16, 256, 20, 0.5},
                                    Stop{},
                                    Ping{},
                                    Bye{}};
  for (const Request& request : all) {
    const std::string line = to_line(request);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const Request back = request_from(line);
    EXPECT_EQ(back.index(), request.index()) << line;
    EXPECT_EQ(to_line(back), line);
  }
}

TEST(Protocol, EveryMessageComesBackAsItWas) {
  RunReply run;
  run.steps = 3;
  run.ended = "nonfinite";
  run.nonfinite = "param/fc.weight";
  run.losses = {{"train", std::nan("")}};
  HelloReply hello;
  hello.framework = "pytorch";
  hello.precisions = {Precision::kFp32};
  hello.build = {{"mkl", "2024.2"}};
  const std::vector<Message> all = {hello,
                                    CheckReply{{{"train", "conv1", "conv2d", "native", ""}}},
                                    LoadReply{},
                                    WriteReply{1},
                                    ReadReply{2},
                                    run,
                                    AnswerReply{0.5},
                                    SurveyReply{9, 3, 2, "content"},
                                    GemmReply{1e9},
                                    GemmReply{},
                                    LinkReply{{1, 5}, {4, 9}},
                                    LinkReply{{1, 5}, {4, 9}, 6},
                                    PingReply{4},
                                    ByeReply{},
                                    Failure{"io", "a rank is gone", false, 5},
                                    Failure{"oom", "out of memory", true}};
  for (const Message& message : all) EXPECT_EQ(to_line(message_from(to_line(message))), to_line(message));
  const auto back = std::get<RunReply>(message_from(to_line(Message(run))));
  EXPECT_TRUE(std::isnan(back.losses.at("train")));
}

TEST(Protocol, MalformedLinesSayWhatIsWrong) {
  EXPECT_THAT(refusal("rubbish"), HasSubstr("request: not JSON"));
  EXPECT_THAT(refusal("[1]"), HasSubstr("expected an object"));
  EXPECT_THAT(refusal("{}"), HasSubstr("'type' is missing"));
  EXPECT_THAT(refusal(R"({"type":"helo"})"), HasSubstr("did you mean 'hello'"));
  EXPECT_THAT(refusal(R"({"type":"hello"})"), HasSubstr("request 'hello': 'version' is missing"));
  EXPECT_THAT(refusal(R"({"type":"hello","version":"one"})"), HasSubstr("'version': expected an integer, got"));
  EXPECT_THAT(refusal(R"({"type":"gemm","precision":"fp32","seconds":true})"),
              HasSubstr("'seconds': expected a number"));
  EXPECT_THAT(refusal(R"({"type":"read","prefixes":[1],"file":"x"})"),
              HasSubstr("'prefixes': expected a string, got 1"));
}

TEST(Protocol, StepRowsKeepTheUnknownAndTheNonFinite) {
  StepRow row{.step = 4, .completed_ns = 5'000'000'000, .units = 8};
  row.steal_ticks = 0;
  row.loss = std::nan("");
  const std::vector<StepRow> back =
      unpack(std::get<Steps>(message_from(to_line(Message(pack(std::vector{row, StepRow{.step = 5}}))))));
  ASSERT_EQ(back.size(), 2u);
  EXPECT_EQ(back[0].step, 4);
  EXPECT_EQ(back[0].steal_ticks, 0);
  EXPECT_EQ(back[0].rss_bytes, std::nullopt);
  EXPECT_TRUE(std::isnan(*back[0].loss));
  EXPECT_THROW(unpack(Steps{Json{{1, 2}}}), Error);
  EXPECT_THROW(
      unpack(Steps{Json{{"one", 2, 3, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, 0}}}),
      Error);
}

}  // namespace
}  // namespace tbd::protocol
