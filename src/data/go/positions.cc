#include "data/go/positions.h"

#include <algorithm>

#include "base/error.h"
#include "base/philox.h"
#include "data/folder_listing.h"
#include "data/go/game_files.h"
#include "data/go/position_row.h"
#include "data/text/batch_order.h"
#include "go/symmetry.h"

namespace tbd {
namespace {

// Number of positions before each game, and after the last.
std::vector<int64_t> starts_of(const std::vector<LearntGame>& games) {
  std::vector<int64_t> starts = {0};
  for (const LearntGame& game : games) starts.push_back(starts.back() + static_cast<int64_t>(game.moves.size()));
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
    const auto index = static_cast<size_t>(position - all_.starts_[number]);
    go::Game game(all_.files_.board);
    for (size_t i = 0; i < index; ++i) game.play(learnt.moves[i].player, learnt.moves[i].move);
    game.set_to_play(learnt.moves[index].player);
    write_position(game, learnt.moves[index].move, learnt.winner, symmetry_of(step, position), row);
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

}  // namespace

std::unique_ptr<Samples> game_samples(const SourceSpec& spec) { return std::make_unique<GamePositions>(spec); }

}  // namespace tbd
