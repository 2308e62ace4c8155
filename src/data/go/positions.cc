#include "data/go/positions.h"

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "data/folder_listing.h"
#include "data/go/game_files.h"
#include "data/go/position_row.h"
#include "data/text/batch_order.h"
#include "go/features.h"
#include "go/random_player.h"
#include "go/symmetry.h"

namespace tbd {
namespace {

// Number of positions before each game, and after the last.
std::vector<int64_t> starts_of(const std::vector<LearntGame>& games) {
  std::vector<int64_t> starts = {0};
  for (const LearntGame& game : games)
    starts.push_back(starts.back() + static_cast<int64_t>(game.moves.size() - game.first));
  require(starts.back() <= int64_t{UINT32_MAX}, "the games have more than 2^32 positions");
  return starts;
}

class GamePositions final : public Samples {
 public:
  explicit GamePositions(const SourceSpec& spec)
      : spec_(spec),
        files_(read_game_files(spec)),
        starts_(starts_of(files_.games)),
        order_(spec, std::vector<uint16_t>(static_cast<size_t>(starts_.back())), {spec.batch}) {}

  std::unique_ptr<SampleMaker> maker() const override;
  BatchLayout layout(int64_t step) const override { return position_layout(files_.board, order_.batch(step).samples); }
  std::optional<int64_t> size() const override { return starts_.back(); }
  std::optional<int64_t> steps_per_epoch() const override { return order_.steps_per_epoch(); }
  std::optional<std::string> data_hash() const override { return recorded_hash(spec_.path); }
  std::vector<BadFile> bad_files() const override {
    std::vector<BadFile> files = files_.faulty;
    files.insert(files.end(), files_.skipped.begin(), files_.skipped.end());
    std::ranges::stable_sort(files, {}, &BadFile::path);
    return files;
  }

 private:
  SourceSpec spec_;
  GameFiles files_;
  std::vector<int64_t> starts_;
  BatchOrder order_;

  class Maker;
};

class GamePositions::Maker final : public SampleMaker {
 public:
  explicit Maker(const GamePositions& all) : all_(all), symmetry_(all.spec_.seed, "data/symmetry") {}

  void make(int64_t step, int64_t slot, const Row& row) override {
    const uint32_t position = all_.order_.position(step, slot);
    const auto after = std::ranges::upper_bound(all_.starts_, int64_t{position});
    const auto number = static_cast<size_t>(after - all_.starts_.begin() - 1);
    const LearntGame& learnt = all_.files_.games[number];
    const size_t index = learnt.first + static_cast<size_t>(position - all_.starts_[number]);
    go::Game game(all_.files_.board);
    for (size_t i = 0; i < index; ++i) game.play(learnt.moves[i].player, learnt.moves[i].move);
    game.set_to_play(learnt.moves[index].player);
    const int symmetry = symmetry_of(step, position);
    if (learnt.policies.empty()) return write_position(game, learnt.moves[index].move, learnt.winner, symmetry, row);
    const size_t width = learnt.policies.size() / (learnt.moves.size() - learnt.first);
    const auto policy = std::span(learnt.policies).subspan((index - learnt.first) * width, width);
    write_position(game, policy, learnt.winner, symmetry, row);
  }

 private:
  int symmetry_of(int64_t step, uint32_t position) const {
    if (all_.spec_.split == Split::val) return 0;
    const auto epoch = static_cast<uint32_t>((step - 1) / all_.order_.steps_per_epoch());
    return static_cast<int>(symmetry_.at(epoch, position).word(0) % go::kSymmetries);
  }

  const GamePositions& all_;
  Philox symmetry_;
};

std::unique_ptr<SampleMaker> GamePositions::maker() const { return std::make_unique<Maker>(*this); }

class SyntheticPositions final : public Samples {
 public:
  explicit SyntheticPositions(const SourceSpec& spec) : spec_(spec) {}
  std::unique_ptr<SampleMaker> maker() const override {
    class Maker final : public SampleMaker {
     public:
      explicit Maker(const SourceSpec& spec) : spec_(spec) {}
      void make(int64_t step, int64_t slot, const Row& row) override {
        go::RandomWords words(spec_.seed, "data/synthetic_positions", static_cast<uint32_t>(step),
                              static_cast<uint32_t>(slot));
        go::Game game(static_cast<int>(spec_.board));
        for (int left = words.below(game.board().points()); left > 0; --left)
          game.play(go::random_move(game, go::Eyes::spare, words));
        const go::Move move = go::random_move(game, go::Eyes::spare, words);
        const go::Color winner = words.below(2) == 0 ? go::Color::black : go::Color::white;
        write_position(game, move, winner, 0, row);
      }

     private:
      SourceSpec spec_;
    };
    return std::make_unique<Maker>(spec_);
  }
  BatchLayout layout(int64_t) const override { return position_layout(spec_.board, spec_.batch); }
  std::optional<int64_t> size() const override { return std::nullopt; }
  std::optional<int64_t> steps_per_epoch() const override { return std::nullopt; }

 private:
  SourceSpec spec_;
};

}  // namespace

std::unique_ptr<Samples> game_samples(const SourceSpec& spec) { return std::make_unique<GamePositions>(spec); }

bool wants_positions(std::span<const WantedInput> inputs) {
  return inputs.size() == 3 && find_input(inputs, "x") && find_input(inputs, "pi") && find_input(inputs, "z");
}

std::optional<SourceSpec> fitted_positions(SourceSpec spec, std::span<const WantedInput> inputs) {
  if (spec.kind != SourceKind::synthetic && spec.kind != SourceKind::sgf) return std::nullopt;
  const Shape &x = find_input(inputs, "x")->shape, &pi = find_input(inputs, "pi")->shape,
              &z = find_input(inputs, "z")->shape;
  if (x.rank() != 4 || x[1] != go::kPlanes || x[2] < go::kMinSize || x[2] > go::kMaxSize) return std::nullopt;
  const int64_t samples = x[0], board = x[2];
  if (x[3] != board || pi != Shape({samples, board * board + 1}) || z != Shape({samples})) return std::nullopt;
  spec.batch = samples;
  spec.board = board;
  spec.text.task = TextTask::none;
  return spec;
}

std::unique_ptr<Samples> synthetic_positions(const SourceSpec& spec) {
  go::require_size(spec.board);
  return std::make_unique<SyntheticPositions>(spec);
}

}  // namespace tbd
