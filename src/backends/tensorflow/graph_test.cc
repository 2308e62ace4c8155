#include "backends/tensorflow/graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "backends/tensorflow/wire.h"
#include "base/error.h"
#include "measure/gpu/cuda_driver.h"

namespace tbd::tensorflow {
namespace {

using testing::HasSubstr;

TEST(Graph, RunsOneNode) {
  TfGraph graph;
  const TF_Output x = graph.placeholder(DType::f64, {2});
  const TF_Output y = graph.op("AddV2").in(x).in(graph.constant(1, DType::f64)).out();
  TfSession session(graph, {});
  const double values[] = {2, 3};
  const TensorHandle in =
      to_tensor(HostTensor(DType::f64, {2}, std::span<const double>(values)), DType::f64, Layout::row);
  const Feed feeds[] = {{x, in.get()}};
  const auto fetched = session.run(feeds, std::span(&y, 1), {});
  EXPECT_THAT(as_doubles(to_host(fetched[0].get(), {2}, Layout::row)), testing::ElementsAre(3, 4));
}

TEST(Graph, AnErrorIsTensorFlowsSentence) {
  TfGraph graph;
  graph.set_scope("train/fc@1");
  try {
    graph.op("MatMul").in(graph.constant(1, DType::f32)).in(graph.constant(1, DType::f32)).out();
    FAIL() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), testing::AllOf(HasSubstr("train/fc_1/MatMul"), HasSubstr("rank 2")));
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
  }
}

TEST(Graph, GradientOfWhatDoesNotDependIsAbsent) {
  TfGraph graph;
  const TF_Output x = graph.placeholder(DType::f64, {}), z = graph.placeholder(DType::f64, {});
  const TF_Output y = graph.op("Square").in(x).out();
  const TF_Output xs[] = {x, z}, one = graph.constant(1, DType::f64);
  const auto dx = graph.gradients(std::span(&y, 1), xs, std::span(&one, 1));
  EXPECT_NE(dx[0].oper, nullptr);
  EXPECT_EQ(dx[1].oper, nullptr);
}

TEST(TfSession, RefusesToTrainOnTheCpuInPlaceOfAGpu) {
  if (cuda_devices().count > 0) GTEST_SKIP() << "a GPU answers";
  TfGraph graph;
  try {
    const TfSession session(graph, {.gpu = 0});
    FAIL() << "it opened a session";
  } catch (const Error& e) {
    EXPECT_EQ(e.kind(), ErrorKind::unsupported) << e.what();
  }
}

// Threads in fields 2 and 5; device_count {"GPU": 0} in field 1, or gpu_options in field 6.
TEST(Wire, EncodesASessionsSettings) {
  EXPECT_EQ(session_config({.intra_op_threads = 3, .inter_op_threads = 300}),
            std::string("\x10\x03\x28\xac\x02\x0a\x07\x0a\x03GPU\x10\x00", 14));
  EXPECT_EQ(session_config({.intra_op_threads = 3, .inter_op_threads = 1, .gpu = 2}),
            std::string("\x10\x03\x28\x01\x32\x05\x20\x01\x2a\x01"
                        "2",
                        11));
  EXPECT_EQ(session_config({.intra_op_threads = 3, .gpu = 0, .gpu_bytes = (int64_t{1536} << 20) + 77}),
            std::string("\x10\x03\x28\x01\x32\x0f\x20\x01\x2a\x01\x30\x4a\x08\x0a\x06\x0a\x04\x00\x00\xc0\x44", 21))
      << "1536 as a float in experimental.virtual_devices.memory_limit_mb";
  EXPECT_EQ(traced_run_options(/*with_devices=*/false), "\x08\x01");
  EXPECT_EQ(traced_run_options(/*with_devices=*/true), "\x08\x03");
  EXPECT_EQ(WireMessage().integer(5, -1).bytes(), std::string("\x28\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11));
  EXPECT_EQ(WireMessage().message(2, WireMessage().text(1, "ab")).bytes(), std::string("\x12\x04\x0a\x02"
                                                                                       "ab",
                                                                                       6));
}

TEST(Layouts, RoundTrip) {
  std::vector<float> values(2 * 3 * 4 * 5);
  std::iota(values.begin(), values.end(), 0.0f);
  const HostTensor host(DType::f32, {2, 3, 4, 5}, std::span<const float>(values));
  for (const Layout layout : {Layout::row, Layout::nhwc, Layout::hwio}) {
    const TensorHandle tensor = to_tensor(host, DType::f32, layout);
    EXPECT_EQ(as_doubles(to_host(tensor.get(), host.shape(), layout)), as_doubles(host));
  }
  const TensorHandle nhwc = to_tensor(host, DType::f32, Layout::nhwc);
  const auto* data = static_cast<const float*>(TF_TensorData(nhwc.get()));
  EXPECT_EQ(TF_Dim(nhwc.get(), 3), 3);
  EXPECT_EQ(data[1], 20);  // channel 1 of the first position
}

}  // namespace
}  // namespace tbd::tensorflow
