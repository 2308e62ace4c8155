// A round: every game takes its answers and asks again, games that ended make room for the next, then each network
// answers what it was asked in batches.
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
  std::span<const float> priors, values;  // the answers
};

// The positions of one network's requests, and room for its answers.
struct Inbox {
  std::vector<Question> positions;
  std::vector<float> priors, values;
};

class Round {
 public:
  Round(const GameSeries& series, std::span<Evaluator* const> networks, const SideBySideOptions& options)
      : series_(series), networks_(networks), options_(options), inboxes_(networks.size()), team_(options.threads) {}

  BatchCounts play() {
    for (int i = 0; i < options_.games && next_ < series_.count; ++i) begin(slots_.emplace_back());
    while (!slots_.empty()) {
      const double begin = now_seconds();
      team_.for_each(slots_.size(), [&](size_t i) { advance(slots_[i]); });
      for (Slot& slot : slots_) replace_ended(slot);
      std::erase_if(slots_, [](const Slot& slot) { return !slot.game; });
      const double played = now_seconds();
      for (size_t network = 0; network < networks_.size(); ++network) answer(network);
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

  static void advance(Slot& slot) {
    if (!slot.asked.positions.empty()) slot.game->receive(slot.priors, slot.values);
    slot.asked = slot.game->ask();
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

  void answer(size_t network) {
    Inbox& inbox = inboxes_[network];
    inbox.positions.clear();
    for (const Slot& slot : slots_) {
      require(slot.asked.network < networks_.size(), "network ", slot.asked.network, " of ", networks_.size());
      if (slot.asked.network != network) continue;
      inbox.positions.insert(inbox.positions.end(), slot.asked.positions.begin(), slot.asked.positions.end());
    }
    if (inbox.positions.empty()) return;
    const size_t width = static_cast<size_t>(inbox.positions[0].game->board().points()) + 1;
    inbox.priors.resize(width * inbox.positions.size());
    inbox.values.resize(inbox.positions.size());
    evaluate(network, width);
    size_t first = 0;
    for (Slot& slot : slots_) {
      if (slot.asked.network != network) continue;
      const size_t count = slot.asked.positions.size();
      slot.priors = std::span(inbox.priors).subspan(first * width, count * width);
      slot.values = std::span(inbox.values).subspan(first, count);
      first += count;
    }
  }

  void evaluate(size_t network, size_t width) {
    Inbox& inbox = inboxes_[network];
    const auto most = static_cast<size_t>(options_.batch);
    for (size_t first = 0; first < inbox.positions.size(); first += most) {
      const size_t count = std::min(most, inbox.positions.size() - first);
      networks_[network]->evaluate(std::span(inbox.positions).subspan(first, count),
                                   std::span(inbox.priors).subspan(first * width, count * width),
                                   std::span(inbox.values).subspan(first, count));
      counts_.positions += static_cast<int64_t>(count);
      ++counts_.batches;
    }
  }

  const GameSeries& series_;
  std::span<Evaluator* const> networks_;
  SideBySideOptions options_;
  std::vector<Slot> slots_;
  std::vector<Inbox> inboxes_;
  int64_t next_ = 0;
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
  return Round(series, networks, options).play();
}

}  // namespace tbd::go
