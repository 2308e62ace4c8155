#include "runner/thinning.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "base/error.h"

namespace tbd {
namespace {

struct Group {
  size_t question = 0;
  std::vector<size_t> cells;  // ascending, each once
  bool decides = false;
  bool complete = false;
};

class Thinning {
 public:
  Thinning(const std::vector<double>& seconds, const std::vector<PlanQuestion>& questions, double budget,
           const std::vector<bool>& alone)
      : seconds_(seconds), alone_(alone), budget_(budget), kept_(seconds.size(), false), cases_(questions.size(), 0) {
    for (size_t q = 0; q < questions.size(); ++q)
      for (const std::vector<size_t>& cells : questions[q].groups) {
        const std::set<size_t> once(cells.begin(), cells.end());
        require(once.empty() || *once.rbegin() < seconds.size(), "a group of ", questions[q].name,
                " names no workload");
        if (!once.empty())
          groups_.push_back({.question = q, .cells = {once.begin(), once.end()}, .decides = questions[q].decides});
      }
  }

  Thinned run() {
    for (const bool decide : {true, false})
      while (const Group* best = best_group(decide)) keep(missing(*best));
    const bool all_fit = cost(missing({.cells = by_questions()})) + spent_ <= budget_;
    for (const size_t cell : by_questions())
      if (!kept_[cell] && spent_ + seconds_[cell] <= budget_ && (all_fit || alone_.empty() || alone_[cell]))
        keep({cell});
    Thinned out{.kept = {}, .left_out = {}, .seconds = spent_};
    for (size_t i = 0; i < seconds_.size(); ++i)
      if (kept_[i])
        out.kept.push_back(i);
      else
        out.left_out.push_back({i, reason(i)});
    return out;
  }

 private:
  std::vector<size_t> missing(const Group& group) const {
    std::vector<size_t> cells;
    for (const size_t cell : group.cells)
      if (!kept_[cell]) cells.push_back(cell);
    return cells;
  }

  double cost(const std::vector<size_t>& cells) const {
    return std::accumulate(cells.begin(), cells.end(), 0.0, [&](double sum, size_t c) { return sum + seconds_[c]; });
  }

  // What these cells bring beside those kept.
  double gain(const std::vector<size_t>& cells, bool decide) const {
    std::vector<int> cases = cases_;
    double total = 0;
    for (const Group& group : groups_) {
      const auto there = [&](size_t c) { return kept_[c] || std::ranges::binary_search(cells, c); };
      if (group.decides == decide && !group.complete && std::ranges::all_of(group.cells, there))
        total += std::exp2(-cases[group.question]++);
    }
    return total;
  }

  // Of those that fit; nullptr when none is left.
  const Group* best_group(bool decide) const {
    const Group* best = nullptr;
    double best_rate = 0;
    for (const Group& group : groups_) {
      if (group.complete || group.decides != decide) continue;
      const std::vector<size_t> cells = missing(group);
      const double seconds = cost(cells);
      if (spent_ + seconds > budget_) continue;
      const double rate = gain(cells, decide) / seconds;
      if (!best || rate > best_rate * (1 + 1e-9)) {
        best = &group;
        best_rate = rate;
      }
    }
    return best;
  }

  void keep(const std::vector<size_t>& cells) {
    for (const size_t cell : cells) {
      kept_[cell] = true;
      spent_ += seconds_[cell];
    }
    for (Group& group : groups_)
      if (!group.complete && std::ranges::all_of(group.cells, [&](size_t c) { return kept_[c]; })) {
        group.complete = true;
        ++cases_[group.question];
      }
  }

  size_t questions_of(size_t cell) const {
    std::set<size_t> found;
    for (const Group& group : groups_)
      if (!group.decides && std::ranges::binary_search(group.cells, cell)) found.insert(group.question);
    return found.size();
  }

  std::vector<size_t> by_questions() const {
    std::vector<size_t> order(seconds_.size()), questions(seconds_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    for (const size_t cell : order) questions[cell] = questions_of(cell);
    std::ranges::stable_sort(order, [&](size_t a, size_t b) {
      return questions[a] != questions[b] ? questions[a] > questions[b] : seconds_[a] < seconds_[b];
    });
    return order;
  }

  // Seconds of what is missing of a group with this cell.
  double cheapest_case(size_t cell) const {
    double least = std::numeric_limits<double>::infinity();
    for (const Group& group : groups_)
      if (std::ranges::binary_search(group.cells, cell)) least = std::min(least, cost(missing(group)));
    return least;
  }

  std::string reason(size_t cell) const {
    const size_t questions = questions_of(cell);
    const std::string needs =
        cat("predicted to take ", format_seconds(seconds_[cell]), ", ", format_seconds(std::max(0.0, budget_ - spent_)),
            " of the budget of ", format_seconds(budget_), " are left");
    if (questions == 0) return cat(needs, "; no observation needs it");
    if (spent_ + seconds_[cell] <= budget_)  // else it had been kept as a single one
      return cat(needs, "; alone it tells nothing, it only ends a sweep, and the cheapest ",
                 "workloads that make a case with it take ", format_seconds(cheapest_case(cell)), " more");
    return cat(needs, "; it is evidence for ", questions, questions == 1 ? " observation" : " observations",
               ", others bring more for their time");
  }

  const std::vector<double>& seconds_;
  const std::vector<bool>& alone_;
  double budget_, spent_ = 0;
  std::vector<bool> kept_;
  std::vector<int> cases_;  // complete groups, by question
  std::vector<Group> groups_;
};

// Sweeps as lists of cells; the largest are halved until there are enough.
std::vector<std::vector<size_t>> portions(const std::vector<std::string>& sweep_of, size_t wanted) {
  std::vector<std::vector<size_t>> all;
  std::vector<std::string> names;
  for (size_t i = 0; i < sweep_of.size(); ++i) {
    const auto found = static_cast<size_t>(std::ranges::find(names, sweep_of[i]) - names.begin());
    if (found == names.size()) {
      names.push_back(sweep_of[i]);
      all.emplace_back();
    }
    all[found].push_back(i);
  }
  while (all.size() < std::min(wanted, sweep_of.size())) {
    const auto largest = std::ranges::max_element(all, {}, &std::vector<size_t>::size);
    const auto middle = largest->begin() + static_cast<ptrdiff_t>((largest->size() + 1) / 2);
    std::vector<size_t> rest(middle, largest->end());
    largest->erase(middle, largest->end());
    all.push_back(std::move(rest));
  }
  return all;
}

}  // namespace

Thinned thin(const std::vector<double>& seconds, const std::vector<PlanQuestion>& questions, double budget_seconds,
             const std::vector<bool>& alone) {
  for (const double each : seconds) require(each > 0, "a workload's predicted time is not positive");
  return Thinning(seconds, questions, budget_seconds, alone).run();
}

std::vector<size_t> shard(const std::vector<std::string>& sweep_of, size_t index, size_t count) {
  if (index < 1 || index > count)
    fail(ErrorKind::usage, "shards are numbered from 1/", count, " to ", count, "/", count);
  std::vector<std::vector<size_t>> all = portions(sweep_of, count);
  std::ranges::stable_sort(all, std::ranges::greater{}, &std::vector<size_t>::size);
  std::vector<std::vector<size_t>> shards(count);
  for (const std::vector<size_t>& portion : all) {
    const auto least = std::ranges::min_element(shards, {}, &std::vector<size_t>::size);
    least->insert(least->end(), portion.begin(), portion.end());
  }
  std::ranges::sort(shards[index - 1]);
  return shards[index - 1];
}

}  // namespace tbd
