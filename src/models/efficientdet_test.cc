// EfficientDet's oracle numbers: effdet 0.4.1 with timm 1.0.31, counted from shapes.
#include <cmath>

#include "graph/schedule.h"
#include "models/oracle.h"

namespace tbd {
namespace {

struct DetectorOracle {
  const char* config;
  size_t tensors, buffer_tensors;
  int64_t first_macs;
  int64_t backbone, feature_network, class_net, box_net;  // parameters
  int64_t anchors;
};
constexpr DetectorOracle kDetectors[] = {
    {"canonical", 460, 216, 56'623'104, 3'595'388, 196'281, 69'354, 19'044, 49'104},
    {"d1", 596, 272, 88'473'600, 6'101'024, 390'972, 101'394, 32'508, 76'725},
    {"d2", 644, 288, 127'401'984, 7'202'562, 708'159, 136'890, 49'428, 110'484},
    {"d3", 757, 342, 216'760'320, 10'103'336, 1'559'474, 247'050, 122'436, 150'381},
    {"sym", 424, 216, 56'623'104, 3'595'388, 194'361, 69'162, 18'852, 49'104},
    {"small", 195, 90, 1'769'472, 313'008, 53'491, 5'901, 5'460, 3'069},
    {"tiny", 195, 90, 884'736, 97'372, 15'043, 2'397, 2'172, 3'069},
    {"tiny2", 234, 108, 884'736, 172'582, 15'043, 2'397, 2'172, 3'069},
};

TEST(EfficientDet, HasTheNumbersOfItsReference) {
  for (const DetectorOracle& expected : kDetectors) {
    const Program program = oracle::program("efficientdet_d0", expected.config);
    EXPECT_EQ(program.parameters.size(), expected.tensors) << expected.config;
    EXPECT_EQ(program.buffers.size(), expected.buffer_tensors) << expected.config;
    EXPECT_EQ(oracle::elements(program.parameters, "backbone."), expected.backbone) << expected.config;
    EXPECT_EQ(oracle::elements(program.parameters, "fpn."), expected.feature_network) << expected.config;
    EXPECT_EQ(oracle::elements(program.parameters, "class_net."), expected.class_net) << expected.config;
    EXPECT_EQ(oracle::elements(program.parameters, "box_net."), expected.box_net) << expected.config;
    const Graph graph = bind(program, program.phase("train"), {{"N", 2}});  // one value alone has no variance
    EXPECT_EQ(oracle::work(graph).first, 2 * expected.first_macs) << expected.config;
    int64_t anchors = 0;
    for (int level = 3; level <= 7; ++level)
      anchors += graph.value(graph.find(cat("cls_t.", level)).value()).shape.elements();
    EXPECT_EQ(anchors, 2 * expected.anchors) << expected.config;
  }
}

TEST(EfficientDet, HasTheNamesOfItsReference) {
  const Program program = oracle::program("efficientdet_d0", "");
  const std::vector<std::string> parameters = oracle::keys(program.parameters), buffers = oracle::keys(program.buffers);
  const auto has = [](const std::vector<std::string>& all, const char* key) {
    return std::ranges::find(all, key) != all.end();
  };
  for (const char* key :
       {"backbone.conv_stem.weight (32, 3, 3, 3)", "backbone.blocks.0.0.conv_pw.weight (16, 32, 1, 1)",
        "backbone.blocks.2.1.conv_dw.weight (240, 1, 5, 5)",
        "backbone.blocks.5.3.se.conv_reduce.weight (48, 1152, 1, 1)",
        "backbone.blocks.6.0.conv_pwl.weight (320, 1152, 1, 1)", "backbone.blocks.1.0.bn3.bias (24)",
        "fpn.resample.3.conv.conv.bias (64)", "fpn.cell.0.fnode.2.combine.resample.1.conv.conv.weight (64, 112, 1, 1)",
        "fpn.cell.0.fnode.4.combine.resample.1.conv.bn.weight (64)", "fpn.cell.0.fnode.5.combine.edge_weights (3)",
        "fpn.cell.2.fnode.7.after_combine.conv.conv_pw.bias (64)", "class_net.conv_rep.2.conv_dw.weight (64, 1, 3, 3)",
        "class_net.bn_rep.0.4.bn.weight (64)", "class_net.predict.conv_pw.weight (810, 64, 1, 1)",
        "box_net.predict.conv_pw.bias (36)"})
    EXPECT_TRUE(has(parameters, key)) << key;
  EXPECT_TRUE(has(buffers, "box_net.bn_rep.2.3.bn.running_var (64)"));
  EXPECT_FALSE(has(parameters, "fpn.cell.1.fnode.2.combine.resample.1.conv.conv.weight (64, 64, 1, 1)"));
}

TEST(EfficientDet, StartsAsItsReference) {
  const Program program = oracle::program("efficientdet_d0", "");
  const auto sigma = [&](const char* name) {
    const Init init = oracle::parameter(program, name).init;
    EXPECT_EQ(init.kind, Init::Kind::normal) << name;
    return init.a;
  };
  EXPECT_DOUBLE_EQ(sigma("backbone.blocks.2.1.conv_dw.weight"), std::sqrt(2.0 / 25));
  EXPECT_DOUBLE_EQ(sigma("class_net.conv_rep.0.conv_dw.weight"), 1.0 / 3);
  EXPECT_DOUBLE_EQ(sigma("box_net.predict.conv_pw.weight"), 1.0 / 8);
  oracle::expect_uniform(program, "fpn.cell.0.fnode.0.after_combine.conv.conv_dw.weight", std::sqrt(3.0 / 9));
  oracle::expect_uniform(program, "fpn.resample.3.conv.conv.weight", std::sqrt(3.0 / ((320 + 64) / 2.0)));
  EXPECT_DOUBLE_EQ(oracle::parameter(program, "class_net.predict.conv_pw.bias").init.a, -std::log(99));
  EXPECT_EQ(oracle::parameter(program, "fpn.cell.1.fnode.3.combine.edge_weights").init.kind, Init::Kind::ones);
}

// 0.2 b / n of block b of n, where the block has a residual.
TEST(EfficientDet, DropsDeeperBlocksMoreOften) {
  const Program program = oracle::program("efficientdet_d0", "");
  std::vector<double> rates;
  for (const Node& node : program.phases[0].nodes)
    if (const auto* dropout = std::get_if<Dropout>(&node.op)) {
      EXPECT_TRUE(dropout->per_sample);
      EXPECT_TRUE(node.name.ends_with(".drop_path"));
      rates.push_back(dropout->p);
    }
  std::vector<double> expected;
  for (const int block : {2, 4, 6, 7, 9, 10, 12, 13, 14}) expected.push_back(0.2 * block / 16);
  EXPECT_EQ(rates, expected);
}

// The form for tests that has all ops of D0 drops blocks.
TEST(EfficientDet, IsTestedByAFormThatDrops) {
  EXPECT_EQ(find_model("efficientdet_d0").config("").tiny, "tiny2");
  EXPECT_EQ(find_model("efficientdet_d0").config("tiny").tiny, "tiny");
}

TEST(EfficientDet, DecaysFiltersAloneAndClips) {
  const Program program = oracle::program("efficientdet_d0", "");
  const Update& update = program.phases[0].update;
  ASSERT_EQ(update.groups.size(), 2u);
  EXPECT_EQ(update.groups[0].weight_decay, 4e-5);
  EXPECT_EQ(update.groups[1].weight_decay, 0);
  for (const std::string& name : update.groups[0].parameters)
    EXPECT_EQ(oracle::parameter(program, name).shape.rank(), 4) << name;
  EXPECT_EQ(update.clip_norm, 10);
  EXPECT_EQ(update.ema, 0.9998);
}

// An epoch of 118,287 images in batches of 64 is 1,849 steps.
TEST(EfficientDet, WarmsUpOverAnEpochAndFallsToZero) {
  const Program program = oracle::program("efficientdet_d0", "");
  const Schedule& schedule = program.phases[0].update.schedule;
  EXPECT_NEAR(learning_rate(schedule, 1, 64), 0.008 + 0.072 / 1849, 1e-12);
  EXPECT_NEAR(learning_rate(schedule, 1849, 64), 0.08, 1e-12);
  EXPECT_NEAR(learning_rate(schedule, 1849, 128), 0.16, 1e-3);
  EXPECT_NEAR(learning_rate(schedule, 300 * 1849, 64), 0, 1e-6);
}

}  // namespace
}  // namespace tbd
