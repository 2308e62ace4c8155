#include "data/go/position_row.h"
#include "data/go/positions.h"
#include "go/random_player.h"

namespace tbd {
namespace {

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

std::unique_ptr<Samples> synthetic_positions(const SourceSpec& spec) {
  go::require_size(spec.board);
  return std::make_unique<SyntheticPositions>(spec);
}

}  // namespace tbd
