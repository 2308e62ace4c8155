#include "backend_suite/detection_oracle.h"
#include "backend_suite/reference_sums.h"

#include "graph/passes.h"
#include "models/model.h"

namespace tbd {
namespace {

using oracle::DetectionCase;

// Of effdet 0.4.1 with timm 1.0.31 and torch 2.15.0 in double: one step from weights of seed 0.
const std::vector<DetectionCase>& cases() {
  static const std::vector<DetectionCase> all = {
      {.config = "tiny",
       .image = 128,
       .objects = {{{10.25F, 20.5F, 90.0F, 100.75F, 1}, {5.0F, 60.0F, 40.5F, 120.0F, 4}},
                   {{30.0F, 30.0F, 100.0F, 90.0F, 3}}},
       .masks = {},
       .positives = 105,
       .class_sum = 169,
       .box_sum = -0.2816588015994057,
       .cls = 1.1885433736587434,
       .box = 2.5939574890689077,
       .gradient_norm = 13.197749656885515,
       .gradients = {{"backbone.conv_stem.weight", 6.401774519434028},
                     {"backbone.bn1.weight", 0.598311347049411},
                     {"backbone.blocks.2.0.conv_dw.weight", 2.2448656462882015},
                     {"backbone.blocks.2.0.se.conv_reduce.bias", 0.05561703911904906},
                     {"backbone.blocks.6.0.conv_pwl.weight", 1.0162451078253116},
                     {"fpn.resample.3.conv.conv.weight", 0.4961844996097687},
                     {"fpn.cell.0.fnode.0.combine.edge_weights", 0.005018673628680205},
                     {"fpn.cell.0.fnode.5.combine.edge_weights", 8.926503341017565e-05},
                     {"fpn.cell.0.fnode.2.combine.resample.1.conv.conv.weight", 0.9484561080334643},
                     {"fpn.cell.0.fnode.7.after_combine.conv.conv_pw.weight", 2.2390096590324906e-06},
                     {"class_net.conv_rep.0.conv_pw.weight", 0.14264431391156013},
                     {"class_net.bn_rep.0.0.bn.weight", 0.0354399047156033},
                     {"class_net.predict.conv_pw.bias", 0.05925118030537401},
                     {"box_net.predict.conv_dw.weight", 0.9585969884539062},
                     {"box_net.predict.conv_pw.bias", 0.32604068077293274}},
       .outputs = {{"cls.3", 105535.12251512855},
                   {"cls.4", 26364.828941605498},
                   {"cls.5", 6591.061379070439},
                   {"cls.6", 1652.9141785873244},
                   {"cls.7", 412.74328661866383},
                   {"box.3", 7744.640111115639},
                   {"box.4", 1950.1799412486334},
                   {"box.5", 445.7822262122852},
                   {"box.6", 89.6701932920133},
                   {"box.7", 10.528755234014437}},
       .running = {{"backbone.bn1.running_var", 7.937597381356177},
                   {"class_net.bn_rep.0.0.bn.running_var", 23.975574698150954},
                   {"fpn.cell.0.fnode.0.after_combine.conv.bn.running_var", 23.957618118060616}}},
      {.config = "tiny2",
       .image = 128,
       .objects = {{{10.25F, 20.5F, 90.0F, 100.75F, 1}, {5.0F, 60.0F, 40.5F, 120.0F, 4}},
                   {{30.0F, 30.0F, 100.0F, 90.0F, 3}}},
       .masks = {},
       .positives = 105,
       .class_sum = 169,
       .box_sum = -0.2816588015994057,
       .cls = 1.1501610482496663,
       .box = 2.4857466425566774,
       .gradient_norm = 14.717672809023492,
       .gradients = {{"backbone.conv_stem.weight", 7.5255803764178175},
                     {"backbone.bn1.weight", 0.6137797136906217},
                     {"backbone.blocks.2.0.conv_dw.weight", 2.3229646089710143},
                     {"backbone.blocks.2.0.se.conv_reduce.bias", 0.046560686947598365},
                     {"backbone.blocks.6.0.conv_pwl.weight", 0.8558290985010709},
                     {"fpn.resample.3.conv.conv.weight", 0.5185708158476232},
                     {"fpn.cell.0.fnode.0.combine.edge_weights", 0.02910142230460995},
                     {"fpn.cell.0.fnode.5.combine.edge_weights", 6.361555556269349e-05},
                     {"fpn.cell.0.fnode.2.combine.resample.1.conv.conv.weight", 0.834468027698317},
                     {"fpn.cell.0.fnode.7.after_combine.conv.conv_pw.weight", 7.075404405081352e-06},
                     {"class_net.conv_rep.0.conv_pw.weight", 0.12015280936054111},
                     {"class_net.bn_rep.0.0.bn.weight", 0.022824028818278875},
                     {"class_net.predict.conv_pw.bias", 0.05969664941019531},
                     {"box_net.predict.conv_dw.weight", 0.9532896094405638},
                     {"box_net.predict.conv_pw.bias", 0.26782117859098453}},
       .outputs = {{"cls.3", 105513.65679443801},
                   {"cls.4", 26361.391320943723},
                   {"cls.5", 6591.79734082932},
                   {"cls.6", 1650.3731261169105},
                   {"cls.7", 413.54294817478194},
                   {"box.3", 7664.112712241349},
                   {"box.4", 1952.6503805792186},
                   {"box.5", 455.98441575517825},
                   {"box.6", 97.2946075448507},
                   {"box.7", 9.27864629869531}},
       .running = {{"backbone.bn1.running_var", 7.937597381356177},
                   {"class_net.bn_rep.0.0.bn.running_var", 23.98044083902149},
                   {"fpn.cell.0.fnode.0.after_combine.conv.bn.running_var", 23.927245044269977}}},
      {.config = "tiny2",
       .image = 128,
       .objects = {{{10.25F, 20.5F, 90.0F, 100.75F, 1}, {5.0F, 60.0F, 40.5F, 120.0F, 4}},
                   {{30.0F, 30.0F, 100.0F, 90.0F, 3}}},
       .masks = {{"backbone.blocks.3.1.drop_path", {0.0, 1.0}},
                 {"backbone.blocks.4.1.drop_path", {1.0, 0.0}},
                 {"backbone.blocks.5.1.drop_path", {1.0, 1.0}}},
       .positives = 105,
       .class_sum = 169,
       .box_sum = -0.2816588015994057,
       .cls = 1.1320934371110225,
       .box = 2.1853623498245365,
       .gradient_norm = 15.527457883896679,
       .gradients = {{"backbone.conv_stem.weight", 8.528720078016882},
                     {"backbone.bn1.weight", 0.3504948878366858},
                     {"backbone.blocks.2.0.conv_dw.weight", 2.4682274341683206},
                     {"backbone.blocks.2.0.se.conv_reduce.bias", 0.03745191463265792},
                     {"backbone.blocks.6.0.conv_pwl.weight", 1.0595232721405543},
                     {"fpn.resample.3.conv.conv.weight", 0.6929857437786292},
                     {"fpn.cell.0.fnode.0.combine.edge_weights", 0.0005807009324897761},
                     {"fpn.cell.0.fnode.5.combine.edge_weights", 0.00013248949370037898},
                     {"fpn.cell.0.fnode.2.combine.resample.1.conv.conv.weight", 0.8694359746147593},
                     {"fpn.cell.0.fnode.7.after_combine.conv.conv_pw.weight", 9.505089145428851e-07},
                     {"class_net.conv_rep.0.conv_pw.weight", 0.11565078508542137},
                     {"class_net.bn_rep.0.0.bn.weight", 0.02785500348113309},
                     {"class_net.predict.conv_pw.bias", 0.06020746587540679},
                     {"box_net.predict.conv_dw.weight", 0.7770822209111563},
                     {"box_net.predict.conv_pw.bias", 0.2670837285261234}},
       .outputs = {{"cls.3", 105537.4066461653},
                   {"cls.4", 26361.318291696647},
                   {"cls.5", 6604.806051681731},
                   {"cls.6", 1651.6547292598614},
                   {"cls.7", 412.8615519229366},
                   {"box.3", 7692.575362573743},
                   {"box.4", 1983.2393381113313},
                   {"box.5", 440.39064206979094},
                   {"box.6", 88.8267095710438},
                   {"box.7", 9.897152499994707}},
       .running = {{"backbone.bn1.running_var", 7.937597381356177},
                   {"class_net.bn_rep.0.0.bn.running_var", 23.983688301533736},
                   {"fpn.cell.0.fnode.0.after_combine.conv.bn.running_var", 23.937944319793928}}},
      {.config = "canonical",
       .image = 512,
       .objects = {{{40.5F, 30.25F, 300.25F, 250.75F, 18},
                    {150.5F, 200.0F, 410.25F, 420.5F, 1},
                    {350.25F, 10.5F, 480.75F, 90.0F, 62},
                    {300.25F, 300.5F, 345.5F, 330.25F, 44}}},
       .masks = {},
       .positives = 115,
       .class_sum = 3661,
       .box_sum = 9.494857095181942,
       .cls = 3.9983418182598713,
       .box = 2.313154724348151,
       .gradient_norm = 333.1807819096256,
       .gradients = {{"backbone.conv_stem.weight", 202.01055271693303},
                     {"backbone.bn1.weight", 3.4070497550797865},
                     {"backbone.blocks.2.0.conv_dw.weight", 29.044527665849447},
                     {"backbone.blocks.2.0.se.conv_reduce.bias", 0.42010045453299455},
                     {"backbone.blocks.6.0.conv_pwl.weight", 17.608374917406696},
                     {"fpn.resample.3.conv.conv.weight", 14.414307885246648},
                     {"fpn.cell.0.fnode.0.combine.edge_weights", 0.5584206445952428},
                     {"fpn.cell.0.fnode.5.combine.edge_weights", 0.63012927549657},
                     {"fpn.cell.0.fnode.2.combine.resample.1.conv.conv.weight", 4.594416145301114},
                     {"fpn.cell.0.fnode.7.after_combine.conv.conv_pw.weight", 4.504799640845489},
                     {"class_net.conv_rep.0.conv_pw.weight", 5.9894408288181955},
                     {"class_net.bn_rep.0.0.bn.weight", 0.9214291243338577},
                     {"class_net.predict.conv_pw.bias", 0.4034790164413853},
                     {"box_net.predict.conv_dw.weight", 0.7154572966504937},
                     {"box_net.predict.conv_pw.bias", 0.4804187018976163}},
       .outputs = {{"cls.3", 15263271.845208447},
                   {"cls.4", 3815621.7720306246},
                   {"cls.5", 953910.4533733779},
                   {"cls.6", 238536.08442879614},
                   {"cls.7", 59637.848183125825},
                   {"box.3", 66809.34188751229},
                   {"box.4", 16409.312683870397},
                   {"box.5", 4053.929729650333},
                   {"box.6", 1045.7525532738873},
                   {"box.7", 262.40007639598565}},
       .running = {{"backbone.bn1.running_var", 31.698209767540476},
                   {"class_net.bn_rep.0.0.bn.running_var", 64.042211806138},
                   {"class_net.bn_rep.0.4.bn.running_mean", -0.019892945768650156},
                   {"fpn.cell.0.fnode.0.after_combine.conv.bn.running_var", 63.768726598570304}}},
  };
  return all;
}

// One step of the case in double.
TensorMap stepped(const DetectionCase& c, const oracle::DetectionTargets& targets) {
  const Program plain = find_model("efficientdet_d0").config(c.config).program();
  const DropoutMode mode = c.masks.empty() ? DropoutMode::kOff : DropoutMode::kMask;
  const Program program = with_precision(with_dropout(plain, mode), Precision::kFp64);
  const auto batch = static_cast<int64_t>(c.objects.size());
  TensorMap inputs = targets.tensors;
  inputs["image"] = oracle::image_by_formula(batch, c.image);
  for (const auto& [node, mask] : c.masks) inputs["mask/" + node] = doubles({batch, 1, 1, 1}, mask);
  const double matched = 1 + static_cast<double>(targets.positives);
  inputs["norm/cls"] = scalar_tensor(1 / matched, DType::f64);
  inputs["norm/box"] = scalar_tensor(12.5 / matched, DType::f64);
  auto session = make_session();
  session->load(program, load_options({.batch = batch}));
  session->write(oracle::rounded_weights(program));
  session->stage(inputs);
  session->step(at_step(1));
  return session->read({"term/", "grad/", "output/", "buffer/"});
}

class EfficientDet : public testing::TestWithParam<size_t> {};

TEST_P(EfficientDet, TakesTheStepOfItsReference) {
  const DetectionCase& c = cases()[GetParam()];
  const oracle::DetectionTargets targets = oracle::targets_of(c);
  ASSERT_EQ(targets.positives, c.positives);
  EXPECT_EQ(targets.class_sum, c.class_sum);
  EXPECT_NEAR(targets.box_sum, c.box_sum, 1e-5);
  if (const std::string why = why_not(find_model("efficientdet_d0").config(c.config).program()); !why.empty())
    GTEST_SKIP() << why;
  const TensorMap after = stepped(c, targets);
  expect_near(as_doubles(after.at("term/cls")).front(), c.cls, kTermBound, "cls");
  expect_near(as_doubles(after.at("term/box")).front(), c.box, kTermBound, "box");
  double all = 0;
  for (const auto& [name, tensor] : after)
    if (name.starts_with("grad/")) all = std::hypot(all, norm_of(tensor));
  expect_near(all, c.gradient_norm, kGradientBound, "all gradients");
  for (const auto& [name, norm] : c.gradients)
    expect_near(norm_of(after.at("grad/" + name)), norm, kGradientBound, name);
  for (const auto& [name, sum] : c.outputs) expect_near(magnitudes(after.at("output/" + name)), sum, kTermBound, name);
  for (const auto& [name, sum] : c.running) expect_near(sum_of(after.at("buffer/" + name)), sum, kTermBound, name);
}

// D0 in double takes seconds in the fastest framework alone.
std::vector<size_t> cases_to_run() {
  std::vector<size_t> out;
  for (size_t i = 0; i < cases().size(); ++i)
    if (cases()[i].config != "canonical" || backend_facts().runs_large_steps) out.push_back(i);
  return out;
}
INSTANTIATE_TEST_SUITE_P(All, EfficientDet, testing::ValuesIn(cases_to_run()), [](const auto& info) {
  return cat(cases()[info.param].config, cases()[info.param].masks.empty() ? "" : "_masked");
});

}  // namespace
}  // namespace tbd
