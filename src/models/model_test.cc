#include "models/model.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/files.h"
#include "base/json.h"
#include "graph/graph.h"
#include "graph/memory.h"
#include "graph/passes.h"

namespace tbd {
namespace {

struct Case {
  const Model* model;
  const Config* config;
};
std::vector<Case> all_cases() {
  std::vector<Case> out;
  for (const Model& model : all_models())
    for (const Config& config : model.configs) out.push_back({&model, &config});
  return out;
}

class EveryModel : public testing::TestWithParam<Case> {
 protected:
  EveryModel() : program_(GetParam().config->program()) {}
  const Expected& expected() const { return GetParam().config->expected; }
  static int64_t elements(const std::vector<Parameter>& all) {
    int64_t sum = 0;
    for (const Parameter& each : all) sum += each.shape.elements();
    return sum;
  }
  int64_t trained() const {
    int64_t sum = 0;
    for (const Parameter& each : program_.parameters)
      for (const Phase& phase : program_.phases) {
        const std::vector<std::string> wrt = phase.wrt();
        if (std::ranges::find(wrt, each.name) != wrt.end()) {
          sum += each.shape.elements();
          break;
        }
      }
    return sum;
  }
  Program program_;
};
INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.model->name + "_" + info.param.config->name; });

TEST_P(EveryModel, HasItsExpectedSize) {
  EXPECT_EQ(elements(program_.parameters), expected().parameters);
  EXPECT_EQ(trained(), expected().trainable_parameters);
  EXPECT_EQ(elements(program_.buffers), expected().buffers);
}

TEST_P(EveryModel, IsDominatedByTheLayerItNames) {
  if (GetParam().config != &GetParam().model->configs.front()) return;  // the canonical one
  static const std::map<std::string, std::string> layer_of = {
      {"conv2d", "convolution"}, {"lstm_cell", "lstm"}, {"matmul", "linear"}};
  std::map<std::string, int64_t> flops;
  for (const Phase& phase : program_.phases)
    for (const LayerRow& row : layer_table(bind(program_, phase, {{"N", 2}}))) {
      const auto named = layer_of.find(row.kind);
      flops[named == layer_of.end() ? row.kind : named->second] += row.train_flops;
    }
  const auto most = std::ranges::max_element(flops, {}, [](const auto& entry) { return entry.second; });
  EXPECT_EQ(most->first, GetParam().model->dominant_layer);
}

TEST_P(EveryModel, HasItsExpectedFlops) {
  // From 2 on: a batch norm of single values has no statistics.
  const NodeCost two = step_cost(program_, {{"N", 2}}), eight = step_cost(program_, {{"N", 8}});
  const int64_t samples = 2 * program_.phases.front().accumulate;
  EXPECT_EQ(two.forward.model, samples * 2 * expected().forward_macs);
  EXPECT_EQ(two.forward.model + two.backward.model, samples * expected().train_flops);
  EXPECT_EQ(eight.forward.model, 4 * two.forward.model);
  EXPECT_EQ(eight.backward.valid, 4 * two.backward.valid);
  EXPECT_LE(two.forward.valid, two.forward.model);
}

TEST_P(EveryModel, IsValidAndSurvivesItsJson) {
  validate(program_, {{"N", 4}});
  const Program again = read_program(to_json(program_).dump(), "json");
  EXPECT_EQ(again, program_);
  EXPECT_EQ(program_hash(again), program_hash(program_));
}

TEST_P(EveryModel, IsValidInEveryPrecisionAndDropoutMode) {
  for (const Precision& precision :
       {Precision::kFp64, Precision::kFp32, Precision::kTf32, Precision::kBf16, Precision::kFp16})
    for (const DropoutMode& mode : {DropoutMode::kFramework, DropoutMode::kMask, DropoutMode::kOff})
      EXPECT_NO_THROW(validate(with_precision(with_dropout(program_, mode), precision), {{"N", 4}}));
}

TEST_P(EveryModel, CountsDoNotDependOnPrecision) {
  EXPECT_EQ(step_cost(with_precision(program_, Precision::kBf16), {{"N", 4}}).backward.model,
            step_cost(program_, {{"N", 4}}).backward.model);
}

TEST_P(EveryModel, IsFoundByItsNames) {
  EXPECT_EQ(&find_model(GetParam().model->name).config(GetParam().config->name), GetParam().config);
}

// ResNet-50 v1.5: He et al. 2016, Table 1, and the reference implementation.
struct Oracle {
  const char* config;
  size_t tensors;
  int64_t parameters, buffers, weight_bytes, macs, first_macs, train_flops;
};
constexpr Oracle kResNets[] = {
    {"canonical", 161, 25'557'032, 53'120, 102'228'128, 4'089'184'256, 118'013'952, 24'299'077'632},
    {"101", 314, 44'549'160, 105'344, 178'196'640, 7'801'405'440, 118'013'952, 46'572'404'736},
    {"152", 467, 60'192'808, 151'424, 240'771'232, 11'513'626'624, 118'013'952, 68'845'731'840},
    {"tiny", 53, 130'962, 2'416, 523'848, 2'927'104, 1'204'224, 15'154'176},
};

TEST(ResNet50, HasTheNumbersOfItsReference) {
  for (const Oracle& oracle : kResNets) {
    const Program program = find_model("resnet50").config(oracle.config).program();
    const Graph graph = bind(program, program.phases[0], {{"N", 1}});
    EXPECT_EQ(program.parameters.size(), oracle.tensors) << oracle.config;
    EXPECT_EQ(graph.parameter_count(), oracle.parameters) << oracle.config;
    EXPECT_EQ(graph.forward_flops(), FlopCount(2 * oracle.macs)) << oracle.config;
    const MemoryPrediction memory = predict_memory(graph, program.phases[0].update);
    EXPECT_EQ(memory.weights, Bytes(oracle.weight_bytes + 4 * oracle.buffers)) << oracle.config;
    EXPECT_EQ(memory.optimizer_state, Bytes(oracle.weight_bytes)) << oracle.config;
    const std::vector<LayerRow> rows = layer_table(graph);
    EXPECT_EQ(rows.front().forward_macs, oracle.first_macs) << oracle.config;
    EXPECT_EQ(rows.front().train_flops, 4 * oracle.first_macs) << "no gradient of the image";
    int64_t train = 0, parameters = 0;
    for (const LayerRow& row : rows) {
      train += row.train_flops;
      parameters += row.parameters;
    }
    EXPECT_EQ(train, oracle.train_flops) << oracle.config;
    EXPECT_EQ(parameters, oracle.parameters) << oracle.config;
  }
}

TEST(ResNet50, HasTheNamesOfItsReference) {
  const Program program = find_model("resnet50").config("").program();
  const auto has = [](const std::vector<Parameter>& all, std::string_view name, const Shape& shape) {
    const auto found = std::ranges::find(all, name, &Parameter::name);
    return found != all.end() && found->shape == shape;
  };
  EXPECT_TRUE(has(program.parameters, "conv1.weight", {64, 3, 7, 7}));
  EXPECT_TRUE(has(program.parameters, "layer3.5.conv2.weight", {256, 256, 3, 3}));
  EXPECT_TRUE(has(program.parameters, "layer2.0.downsample.0.weight", {512, 256, 1, 1}));
  EXPECT_TRUE(has(program.parameters, "layer2.0.downsample.1.bias", {512}));
  EXPECT_TRUE(has(program.parameters, "fc.bias", {1000}));
  EXPECT_TRUE(has(program.buffers, "layer4.2.bn3.running_var", {2048}));
  EXPECT_FALSE(has(program.parameters, "layer1.1.downsample.0.weight", {256, 256, 1, 1}));
}

// Names and shapes of the public implementations (docs/equivalence.md).
struct Key {
  const char* model;
  const char* config;
  const char* name;
  Shape shape;
};
const Key kKeys[] = {
    {"inception_v3", "", "Conv2d_1a_3x3.conv.weight", {32, 3, 3, 3}},
    {"inception_v3", "", "Mixed_5b.branch_pool.bn.weight", {32}},
    {"inception_v3", "", "Mixed_6b.branch7x7dbl_3.conv.weight", {128, 128, 1, 7}},
    {"inception_v3", "", "Mixed_7c.branch3x3dbl_3b.conv.weight", {384, 384, 3, 1}},
    {"inception_v3", "aux", "AuxLogits.conv1.conv.weight", {768, 128, 5, 5}},
    {"inception_v3", "aux", "AuxLogits.fc.bias", {1000}},
    {"seq2seq", "", "encoder.lstm.weight_ih_l1", {2048, 512}},
    {"seq2seq", "", "decoder.layers.0.weight_ih", {2048, 1024}},
    {"seq2seq", "", "decoder.attention.input_proj.weight", {512, 512}},
    {"seq2seq", "", "decoder.attention.output_proj.weight", {512, 1024}},
    {"seq2seq", "", "decoder.fc_out.bias", {7'709}},
    {"seq2seq", "gnmt_v2", "encoder.embedder.weight", {32'320, 1024}},
    {"seq2seq", "gnmt_v2", "encoder.rnn_layers.0.weight_hh_l0_reverse", {4096, 1024}},
    {"seq2seq", "gnmt_v2", "encoder.rnn_layers.1.weight_ih_l0", {4096, 2048}},
    {"seq2seq", "gnmt_v2", "decoder.att_rnn.rnn.bias_hh_l0", {4096}},
    {"seq2seq", "gnmt_v2", "decoder.att_rnn.attn.linear_k.weight", {1024, 1024}},
    {"seq2seq", "gnmt_v2", "decoder.att_rnn.attn.normalize_scalar", {1}},
    {"transformer", "", "encoder.embed_tokens.weight", {33'708, 512}},
    {"transformer", "", "encoder.layers.5.self_attn.q_proj.bias", {512}},
    {"transformer", "", "decoder.layers.0.encoder_attn.out_proj.weight", {512, 512}},
    {"transformer", "", "decoder.layers.0.encoder_attn_layer_norm.weight", {512}},
    {"transformer", "big", "decoder.layers.5.fc1.weight", {4096, 1024}},
    {"transformer", "", "decoder.layer_norm.bias", {512}},
    {"bert", "", "bert.embeddings.position_embeddings.weight", {512, 1024}},
    {"bert", "", "bert.embeddings.LayerNorm.weight", {1024}},
    {"bert", "", "bert.encoder.layer.23.attention.self.query.weight", {1024, 1024}},
    {"bert", "", "bert.encoder.layer.0.attention.output.LayerNorm.bias", {1024}},
    {"bert", "", "bert.encoder.layer.0.intermediate.dense.weight", {4096, 1024}},
    {"bert", "", "bert.pooler.dense.bias", {1024}},
    {"bert", "", "cls.predictions.transform.dense.weight", {1024, 1024}},
    {"bert", "", "cls.predictions.bias", {30'522}},
    {"bert", "", "cls.seq_relationship.weight", {2, 1024}},
    {"bert", "squad", "qa_outputs.weight", {2, 1024}},
    {"llama", "", "model.embed_tokens.weight", {32'000, 768}},
    {"llama", "", "model.layers.11.self_attn.k_proj.weight", {256, 768}},
    {"llama", "", "model.layers.0.mlp.down_proj.weight", {768, 2048}},
    {"llama", "", "model.layers.0.post_attention_layernorm.weight", {768}},
    {"llama", "", "model.norm.weight", {768}},
};

TEST(EveryReference, ParameterNamesMatchTheReference) {
  for (const Key& key : kKeys) {
    const Program program = find_model(key.model).config(key.config).program();
    const auto found = std::ranges::find(program.parameters, key.name, &Parameter::name);
    ASSERT_NE(found, program.parameters.end()) << key.model << " " << key.name;
    EXPECT_EQ(found->shape, key.shape) << key.model << " " << key.name;
  }
}

// Tensors as the references count them; a table that is shared stands once.
TEST(EveryReference, HasTheTensorCountOfTheReference) {
  const auto tensors = [](const char* model, const char* config) {
    return find_model(model).config(config).program().parameters.size();
  };
  EXPECT_EQ(tensors("llama", "canonical"), 110u);
  EXPECT_EQ(tensors("llama", "tiny"), 20u);
}

TEST(Names, AliasesOfANetworkShareItsHash) {
  const auto hash = [](const char* model, const char* config) {
    return program_hash(find_model(model).config(config).program());
  };
  EXPECT_EQ(hash("bert", "large"), hash("bert", "canonical"));
  EXPECT_EQ(hash("transformer", "base"), hash("transformer", "canonical"));
  EXPECT_NE(hash("transformer", "postnorm"), hash("transformer", "canonical"));
}

TEST(ResNet50, HasStableHashes) {
  const auto hash = [](std::string_view config) {
    return program_hash(find_model("resnet50").config(config).program());
  };
  EXPECT_EQ(hash("canonical"), "77b71c4b8f628075");
  EXPECT_EQ(hash("101"), "cb1d94a68ed50db8");
  EXPECT_EQ(hash("152"), "4419ae0f413ff2b2");
  EXPECT_EQ(hash("tiny"), "f0863d15b898b698");
}

// "value type", one a line, in the order of the nodes.
TEST(ResNet50, CastsWhatItsGoldenListSays) {
  const Program program = with_precision(find_model("resnet50").config("").program(), Precision::kBf16);
  std::string casts;
  for (const Node& node : program.phases[0].nodes)
    if (const auto* cast = std::get_if<Cast>(&node.op)) casts += ::tbd::cat(node.inputs[0], " ", name(cast->to), "\n");
  EXPECT_EQ(casts, read_file(TBD_SOURCE_DIR "/src/models/golden/resnet50_bf16_casts.txt"));
}

TEST(ResNet50, KeepsLessThanHalfAsMuchInBf16) {
  const Program program = find_model("resnet50").config("").program();
  const Program low = with_precision(program, Precision::kBf16);
  const MemoryPrediction full = predict_memory(program, {{"N", 8}}), half = predict_memory(low, {{"N", 8}});
  EXPECT_EQ(half.weights, full.weights);
  EXPECT_EQ(full.weight_copies, Bytes(0));
  EXPECT_LT(half.feature_maps.value, full.feature_maps.value * 0.52);
  // Two bytes for each weight of fc and the convolutions; batch norms have no copy, and backward reads no bias.
  EXPECT_EQ(half.weight_copies, Bytes(2 * (25'557'032 - 53'120 - 1'000)));
}

TEST(Models, SuggestNearestNames) {
  const auto message = [](auto action) -> std::string {
    try {
      action();
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(message([] { find_model("resnet5"); }), "unknown model 'resnet5', did you mean 'resnet50'?");
  EXPECT_EQ(message([] { find_model("resnet50").config("tny"); }),
            "unknown config of resnet50 'tny', did you mean 'tiny'?");
}

TEST(LoadProgram, ReadsAFileAndKnowsItsModel) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "tiny.json";
  const Program tiny = find_model("resnet50").config("tiny").program();
  write_file(path, to_json(tiny).dump());
  const LoadedProgram loaded = load_program(path, "");
  EXPECT_EQ(loaded.program, tiny);
  EXPECT_EQ(loaded.model, &find_model("resnet50"));
  EXPECT_THROW(load_program(path, "canonical"), Error);
  EXPECT_THROW(load_program((folder.path() / "none.json").string(), ""), Error);
}

TEST(LoadProgram, AChangedCopyMatchesNoKnownModel) {
  const TemporaryFolder folder;
  const std::string path = folder.path() / "mine";
  Program mine = find_model("resnet50").config("tiny").program();
  mine.phases[0].update.schedule.base = 1;
  write_file(path, to_json(mine).dump());
  EXPECT_EQ(load_program(path, "").model, nullptr);
}

TEST(LoadProgram, TakesTheFirstConfigByDefault) {
  EXPECT_EQ(load_program("resnet50", "").program.config, "canonical");
  EXPECT_EQ(load_program("resnet50", "101").program.config, "101");
}

}  // namespace
}  // namespace tbd
