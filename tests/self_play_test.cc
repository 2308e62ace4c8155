// MiniGo with the workers of this build: it plays itself, learns, goes on after a cut, and meets other players.
#include "selfplay/self_play_training.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/files.h"
#include "built_workers.h"
#include "go/random_player.h"
#include "go/sgf.h"
#include "record/reader.h"
#include "record/safetensors.h"
#include "record/self_play_rows.h"
#include "runner/checkpoint.h"
#include "selfplay/play.h"
#include "selfplay/worker_network.h"

namespace tbd {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Key;

class SelfPlayTrainings : public ::testing::Test {
 protected:
  void SetUp() override {
    settings_ = with_first_frameworks(built_settings(folder_.path() / "cache"));
    if (settings_.workers.empty()) GTEST_SKIP() << "no worker is built";
  }
  Workload minigo(const WorkerEntry& entry, int64_t batch = 16) const {
    return {.model = "minigo", .config = "tiny", .framework = entry.key, .batch = batch, .threads = 1, .seed = 7};
  }
  SelfPlayTraining small(const WorkerEntry& entry, const std::string& out) const {
    return {.workload = minigo(entry),
            .generations = 3,
            .games = 6,
            .window = 2,
            .komi = 0.5,
            .search = {.readouts = 8, .leaves = 4},
            .pairs = 2,
            .frame = {.out = folder_.path() / out}};
  }
  std::string refusal(const SelfPlayTraining& options) const {
    try {
      train_by_self_play(options, settings_, {});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  }

  TemporaryFolder folder_{"tbd-selfplay"};
  RunnerSettings settings_;
};

TEST_F(SelfPlayTrainings, AskTheFrameworkForWhatItsEvaluationAnswers) {
  go::Game game(5, go::minigo_rules(5));
  go::RandomWords words(3, "test/self_play");
  std::vector<go::Game> games;
  for (int i = 0; i < 6; ++i) {
    games.push_back(game);
    game.play(go::random_move(game, go::Eyes::spare, words));
  }
  std::vector<go::Question> asked;
  for (const go::Game& each : games) asked.push_back({&each, static_cast<int>(asked.size())});
  std::vector<std::vector<float>> priors, values;
  for (const WorkerEntry& entry : settings_.workers) {
    const Trainable cell = answering(minigo(entry), {}, settings_);
    TrainingWorker worker(cell, settings_, folder_.path() / "log");
    WorkerNetwork network(worker, cell);
    std::vector<float>& prior = priors.emplace_back(6 * 26);
    network.evaluate(asked, prior, values.emplace_back(6));
    EXPECT_GT(network.seconds(), 0) << entry.key;
    for (size_t i = 0; i < prior.size(); ++i) EXPECT_NEAR(prior[i], priors[0][i], 1e-5) << entry.key;
    for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(values.back()[i], values[0][i], 1e-5) << entry.key;
    // One at a time it says the same: neither neighbours nor the rows that fill the batch count.
    std::vector<float> alone(26), won(1);
    network.evaluate(std::span(asked).subspan(4, 1), alone, won);
    for (size_t i = 0; i < 26; ++i) EXPECT_NEAR(alone[i], prior[4 * 26 + i], 1e-6) << entry.key;
    worker.bye();
  }
  EXPECT_NE(std::vector<float>(priors[0].begin(), priors[0].begin() + 26),
            std::vector<float>(priors[0].begin() + 26, priors[0].begin() + 52));
}

TEST_F(SelfPlayTrainings, LeaveTheirGamesNetworksAndMatches) {
  for (const WorkerEntry& entry : settings_.workers) {
    const SelfPlayTraining options = small(entry, entry.key);
    const TrainResult result = train_by_self_play(options, settings_, {});
    const fs::path& out = options.frame.out;
    ASSERT_EQ(result.rows.size(), 4U) << "before the first generation and after each";
    for (const char* metric : {"random_wins", "random_wins_low", "policy_wins", "first_wins", "previous_wins"})
      EXPECT_THAT(result.rows.back().metrics, Contains(Key(metric))) << entry.key;
    const std::vector<GenerationRow> generations = read_generations(out);
    ASSERT_EQ(generations.size(), 3U);
    int64_t before = 0;
    for (const GenerationRow& row : generations) {
      EXPECT_EQ(row.games, 6);
      const fs::path file =
          out / "games" / (row.generation > 1 ? "train" : "past") / cat("generation-00", row.generation, ".sgf");
      const std::vector<go::SgfGame> games = go::read_sgf(read_file(file), "games");
      ASSERT_EQ(games.size(), 6U);
      int64_t moves = 0;
      for (const go::SgfGame& game : games) {
        moves += std::ssize(game.moves) - static_cast<int64_t>(game.first_searched());
        EXPECT_LE(game.first_searched(), 4U) << "random moves of the opening";
        EXPECT_EQ(game.komi, 0.5);
      }
      EXPECT_EQ(row.moves, moves);
      EXPECT_EQ(row.window_moves,
                row.moves + (row.generation > 1 ? generations[static_cast<size_t>(row.generation - 2)].moves : 0));
      EXPECT_EQ(row.until_step - before,
                std::max<int64_t>(1, std::llround(static_cast<double>(row.window_moves) / 16)));
      before = row.until_step;
      EXPECT_GE(row.playouts, 8 * row.moves);
      EXPECT_LE(row.search_seconds + row.network_seconds + row.waiting_seconds, row.seconds * 1.01);
      EXPECT_GT(row.network_seconds, 0);
    }
    EXPECT_EQ(read_record(out).launches.at(0).steps.size(), static_cast<size_t>(before));
    const std::vector<MatchRow> matches = read_matches(out);
    ASSERT_EQ(matches.size(), 2U + 3U + 4U + 4U);
    EXPECT_EQ(matches.back().opponent, "generation 2");
    EXPECT_FALSE(matches.back().verdict.empty());
    const TensorMap last = read_safetensors(out / "networks/generation-003.safetensors");
    const TensorMap weights = read_safetensors(result.weights),
                    first = read_safetensors(out / "networks/generation-000.safetensors");
    EXPECT_EQ(as_doubles(last.at("policy.fc.weight")), as_doubles(weights.at("policy.fc.weight")));
    EXPECT_NE(as_doubles(last.at("policy.fc.weight")), as_doubles(first.at("policy.fc.weight"))) << "it has learnt";
  }
}

TEST_F(SelfPlayTrainings, GoOnAsIfNothingHadHappened) {
  const WorkerEntry* pytorch = nullptr;
  for (const WorkerEntry& entry : settings_.workers)
    if (entry.framework == "pytorch") pytorch = &entry;
  if (!pytorch) GTEST_SKIP() << "equal bytes are PyTorch's alone";
  const SelfPlayTraining whole = small(*pytorch, "whole");
  const TrainResult expected = train_by_self_play(whole, settings_, {});
  const SelfPlayTraining cut = small(*pytorch, "cut");
  int evaluations = 0;
  const RunnerSettings plain = settings_;
  settings_.interrupted = [&] { return evaluations >= 2; };
  TrainSink sink;
  sink.evaluated = [&](const EvaluationRow&) { ++evaluations; };
  EXPECT_THROW(train_by_self_play(cut, settings_, sink), Error);
  const Record record = read_record(cut.frame.out);
  ASSERT_TRUE(is_self_play(record));
  const TrainResult resumed = resume_self_play(record, plain, {});
  EXPECT_EQ(read_file(resumed.weights), read_file(expected.weights));
  for (const char* games : {"past/generation-001.sgf", "train/generation-002.sgf", "train/generation-003.sgf"})
    EXPECT_EQ(read_file(cut.frame.out / "games" / games), read_file(whole.frame.out / "games" / games)) << games;
  ASSERT_EQ(resumed.rows.size(), expected.rows.size());
  for (size_t i = 0; i < expected.rows.size(); ++i) EXPECT_EQ(resumed.rows[i].metrics, expected.rows[i].metrics) << i;
  EXPECT_EQ(read_matches(cut.frame.out), read_matches(whole.frame.out));
}

// Games of a generation whose training was interrupted are not played again.
TEST_F(SelfPlayTrainings, GoOnWithinAGeneration) {
  const WorkerEntry& entry = settings_.workers.front();
  SelfPlayTraining whole = small(entry, "whole"), cut = small(entry, "cut");
  whole.passes = cut.passes = 20;
  const TrainResult expected = train_by_self_play(whole, settings_, {});
  const RunnerSettings plain = settings_;
  settings_.interrupted = [&] { return read_generations(cut.frame.out).size() == 2; };
  EXPECT_THROW(train_by_self_play(cut, settings_, {}), Error);
  const int64_t kept = last_checkpoint(cut.frame.out).step;
  const std::vector<GenerationRow> played = read_generations(cut.frame.out);
  EXPECT_GE(kept, played[0].until_step);
  EXPECT_LT(kept, played[1].until_step);
  const TrainResult resumed = resume_self_play(read_record(cut.frame.out), plain, {});
  ASSERT_EQ(resumed.rows.size(), expected.rows.size());
  EXPECT_EQ(read_generations(cut.frame.out).size(), 3U);
  for (const char* games : {"train/generation-002.sgf", "train/generation-003.sgf"})
    EXPECT_TRUE(is_file(cut.frame.out / "games" / games)) << games;
  if (entry.framework == "pytorch") {
    EXPECT_EQ(read_file(resumed.weights), read_file(expected.weights));
  }
}

TEST_F(SelfPlayTrainings, RefuseWhatCannotPlay) {
  const WorkerEntry& entry = settings_.workers.front();
  SelfPlayTraining options = small(entry, "refused");
  options.workload.model = "resnet50";
  EXPECT_THAT(refusal(options), HasSubstr("plays no Go"));
  options = small(entry, "refused");
  options.games = 0;
  EXPECT_THAT(refusal(options), HasSubstr("one game of each generation or more, got 0"));
  options = small(entry, "refused");
  options.frame.until = Goal{"top1", 0.5};
  EXPECT_FALSE(fs::exists(folder_.path() / "refused")) << "nothing is left of what was refused";
  EXPECT_THAT(refusal(options), AllOf(HasSubstr("top1"), HasSubstr("first_wins")));
  EXPECT_THAT(refusal(options), HasSubstr("holds a record already"));
}

TEST_F(SelfPlayTrainings, MeetTheGenerationThatWasEvaluatedBefore) {
  SelfPlayTraining options = small(settings_.workers.front(), "seldom");
  options.evaluate_every = 2;
  const TrainResult result = train_by_self_play(options, settings_, {});
  ASSERT_EQ(result.rows.size(), 3U) << "before the first generation, after the second and the last";
  EXPECT_EQ(read_matches(options.frame.out).back().opponent, "generation 2");
}

TEST_F(SelfPlayTrainings, EndAtAGoalThatTheFirstEvaluationCannotTell) {
  SelfPlayTraining options = small(settings_.workers.front(), "goal");
  options.frame.until = Goal{"first_wins", 0};
  const TrainResult result = train_by_self_play(options, settings_, {});
  EXPECT_EQ(result.reached, true);
  EXPECT_EQ(result.rows.size(), 2U) << "before the first generation, and after it";
}

TEST_F(SelfPlayTrainings, MeetOtherPlayers) {
  const WorkerEntry& entry = settings_.workers.front();
  const Trainable cell = answering(minigo(entry), {}, settings_);
  const fs::path weights = folder_.path() / "w.safetensors";
  TrainingWorker worker(cell, settings_, folder_.path() / "log");
  worker.read_weights(weights);
  worker.bye();
  const PlayOptions options{.workload = minigo(entry),
                            .weights = weights,
                            .games = 6,
                            .search = {.readouts = 8, .leaves = 4},
                            .out = folder_.path() / "games"};
  for (const std::string opponent : {"random", "random-fills", weights.c_str()}) {
    const MatchRow row = play_against(opponent, options, settings_);
    EXPECT_EQ(row.games(), 6) << opponent;
    EXPECT_EQ(go::read_sgf(read_file(options.out / "games.sgf"), "games").size(), 6U);
  }
  EXPECT_EQ(play_itself(options, settings_).games, 6);
  const auto refusal_of = [&](const std::string& opponent) -> std::string {
    try {
      play_against(opponent, options, settings_);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal_of("gnugo:11"), HasSubstr("0 to 10"));
  EXPECT_THAT(refusal_of("nobody"), HasSubstr("nobody"));
  if (!fs::exists("/usr/games/gnugo")) GTEST_SKIP() << "gnugo is not installed";
  PlayOptions pair = options;
  pair.games = 2;
  const MatchRow row = play_against("gnugo:0", pair, settings_);
  EXPECT_EQ(row.games(), 2);
}

}  // namespace
}  // namespace tbd
