// What a step reads when no data source offers it, and what is refused.
#include "worker/inputs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files.h"
#include "base/json.h"
#include "data/testing_images.h"
#include "graph/builder.h"
#include "graph/passes.h"
#include "record/safetensors.h"
#include "worker/initial_values.h"

namespace tbd {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

const Bindings kBatch = {{"N", 64}};

// Ids through a slice, lengths, positions, labels of which 9 is ignored, weights of rows, places, a mask of scores.
Program reader() {
  Program program = {.model = "reader", .config = "test"};
  Builder g(program, "train");
  const Tensor ids = g.input("ids", {Builder::batch(), 6}, DType::i32);
  const Tensor lengths = g.input("lengths", {Builder::batch()}, DType::i32);
  const Tensor picked = g.input("picked", {Builder::batch(), 2}, DType::i32);
  const Tensor label = g.input("label", {Builder::batch(), 2}, DType::i32);
  const Tensor flags = g.input("flags", {Builder::batch(), 5}, DType::i32);
  const Tensor weights = g.input("weights", {Builder::batch(), 2});
  const Tensor valid = g.input("valid", {Builder::batch(), 5}), mask = g.input("mask", {Builder::batch(), 5});
  const Tensor noise = g.input("noise", {Builder::batch(), 5, 4});
  Tensor x = g.embedding("embed", g.slice(ids, {.begin = 1}), {.rows = 7, .width = 4, .pad = 2});
  x = g.add(g.add(x, g.sinusoid(valid, {.width = 4})), noise);
  x = g.attention(x, x, x, {.heads = 2, .dropout = 0.25}, g.reshape(mask, {0, -1}));
  const Tensor kept = g.reshape(g.equals(flags, 0), {0, 0, 1});
  x = g.mul(g.lstm("lstm", x, {.hidden = 4}, "_l0", lengths).y, kept);
  const Tensor logits = g.linear("head", g.gather(x, picked), {.out = 5});
  g.loss("ce", g.softmax_cross_entropy(logits, label, SoftmaxCrossEntropy{.ignore = 3}, weights));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return with_dropout(program, DropoutMode::kMask);
}

std::pair<double, double> extremes(const HostTensor& tensor) {
  const std::vector<double> values = as_doubles(tensor);
  const auto [low, high] = std::ranges::minmax(values);
  return {low, high};
}

TEST(GeneratedInputs, AreWithinTheRangesOfTheProgram) {
  const TensorMap batch = generated_inputs(input_needs(reader(), kBatch), 1, 1);
  using Bounds = std::pair<double, double>;
  EXPECT_EQ(extremes(batch.at("ids")), Bounds(0, 6));
  EXPECT_EQ(extremes(batch.at("lengths")), Bounds(1, 5));
  EXPECT_EQ(extremes(batch.at("picked")), Bounds(0, 4));
  EXPECT_EQ(extremes(batch.at("label")), Bounds(0, 4));
  EXPECT_EQ(extremes(batch.at("flags")), Bounds(0, 1));
  EXPECT_LT(extremes(batch.at("noise")).first, -1);
}

TEST(GeneratedInputs, IncludePaddingButNoEmptySample) {
  const TensorMap batch = generated_inputs(input_needs(reader(), kBatch), 1, 1);
  for (const char* name : {"valid", "weights"}) {
    const std::vector<double> values = as_doubles(batch.at(name));
    EXPECT_THAT(values, Each(testing::AnyOf(0, 1))) << name;
    for (size_t i = 0; i < values.size(); i += values.size() / 64) EXPECT_EQ(values[i], 1) << name;
    EXPECT_GT(std::ranges::count(values, 0.0), 0) << name;
  }
}

TEST(GeneratedInputs, DropoutMasksHaveTheirKeepProbability) {
  const HostTensor mask = generated_inputs(input_needs(reader(), kBatch), 1, 1).at("mask/attention");
  EXPECT_EQ(mask.shape(), (Shape{64, 2, 5, 5}));
  const std::vector<double> values = as_doubles(mask);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(values, 1.0)) / static_cast<double>(values.size()), 0.75, 0.04);
}

TEST(GeneratedInputs, AttentionMasksAddMinusTenThousand) {
  Program program = {.model = "masked", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 5, 4}), mask = g.input("mask", {Builder::batch(), 5});
  g.loss("sum", g.sum(g.attention(x, x, x, {}, mask)));
  program.step = {{.phase = "train"}};
  for (const Precision& precision : {Precision::kFp32, Precision::kBf16}) {
    const HostTensor drawn = generated_inputs(input_needs(with_precision(program, precision), kBatch), 1, 1).at("mask");
    EXPECT_THAT(as_doubles(drawn), Each(testing::AnyOf(0, -1e4)));
    EXPECT_EQ(extremes(drawn), (std::pair<double, double>(-1e4, 0)));
  }
}

// A program whose inputs are those of translation reads synthetic sentences, and its norm is over their words.
Program translator() {
  Program program = {.model = "translator", .config = "test"};
  Builder g(program, "train");
  const Tensor src = g.input("src", {Builder::batch(), 6}, DType::i32),
               given = g.input("tgt_in", {Builder::batch(), 6}, DType::i32),
               label = g.input("tgt_out", {Builder::batch(), 6}, DType::i32);
  const Tensor from = g.embedding("from", src, {.rows = 50, .width = 4}),
               to = g.embedding("to", given, {.rows = 50, .width = 4});
  const Tensor x = g.add(from, to);
  g.loss("ce", g.softmax_cross_entropy(g.linear("head", x, {.out = 50}), label, SoftmaxCrossEntropy{.ignore = 1}), 3);
  g.accumulate(2);
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  return program;
}

TEST(SourceInputs, GiveTheCountOfUnpaddedLabelsAsNorm) {
  Inputs inputs(input_needs(translator(), {{"N", 4}}), {.source = Json{{"kind", "synthetic"}}}, 1);
  int64_t waited = 0;
  const TensorMap batch = inputs.batch(1, waited);
  ASSERT_NE(inputs.source(), nullptr);
  int64_t words = 0;
  for (const char* run : {"train.0/tgt_out", "train.1/tgt_out"})
    for (const int32_t id : batch.at(run).as<int32_t>()) words += id != 1;
  EXPECT_LT(words, 2 * 4 * 6);
  EXPECT_EQ(inputs.counts().at("ce"), static_cast<double>(words));
  EXPECT_FLOAT_EQ(batch.at("norm/ce").as<float>()[0], 3.F / static_cast<float>(words));
  for (const auto& [name, tensor] : batch) EXPECT_FALSE(name.starts_with("count/")) << name;
}

TEST(SourceInputs, GiveADeclaredNormOfEachMicroBatchWhatTheyCount) {
  Program program = translator();
  program.phases[0].inputs.push_back({.name = "norm/ce", .shape = {}, .dtype = DType::f32, .like = ""});
  Inputs inputs(input_needs(program, {{"N", 4}}), {.source = Json{{"kind", "synthetic"}}}, 1);
  int64_t waited = 0;
  const TensorMap batch = inputs.batch(1, waited);
  for (const char* name : {"train.0/norm/ce", "train.1/norm/ce"})
    EXPECT_EQ(batch.at(name).as<float>()[0], batch.at("norm/ce").as<float>()[0]) << name;
}

TEST(InputNeeds, RefuseATermOfTwoPhasesWithTwoNorms) {
  const auto needs = [](double first, double second) -> std::string {
    Program program = {.model = "two", .config = "norms"};
    for (const auto& [phase, norm] : {std::pair("a", first), std::pair("b", second)}) {
      Builder g(program, phase);
      g.loss("sum", g.sum(g.linear("fc", g.input("x", {Builder::batch(), 2}), {.out = 1})), norm);
      program.step.push_back({.phase = phase});
    }
    try {
      input_needs(program, {{"N", 2}});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(needs(2, 2), "");
  EXPECT_THAT(needs(2, 3), HasSubstr("'sum' of two phases needs two norms"));
}

// A generator's step, then three of a critic, each with images, noise and shares of its own.
Program pair() {
  Program program = {.model = "pair", .config = "test"};
  Builder made(program, "generator");
  made.loss("sum", made.sum(made.linear("make", made.input("z", {Builder::batch(), 5}), {.out = 4})));
  made.update({.schedule = {.base = 0.1}});
  Builder g(program, "critic");
  const Tensor real = g.input("real", {Builder::batch(), 3, 8, 8}), z = g.input("z", {Builder::batch(), 5}),
               alpha = g.input("alpha", {Builder::batch(), 1, 1, 1});
  g.loss("judged", g.sum(g.linear("judge", g.flatten(g.mul(real, alpha)), {.out = 1})));
  g.loss("noise", g.sum(g.linear("other", z, {.out = 1})));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "generator", .from_step = 2}, {.phase = "critic", .repeat = 3}};
  return program;
}

std::vector<float> floats(const TensorMap& batch, const std::string& name) {
  const std::span<const float> values = batch.at(name).as<float>();
  return {values.begin(), values.end()};
}

TEST(SourceInputs, ServeTheRunsOfARepeatedPhaseWithBatchesOfTheirOwnAndDrawTheNoise) {
  const InputNeeds needs = input_needs(pair(), {{"N", 16}});
  Inputs inputs(needs, {.source = Json{{"kind", "synthetic"}}}, 1);
  int64_t waited = 0;
  std::set<std::vector<float>> seen;
  for (const int64_t step : {1, 2}) {
    const TensorMap batch = inputs.batch(step, waited);
    seen.insert(floats(batch, "z"));
    for (const char* run : {"critic.0/", "critic.1/", "critic.2/"}) {
      for (const char* name : {"real", "z", "alpha"}) seen.insert(floats(batch, cat(run, name)));
      const auto [low, high] = extremes(batch.at(cat(run, "real")));
      EXPECT_GE(low, -1);
      EXPECT_LT(low, -0.9);
      EXPECT_LE(high, 1);
      EXPECT_GT(high, 0.9);
      const auto [least, most] = extremes(batch.at(cat(run, "alpha")));
      EXPECT_GE(least, 0);
      EXPECT_LT(most, 1);
      EXPECT_GT(most - least, 0.5);
      EXPECT_LT(extremes(batch.at(cat(run, "z"))).first, -1);
    }
  }
  EXPECT_EQ(seen.size(), 2 * (1 + 3 * 3));  // nothing occurs twice
}

TEST(SourceInputs, OfARepeatedPhaseAreTheNextBatchesOfTheFolder) {
  const TemporaryFolder folder("tbd-inputs");
  for (int64_t i = 0; i < 13; ++i) testing_images::write_png(folder.path() / cat("train_8x8/", i, ".png"), i, {8, 8});
  const InputNeeds needs = input_needs(pair(), {{"N", 2}});
  const protocol::InputPlan plan{.mode = InputMode::kPipeline,
                                 .source = Json{{"path", folder.path().string()}, {"threads", 2}, {"seed", 3}}};
  Inputs inputs(needs, plan, 1);
  const auto source = open_source(
      {.kind = SourceKind::unlabelled_images, .path = folder.path().string(), .batch = 2, .image_size = 8, .seed = 3});
  int64_t waited = 0;
  for (int64_t step = 1, number = 1; step <= 3; ++step) {
    TensorMap batch = inputs.batch(step, waited);
    for (int run = 0; run < 3; ++run, ++number)
      for (const char* name : {"real", "alpha"})
        EXPECT_EQ(floats(batch, cat("critic.", run, "/", name)), floats(source->batch_at(number), name)) << number;
    inputs.recycle(std::move(batch));
  }
}

TEST(SourceInputs, ARepeatedPhaseNeedsASampleForEachOfItsPlaces) {
  const TemporaryFolder folder("tbd-inputs");
  for (int64_t i = 0; i < 5; ++i) testing_images::write_png(folder.path() / cat("train_8x8/", i, ".png"), i, {8, 8});
  const auto open = [&](int64_t batch) -> std::string {
    try {
      Inputs(input_needs(pair(), {{"N", batch}}), {.source = Json{{"path", folder.path().string()}}}, 1);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_EQ(open(1), "");
  EXPECT_THAT(open(2), HasSubstr("a step reads 3 batches of 2 samples, the data set"));
  EXPECT_THAT(open(2), HasSubstr("has 5"));
  EXPECT_THAT(open(6), HasSubstr("batch 6 is larger than the data set"));
}

// What rank `place.rank` reads in `step`, where `total` are the counts over all ranks; its own are added to `own`.
TensorMap of_rank(const Program& program, RankPlace place, int64_t step, const std::vector<double>& total,
                  std::vector<double>& own) {
  const auto sum = [&](std::span<double> counts) {
    own.resize(counts.size());
    for (size_t i = 0; i < counts.size(); ++i) own[i] += counts[i];
    if (!total.empty()) std::ranges::copy(total, counts.begin());
  };
  Inputs inputs(input_needs(program, {{"N", 4}}, place), {.source = Json{{"kind", "synthetic"}}}, 1, sum);
  int64_t waited = 0;
  return inputs.batch(step, waited);
}

// Sentences differ in length, so ranks differ in words: the norm is over the words of all, not over one's own times W.
TEST(RanksOfAWorld, ReadWhatOneWorkerReadsThatAccumulatesAsOften) {
  for (const int64_t world : {2, 3}) {
    Program whole = translator();
    whole.phases[0].accumulate = 2 * world;
    Inputs inputs(input_needs(whole, {{"N", 4}}), {.source = Json{{"kind", "synthetic"}}}, 1);
    int64_t waited = 0;
    const TensorMap expected = inputs.batch(2, waited);
    std::vector<double> total, unused;
    for (int64_t rank = 0; rank < world; ++rank) of_rank(translator(), {rank, world}, 2, {}, total);
    ASSERT_EQ(total, std::vector<double>{inputs.counts().at("ce")}) << "of " << world;
    for (int64_t rank = 0; rank < world; ++rank) {
      const TensorMap batch = of_rank(translator(), {rank, world}, 2, total, unused);
      EXPECT_EQ(as_doubles(batch.at("norm/ce")), as_doubles(expected.at("norm/ce"))) << rank << " of " << world;
      for (int64_t run = 0; run < 2; ++run)
        for (const char* name : {"src", "tgt_in", "tgt_out"})
          EXPECT_EQ(as_doubles(batch.at(cat("train.", run, "/", name))),
                    as_doubles(expected.at(cat("train.", run * world + rank, "/", name))))
              << name << " of run " << run << " on rank " << rank << " of " << world;
    }
  }
}

TEST(RanksOfAWorld, DrawTheNoiseOfTheirRuns) {
  Program whole = pair();
  for (Phase& phase : whole.phases) phase.accumulate = 2;
  const TensorMap expected = generated_inputs(input_needs(whole, {{"N", 4}}), 1, 5);
  for (int64_t rank = 0; rank < 2; ++rank) {
    const TensorMap drawn = generated_inputs(input_needs(pair(), {{"N", 4}}, {rank, 2}), 1, 5);
    EXPECT_EQ(floats(drawn, "z"), floats(expected, cat("generator.", rank, "/z")));
    for (int64_t run = 0; run < 3; ++run)
      for (const char* name : {"z", "alpha"})
        EXPECT_EQ(floats(drawn, cat("critic.", run, "/", name)),
                  floats(expected, cat("critic.", 2 * run + rank, "/", name)));
  }
}

TEST(SourceInputs, OfAnotherKindThanTheProgramReadsAreRefused) {
  const auto open = [] {
    Inputs(input_needs(reader(), kBatch), {.source = Json{{"kind", "image_folder"}, {"path", "none"}}}, 1);
  };
  try {
    open();
    FAIL() << "opened";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_THAT(error.what(), HasSubstr("image_folder do not give what this program reads: ids, lengths"));
  }
}

TEST(SourceInputs, APathWithoutAKindIsReadAsTheProgramsInputsTell) {
  const TemporaryFolder folder("tbd-inputs");
  const auto refused = [&](const Program& program) -> std::string {
    try {
      Inputs(input_needs(program, {{"N", 2}}), {.source = Json{{"path", folder.path().string()}}}, 1);
    } catch (const Error& error) {
      return error.what();
    }
    return "opened";
  };
  EXPECT_THAT(refused(translator()), HasSubstr("train.en"));
  EXPECT_THAT(refused(reader()), HasSubstr("no kind of data set gives what this program reads: ids, lengths"));
}

TEST(InputFiles, MayHoldAnIgnoredLabelBeyondTheClasses) {
  Program program = {.model = "ignoring", .config = "test"};
  Builder g(program, "train");
  const Tensor label = g.input("label", {Builder::batch()}, DType::i32);
  const Tensor logits = g.linear("head", g.input("x", {Builder::batch(), 3}), {.out = 5});
  g.loss("ce", g.softmax_cross_entropy(logits, label, SoftmaxCrossEntropy{.ignore = 255}));
  g.update({});
  program.step = {{.phase = "train"}};
  const InputNeeds needs = input_needs(program, {{"N", 2}});
  const TemporaryFolder folder("tbd-inputs");
  const auto with_label = [&](int32_t value) {
    TensorMap batch = generated_inputs(needs, 1, 1);
    batch.at("label").as<int32_t>()[0] = value;
    write_safetensors((folder.path() / "inputs").string(), batch);
    Inputs(needs, {.file = (folder.path() / "inputs").string()}, 1);
  };
  EXPECT_NO_THROW(with_label(255));
  EXPECT_NO_THROW(with_label(4));
  EXPECT_THROW(with_label(254), Error);
}

TEST(InputFiles, AreRefusedWhereAGruCannotRunSoLong) {
  Program program = {.model = "listener", .config = "test"};
  Builder g(program, "train");
  const Tensor x = g.input("x", {Builder::batch(), 5, 3}), lengths = g.input("lengths", {Builder::batch()}, DType::i32);
  g.loss("sum", g.sum(g.gru("gru", x, {.hidden = 2}, "_l0", lengths).last));
  g.update({.schedule = {.base = 0.1}});
  program.step = {{.phase = "train"}};
  const InputNeeds needs = input_needs(program, {{"N", 2}});
  const TemporaryFolder folder("tbd-inputs");
  const auto with_length = [&](int32_t value) {
    TensorMap batch = generated_inputs(needs, 1, 1);
    batch.at("lengths").as<int32_t>()[1] = value;
    write_safetensors((folder.path() / "inputs").string(), batch);
    Inputs(needs, {.file = (folder.path() / "inputs").string()}, 1);
  };
  EXPECT_NO_THROW(with_length(5));
  EXPECT_THROW(with_length(6), Error);
  EXPECT_THROW(with_length(0), Error);
}

TEST(InputFiles, AreRefusedWhereAnIntegerIndexesNothing) {
  const TemporaryFolder folder("tbd-inputs");
  const std::string file = (folder.path() / "inputs").string();
  const InputNeeds needs = input_needs(reader(), kBatch);
  const auto fault = [&](const char* input, int32_t value) -> std::string {
    TensorMap batch = generated_inputs(needs, 1, 1);
    batch.at(input).as<int32_t>()[3] = value;
    write_safetensors(file, batch);
    try {
      Inputs(needs, {.file = file}, 1);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  };
  EXPECT_THAT(fault("ids", 7), HasSubstr("input 'ids' holds 7, the program takes 0 to 6"));
  EXPECT_THAT(fault("lengths", 0), HasSubstr("input 'lengths' holds 0, the program takes 1 to 5"));
  EXPECT_THAT(fault("picked", -1), HasSubstr("'picked'"));
  EXPECT_THAT(fault("label", 5), HasSubstr("'label'"));
  EXPECT_EQ(fault("flags", 5), "");
  EXPECT_EQ(fault("ids", 6), "");
}

TEST(InitialValue, OfAPaddingRowIsZeroAndOtherRowsAreAsWithoutIt) {
  Parameter table = {.name = "embed.weight", .shape = {5, 3}, .init = Init::normal(1)};
  const HostTensor without = initial_value(table, 1, 1);
  table.init.zero_row = 2;
  const HostTensor with = initial_value(table, 1, 1);
  for (size_t i = 0; i < 15; ++i) EXPECT_EQ(with.as<float>()[i], i / 3 == 2 ? 0 : without.as<float>()[i]) << i;
  table.init.zero_row = 5;
  EXPECT_THROW(initial_value(table, 1, 1), Error);
}

}  // namespace
}  // namespace tbd
