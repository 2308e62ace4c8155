#include "quality/beam_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "quality/score_rows.h"

namespace tbd {
namespace {

using ::testing::ElementsAre;

using Tokens = std::vector<int32_t>;

// splitmix64's mixing (Steele, Lea, Flood 2014).
uint64_t mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

// A network that answers by hashes of what it is asked: logits are multiples of 1/256 below 4, or, for ties, of 1.
struct HashNetwork {
  uint64_t seed = 0;
  int64_t vocabulary = 5;
  bool coarse = false;

  std::vector<float> logits(std::span<const int32_t> prefix) const {
    uint64_t hash = seed;
    for (const int32_t token : prefix) hash = mix(31 * hash + static_cast<uint64_t>(token) + 1);
    std::vector<float> logits;
    for (int64_t j = 0; j < vocabulary; ++j) {
      const uint64_t bits = mix(hash + 7919 * static_cast<uint64_t>(j)) >> 54;
      logits.push_back(coarse ? static_cast<float>(bits >> 8) : static_cast<float>(bits) / 256);
    }
    if (prefix.empty()) logits[0] -= 1;
    return logits;
  }
  NextScores operator()(std::span<const Prefix> prefixes) const {
    std::vector<float> all;
    for (const Prefix& prefix : prefixes) {
      const std::vector<float> one = HashNetwork{seed + prefix.source, vocabulary, coarse}.logits(prefix.tokens);
      all.insert(all.end(), one.begin(), one.end());
    }
    const Shape shape = {static_cast<int64_t>(prefixes.size()), vocabulary};
    return {.logits = HostTensor(DType::f32, shape, std::span<const float>(all))};
  }
  std::vector<double> log_probabilities(std::span<const int32_t> prefix) const {
    const std::vector<float> scores = logits(prefix);
    const double log_sum = log_sum_exp(std::span<const float>(scores));
    std::vector<double> log_probabilities;
    for (const float score : scores) log_probabilities.push_back(static_cast<double>(score) - log_sum);
    return log_probabilities;
  }
};

double penalized(double log_probability, size_t length, double alpha) {
  return log_probability / std::pow((5 + static_cast<double>(length)) / 6, alpha);
}

// The best of all finished sequences, tried one by one.
struct Exhaustive {
  HashNetwork network;
  size_t longest;
  double alpha;
  Hypothesis best = {.score = -std::numeric_limits<double>::infinity()};

  void try_behind(const Tokens& prefix, double log_probability) {
    if (prefix.size() == longest) return;
    const std::vector<double> next = network.log_probabilities(prefix);
    for (size_t token = 0; token < next.size(); ++token) {
      Tokens tokens = prefix;
      tokens.push_back(static_cast<int32_t>(token));
      const double total = log_probability + next[token];
      if (token != 0) {
        try_behind(tokens, total);
      } else if (const double score = penalized(total, tokens.size(), alpha); score > best.score) {
        best = {.tokens = tokens, .finished = true, .log_probability = total, .score = score};
      }
    }
  }
};

std::vector<Hypothesis> search(const Scorer& scorer, int64_t longest, const BeamSettings& settings) {
  return beam_search(scorer, std::vector{longest}, settings).front();
}

TEST(BeamSearchGolden, ProbabilitiesOfTheNetwork) {
  for (const Json& each :
       parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/beam_search.json"), "beam_search.json")) {
    const HashNetwork network = {.seed = each.at("seed").get<uint64_t>()};
    for (const auto& [key, prefix] : {std::pair{"first_step_log_probabilities", Tokens{}},
                                      std::pair{"log_probabilities_after_[1,2]", Tokens{1, 2}}}) {
      const std::vector<double> next = network.log_probabilities(prefix);
      for (size_t i = 0; i < next.size(); ++i) EXPECT_NEAR(next[i], each.at(key)[i].get<double>(), 1e-9);
    }
  }
}

TEST(BeamSearchGolden, SequencesAndScores) {
  for (const Json& each :
       parse_json(read_file(TBD_SOURCE_DIR "/src/quality/golden/beam_search.json"), "beam_search.json"))
    for (const Json& result : each.at("results"))
      for (const size_t beams : {1, 2, 4, 2000}) {
        SCOPED_TRACE(cat("seed ", each.at("seed").get<int64_t>(), ", ", beams, " beams"));
        const Json& expected = result.at(cat("beam_", beams));
        const Hypothesis best =
            search(HashNetwork{.seed = each.at("seed").get<uint64_t>()}, each.at("max_length").get<int64_t>(),
                   {.beams = beams, .length_penalty = result.at("alpha").get<double>()})
                .front();
        EXPECT_EQ(best.tokens, expected.at("tokens").get<Tokens>());
        EXPECT_NEAR(best.score, expected.at("score").get<double>(), 1e-9 * std::abs(best.score));
        const bool finished = best.tokens.back() == 0;
        EXPECT_EQ(best.finished, finished);
        if (finished) {
          EXPECT_LE(best.score, result.at("exhaustive").at("score").get<double>() + 1e-9);
        }
        if (beams == 2000) {
          EXPECT_EQ(best.tokens, result.at("exhaustive").at("tokens").get<Tokens>());
        }
      }
}

TEST(BeamSearch, ManyBeamsFindTheBestOfAllSequences) {
  for (uint64_t seed = 0; seed < 20; ++seed)
    for (const double alpha : {0.0, 0.6, 1.0}) {
      const HashNetwork network = {.seed = seed, .vocabulary = 4};
      Exhaustive all{.network = network, .longest = 5, .alpha = alpha};
      all.try_behind({}, 0);
      const std::vector<Hypothesis> found = search(network, 5, {.beams = 300, .length_penalty = alpha});
      ASSERT_EQ(found.front().tokens, all.best.tokens) << seed << " " << alpha;
      ASSERT_NEAR(found.front().score, all.best.score, 1e-12);
    }
}

// The rule as it is written, all candidates sorted at once.
std::vector<Hypothesis> search_by_rule(const HashNetwork& network, size_t longest, const BeamSettings& settings) {
  struct Next {
    double score;
    size_t parent;
    int32_t token;
    double log_probability;
  };
  const double alpha = settings.length_penalty;
  const auto final_order = [](const Hypothesis& a, const Hypothesis& b) {
    return std::tuple(-a.score, a.tokens) < std::tuple(-b.score, b.tokens);
  };
  std::vector<Hypothesis> alive = {{}}, finished;
  for (size_t length = 1; length <= longest; ++length) {
    std::vector<Next> candidates;
    for (size_t parent = 0; parent < alive.size(); ++parent) {
      const std::vector<double> next = network.log_probabilities(alive[parent].tokens);
      for (size_t token = 0; token < next.size(); ++token) {
        const double total = alive[parent].log_probability + next[token];
        candidates.push_back({penalized(total, length, alpha), parent, static_cast<int32_t>(token), total});
      }
    }
    std::ranges::sort(candidates, {}, [](const Next& c) { return std::tuple(-c.score, c.parent, c.token); });
    candidates.resize(std::min(candidates.size(), 2 * settings.beams));
    std::vector<Hypothesis> longer;
    for (const Next& c : candidates) {
      Tokens tokens = alive[c.parent].tokens;
      tokens.push_back(c.token);
      if (c.token == settings.end)
        finished.push_back({tokens, true, c.log_probability, c.score});
      else if (longer.size() < settings.beams)
        longer.push_back({tokens, false, c.log_probability, c.score});
    }
    std::ranges::sort(finished, final_order);
    finished.resize(std::min(finished.size(), settings.beams));
    alive = longer;
    if (finished.size() == settings.beams &&
        finished.back().score > penalized(alive.front().log_probability, longest, alpha))
      break;
  }
  if (!finished.empty()) return finished;
  std::ranges::sort(alive, final_order);
  return alive;
}

class TiedBeamSearch : public ::testing::TestWithParam<size_t> {};

TEST_P(TiedBeamSearch, FollowsTheRuleWhereScoresAreEqual) {
  for (uint64_t seed = 100; seed < 160; ++seed) {
    const HashNetwork network = {.seed = seed, .vocabulary = 7, .coarse = true};
    const BeamSettings settings = {.beams = GetParam(), .end = 3};
    const std::vector<Hypothesis> found = search(network, 8, settings), wanted = search_by_rule(network, 8, settings);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].tokens, wanted[i].tokens) << seed << " " << i;
      ASSERT_EQ(found[i].finished, wanted[i].finished);
      ASSERT_NEAR(found[i].score, wanted[i].score, 1e-12);
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Beams, TiedBeamSearch, ::testing::Values(1, 2, 3, 4, 9));

TEST(BeamSearch, SourcesOfABatchAreFoundAsAlone) {
  const std::vector<int64_t> longest = {3, 9, 1, 6};
  const BeamSettings settings = {.beams = 3};
  const auto together = beam_search(HashNetwork{.seed = 40}, longest, settings);
  for (size_t source = 0; source < longest.size(); ++source) {
    const auto alone = search(HashNetwork{.seed = 40 + source}, longest[source], settings);
    ASSERT_EQ(together[source].size(), alone.size());
    for (size_t i = 0; i < alone.size(); ++i) {
      EXPECT_EQ(together[source][i].tokens, alone[i].tokens);
      EXPECT_EQ(together[source][i].score, alone[i].score);
    }
  }
}

TEST(BeamSearch, AsksForWhatIsAliveAlone) {
  const std::vector<int64_t> longest = {1, 4};
  std::vector<std::vector<size_t>> asked;
  const HashNetwork network = {.seed = 7};
  beam_search(
      [&](std::span<const Prefix> prefixes) {
        std::vector<size_t> sources;
        for (const Prefix& prefix : prefixes) {
          EXPECT_EQ(prefix.tokens.size(), asked.size());
          sources.push_back(prefix.source);
        }
        asked.push_back(sources);
        return network(prefixes);
      },
      longest, {.beams = 2});
  ASSERT_GE(asked.size(), 2u);
  EXPECT_THAT(asked[0], ElementsAre(0, 1));
  EXPECT_THAT(asked[1], ElementsAre(1, 1));
}

// A network of fixed logits, whatever the prefix.
Scorer constant(std::vector<float> logits, std::vector<double> coverage_by_last_token = {}) {
  return [=](std::span<const Prefix> prefixes) {
    NextScores scores{
        .logits = HostTensor(DType::f32, {static_cast<int64_t>(prefixes.size()), static_cast<int64_t>(logits.size())})};
    for (size_t row = 0; row < prefixes.size(); ++row) {
      std::ranges::copy(logits, scores.logits.as<float>().subspan(row * logits.size()).begin());
      if (coverage_by_last_token.empty()) continue;
      const auto tokens = prefixes[row].tokens;
      scores.coverage.push_back(coverage_by_last_token[tokens.empty() ? 0 : static_cast<size_t>(tokens.back())]);
    }
    return scores;
  };
}

TEST(BeamSearch, EqualScoresEndInTheSmallerSequence) {
  const std::vector<Hypothesis> found = search(constant({0, 0, 0}), 2, {.beams = 2, .end = 0, .length_penalty = 0});
  EXPECT_EQ(found[0].tokens, Tokens({0}));
  EXPECT_EQ(found[1].tokens, Tokens({1, 0}));
}

TEST(BeamSearch, ImpossibleTokensAreNeverWritten) {
  const float never = -std::numeric_limits<float>::infinity();
  for (const Hypothesis& found : search(constant({0, never, 1, never}), 6, {.beams = 8}))
    for (const int32_t token : found.tokens) EXPECT_TRUE(token == 0 || token == 2);
  const std::vector<Hypothesis> endless = search(constant({never, 1, 2}), 3, {.beams = 2});
  ASSERT_EQ(endless.size(), 2u);
  EXPECT_FALSE(endless[0].finished);
  EXPECT_EQ(endless[0].tokens, Tokens({2, 2, 2}));
}

TEST(BeamSearch, CoveragePenaltyPrefersWhatAttendedToAll) {
  const Scorer scorer = constant({1, 1.5F, 1}, {-9, -3, 0});  // behind token 2 all of the source was seen
  const BeamSettings without = {.beams = 3, .length_penalty = 0.2},
                     with = {.beams = 3, .length_penalty = 0.2, .coverage_penalty = 5};
  EXPECT_EQ(search(scorer, 2, without).front().tokens, Tokens({0}));
  const Hypothesis best = search(scorer, 2, with).front();
  EXPECT_EQ(best.tokens, Tokens({2, 0}));
  EXPECT_NEAR(best.score, penalized(best.log_probability, 2, 0.2) + 5 * 0.0, 1e-12);
  const auto all = search(scorer, 2, with);
  EXPECT_NEAR(all.back().score, penalized(all.back().log_probability, all.back().tokens.size(), 0.2) - 5 * 9.0, 1e-12);
}

TEST(BeamSearch, LogCoverageSumsWhatIsMissing) {
  EXPECT_NEAR(log_coverage(std::vector<float>{0.5F, 1, 3}), std::log(0.5), 1e-12);
  EXPECT_TRUE(std::isfinite(log_coverage(std::vector<float>{0})));
  EXPECT_EQ(log_coverage({}), 0);
  EXPECT_THROW(log_coverage(std::vector<float>{-0.1F}), Error);
  EXPECT_THROW(log_coverage(std::vector<float>{std::nanf("")}), Error);
}

std::string search_refusal(const Scorer& scorer, int64_t longest, const BeamSettings& settings) {
  try {
    search(scorer, longest, settings);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(BeamSearch, RefusesWhatCannotBeSearched) {
  const Scorer fine = constant({1, 2});
  EXPECT_EQ(search_refusal(fine, 2, {.beams = 0}), "a search with 0 beams");
  EXPECT_EQ(search_refusal(fine, 0, {}), "source 0 may have 0 tokens");
  EXPECT_EQ(search_refusal(fine, 2, {.length_penalty = -1}), "a penalty of -1");
  EXPECT_EQ(search_refusal(fine, 2, {.end = 2}), "token 2 ends a sequence, of a vocabulary of 2");
  EXPECT_EQ(search_refusal(fine, 2, {.coverage_penalty = 1}), "0 coverages of 1 prefixes");
  EXPECT_EQ(search_refusal(constant({1, 2}, {0.5, 0}), 2, {}), "a coverage of 0.5, above 0");
  EXPECT_EQ(search_refusal(constant({1, std::nanf("")}), 2, {}),
            "source 0 behind 0 tokens: the score of class 1 is nan");
  const Scorer short_answer = [&](std::span<const Prefix>) {
    return NextScores{.logits = HostTensor(DType::f32, {0, 2})};
  };
  EXPECT_EQ(search_refusal(short_answer, 2, {}), "logits (0, 2) of 1 prefixes");
}

}  // namespace
}  // namespace tbd
