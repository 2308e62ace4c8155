#include "cli/known_networks.h"

#include <gtest/gtest.h>

#include "graph/expand.h"
#include "models/model.h"
#include "runner/prepare.h"

namespace tbd::cli {
namespace {

TEST(KnownNetworks, AreAllModelsCheapestFirst) {
  int64_t before = 0;
  for (const KnownNetwork& network : known_networks()) {
    const int64_t flops = find_model(network.model).config("").expected.train_flops;
    EXPECT_GE(flops, before);
    EXPECT_GE(network.batches.size(), 4u);
    before = flops;
  }
  EXPECT_EQ(known_networks().size(), all_models().size());
}

TEST(KnownNetworks, AreOfTheKindThatTheirOpsSay) {
  for (const KnownNetwork& network : known_networks()) {
    const Model& model = find_model(network.model);
    const Program program = expanded_for_counts(model.config("").program());
    EXPECT_EQ(network.kind, network_kind(op_rows(program, {{"N", 1}}), model.domain)) << network.model;
  }
}

}  // namespace
}  // namespace tbd::cli
