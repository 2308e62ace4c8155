// A round: every game that has its answers goes on and asks again, games that ended make room for the next, then each
// network answers full batches of what waits longest. What does not fill one waits for the next round; where there is
// no full batch at all, the network that most waits for answers what there is.
#include "go/side_by_side.h"

#include <algorithm>
#include <chrono>
#include <vector>

#include "base/error.h"
#include "go/team.h"

namespace tbd::go {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Slot {
  int64_t number = 0;
  std::unique_ptr<PendingGame> game;
  Request asked;
  int64_t since = 0;  // the round it was asked in
  size_t answered = 0;
  std::vector<float> priors, values;  // the answers

  size_t waiting() const { return asked.positions.size() - answered; }
};

// A batch for a network, and room for its answers.
struct Inbox {
  std::vector<Question> positions;
  std::vector<float> priors, values;
};

class Rounds {
 public:
  Rounds(const GameSeries& series, std::span<Evaluator* const> networks, const SideBySideOptions& options)
      : series_(series),
        networks_(networks),
        options_(options),
        most_(static_cast<size_t>(options.batch)),
        team_(options.threads) {}

  BatchCounts play() {
    for (int i = 0; i < options_.games && next_ < series_.count; ++i) begin(slots_.emplace_back());
    for (; !slots_.empty(); ++round_) {
      const double begin = now_seconds();
      team_.for_each(slots_.size(), [&](size_t i) { advance(slots_[i]); });
      for (Slot& slot : slots_) replace_ended(slot);
      std::erase_if(slots_, [](const Slot& slot) { return !slot.game; });
      const double played = now_seconds();
      if (!slots_.empty()) answer();
      counts_.playing_seconds += played - begin;
      counts_.asking_seconds += now_seconds() - played;
    }
    return counts_;
  }

 private:
  void begin(Slot& slot) {
    slot = {.number = next_, .game = series_.begin(next_)};
    ++next_;
  }

  void advance(Slot& slot) const {
    if (slot.waiting() > 0) return;
    if (!slot.asked.positions.empty()) slot.game->receive(slot.priors, slot.values);
    slot.asked = slot.game->ask();
    slot.since = round_;
    slot.answered = 0;
  }

  void replace_ended(Slot& slot) {
    while (slot.game && slot.asked.positions.empty()) {
      series_.end(slot.number, *slot.game);
      slot.game.reset();
      if (next_ == series_.count) return;
      begin(slot);
      advance(slot);
    }
  }

  void answer() {
    std::vector<size_t> waiting(networks_.size());
    for (const Slot& slot : slots_) {
      require(slot.asked.network < networks_.size(), "network ", slot.asked.network, " of ", networks_.size());
      waiting[slot.asked.network] += slot.waiting();
    }
    std::ranges::stable_sort(slots_, {}, &Slot::since);
    const auto fullest = std::ranges::max_element(waiting);
    if (*fullest < most_) return evaluate(static_cast<size_t>(fullest - waiting.begin()), *fullest);
    for (size_t network = 0; network < networks_.size(); ++network)
      for (; waiting[network] >= most_; waiting[network] -= most_) evaluate(network, most_);
  }

  // The `count` positions that have waited longest for the network.
  void evaluate(size_t network, size_t count) {
    inbox_.positions.clear();
    for_waiting(network, count, [&](Slot& slot, size_t first, size_t positions) {
      const std::span<const Question> asked = slot.asked.positions.subspan(slot.answered, positions);
      inbox_.positions.insert(inbox_.positions.begin() + static_cast<std::ptrdiff_t>(first), asked.begin(),
                              asked.end());
    });
    const size_t width = static_cast<size_t>(inbox_.positions[0].game->board().points()) + 1;
    inbox_.priors.resize(width * count);
    inbox_.values.resize(count);
    networks_[network]->evaluate(inbox_.positions, inbox_.priors, inbox_.values);
    for_waiting(network, count, [&](Slot& slot, size_t first, size_t positions) {
      slot.priors.resize(width * slot.asked.positions.size());
      slot.values.resize(slot.asked.positions.size());
      const auto put = [&](const std::vector<float>& from, std::vector<float>& to, size_t each) {
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(first * each), positions * each,
                    to.begin() + static_cast<std::ptrdiff_t>(slot.answered * each));
      };
      put(inbox_.priors, slot.priors, width);
      put(inbox_.values, slot.values, 1);
      slot.answered += positions;
    });
    counts_.positions += static_cast<int64_t>(count);
    ++counts_.batches;
  }

  // `each` gets a slot, where its positions begin among the `count`, and how many of them these are.
  template <class Each>
  void for_waiting(size_t network, size_t count, Each each) {
    size_t first = 0;
    for (Slot& slot : slots_) {
      if (slot.asked.network != network) continue;
      const size_t positions = std::min(slot.waiting(), count - first);
      if (positions > 0) each(slot, first, positions);
      first += positions;
    }
  }

  const GameSeries& series_;
  std::span<Evaluator* const> networks_;
  SideBySideOptions options_;
  size_t most_;  // positions of a batch
  std::vector<Slot> slots_;
  Inbox inbox_;
  int64_t next_ = 0, round_ = 0;
  BatchCounts counts_;
  Team team_;
};

}  // namespace

BatchCounts& BatchCounts::operator+=(const BatchCounts& other) {
  positions += other.positions;
  batches += other.batches;
  playing_seconds += other.playing_seconds;
  asking_seconds += other.asking_seconds;
  return *this;
}

BatchCounts play_side_by_side(const GameSeries& series, std::span<Evaluator* const> networks,
                              const SideBySideOptions& options) {
  require(options.games >= 1 && options.batch >= 1, "at least one game at a time and batches of at least one, got ",
          options.games, " and ", options.batch);
  return Rounds(series, networks, options).play();
}

}  // namespace tbd::go
