#include "selfplay/play.h"

#include <algorithm>

#include "base/files.h"
#include "go/self_play.h"
#include "measure/clock.h"
#include "runner/weights_file.h"
#include "selfplay/generation_row.h"
#include "selfplay/matches.h"
#include "selfplay/worker_network.h"

namespace tbd {
namespace fs = std::filesystem;
namespace {

// A worker that answers by a file of weights.
class Seated {
 public:
  Seated(const Trainable& cell, const fs::path& weights, const RunnerSettings& settings)
      : worker_(cell, settings, scratch_.path() / "worker.log"), network_(worker_, cell) {
    worker_.write_weights(weights);
  }
  ~Seated() = default;
  WorkerNetwork& network() { return network_; }
  void bye() { worker_.bye(); }

 private:
  TemporaryFolder scratch_;
  TrainingWorker worker_;
  WorkerNetwork network_;
};

Trainable playing_cell(const PlayOptions& options, const RunnerSettings& settings) {
  if (options.games < 1) fail(ErrorKind::usage, "one game or more, got ", options.games);
  go::require_komi(options.komi);
  Trainable cell = answering(options.workload, {}, settings);
  board_of(cell);
  check_weights(options.weights, cell.prepared.program, cell.prepared.run.workload.model);
  return cell;
}

void write_games(const fs::path& out, const std::string& sgf) {
  if (out.empty()) return;
  make_folder(out);
  write_file_atomic(out / "games.sgf", sgf);
}

std::optional<go::Player> named_player(const std::string& name) {
  if (name == "random") return go::RandomPlayer{};
  if (name == "random-fills") return go::RandomPlayer{go::Eyes::fill};
  if (name == "gnugo") return go::GnuGoPlayer{};
  if (!name.starts_with("gnugo:")) return std::nullopt;
  const std::optional<int64_t> level = parse_int(std::string_view(name).substr(6));
  if (!level || *level < 0 || *level > 10) fail(ErrorKind::usage, "a level of GNU Go is 0 to 10, got '", name, "'");
  return go::GnuGoPlayer{.level = static_cast<int>(*level)};
}

}  // namespace

GenerationRow play_itself(const PlayOptions& options, const RunnerSettings& settings) try {
  const Trainable cell = playing_cell(options, settings);
  Seated own(cell, options.weights, settings);
  const int64_t begin = now_ns();
  go::SelfPlayOptions asked{.size = board_of(cell),
                            .komi = options.komi,
                            .seed = options.workload.seed,
                            .games = options.games,
                            .search = options.search,
                            .side_by_side = side_by_side(cell, options.search.leaves)};
  asked.side_by_side.games = go::games_at_once(asked);
  const go::SelfPlay played = go::self_play(asked, own.network());
  const double seconds = 1e-9 * static_cast<double>(now_ns() - begin);
  write_games(options.out, sgf_of(played));
  own.bye();
  return generation_row(played, {}, own.network().seconds(), seconds);
} catch (const WorkerFault& fault) {
  throw Error(fault.error(), fault.what());
}

MatchRow play_against(const std::string& opponent, const PlayOptions& options, const RunnerSettings& settings) try {
  const Trainable cell = playing_cell(options, settings);
  std::optional<go::Player> player = named_player(opponent);
  std::optional<Seated> other;
  if (!player) {
    check_weights(opponent, cell.prepared.program, cell.prepared.run.workload.model);
    other.emplace(cell, opponent, settings);
    player = go::SearchPlayer{&other->network(), options.search};
  }
  Seated own(cell, options.weights, settings);
  const go::Match match = go::play_match(go::SearchPlayer{&own.network(), options.search}, *player,
                                         {.size = board_of(cell),
                                          .komi = options.komi,
                                          .seed = options.workload.seed,
                                          .pairs = (options.games + 1) / 2,
                                          .side_by_side = side_by_side(cell, options.search.leaves)});
  std::string sgf;
  for (const go::MatchGame& game : match.games) sgf += go::write_sgf(game.record);
  write_games(options.out, sgf);
  own.bye();
  if (other) other->bye();
  return match_row(match, opponent, options.search.readouts);
} catch (const WorkerFault& fault) {
  throw Error(fault.error(), fault.what());
}

}  // namespace tbd
