#include "data/speech/speech_law.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "data/spectrogram.h"
#include "data/transcripts.h"

namespace tbd {
namespace {

struct Quantile {
  double share, seconds;
};
constexpr Quantile kQuantiles[] = {{0, 1.3},     {0.001, 1.9}, {0.005, 2.2},  {0.01, 2.5},   {0.05, 4.2},
                                   {0.10, 6.4},  {0.25, 11.4}, {0.50, 13.8},  {0.75, 15.3},  {0.90, 16.7},
                                   {0.95, 17.3}, {0.99, 18.1}, {0.995, 18.4}, {0.999, 18.8}, {1, 27.2}};

// Linear between the two entries around `x`, the end's value beyond them.
double between(double x, double Quantile::*from, double Quantile::*to) {
  const Quantile* above = std::begin(kQuantiles);
  while (above != std::end(kQuantiles) && above->*from < x) ++above;
  if (above == std::begin(kQuantiles)) return above->*to;
  const Quantile& below = *(above - 1);
  if (above == std::end(kQuantiles)) return below.*to;
  return below.*to + (x - below.*from) / (above->*from - below.*from) * (above->*to - below.*to);
}

// The share of the utterances in a bucket's frames: the seconds of the frames before their last.
struct Shares {
  double low, high;
};
Shares shares_of(const std::vector<int64_t>& buckets, size_t bucket) {
  const auto share = [](int64_t frames) { return duration_share(static_cast<double>(frames) * kFrameSeconds); };
  return {bucket == 0 ? 0 : share(buckets[bucket - 1]), share(buckets[bucket])};
}

constexpr int32_t kSpace = 28;
constexpr double kPerSecond = 14.5, kRateSpread = 0.15, kSpaces = 0.18;

// A to Z, percent.
constexpr std::array<double, 26> kLetters = {8.167, 1.492, 2.782, 4.253, 12.702, 2.228, 2.015, 6.094, 6.966,
                                             0.153, 0.772, 4.025, 2.406, 6.749,  7.507, 1.929, 0.095, 5.987,
                                             6.327, 9.056, 2.758, 0.978, 2.360,  0.150, 1.974, 0.074};

int32_t draw_letter(Draws& draws) {
  constexpr int32_t kFirst = 2;
  double left = draws.uniform() * 100;
  for (size_t i = 0; i < kLetters.size(); ++i)
    if ((left -= kLetters[i]) < 0) return static_cast<int32_t>(i) + kFirst;
  return kFirst + 4;  // what rounding leaves of the hundred: E
}

}  // namespace

double duration_share(double seconds) { return between(seconds, &Quantile::seconds, &Quantile::share); }
double duration_at(double share) { return between(share, &Quantile::share, &Quantile::seconds); }

int64_t draw_speech_frames(const std::vector<int64_t>& buckets, size_t bucket, Draws& draws) {
  const auto [low, high] = shares_of(buckets, bucket);
  if (high <= low) return buckets[bucket];
  const double seconds = duration_at(low + draws.uniform() * (high - low));
  const auto frames = static_cast<int64_t>(std::ceil(seconds / kFrameSeconds));
  return std::clamp(frames, bucket == 0 ? int64_t{2} : buckets[bucket - 1] + 1, buckets[bucket]);
}

size_t draw_speech_bucket(const std::vector<int64_t>& buckets, Draws& draws) {
  const double share = draws.uniform() * shares_of(buckets, buckets.size() - 1).high;
  for (size_t bucket = 0; bucket < buckets.size(); ++bucket)
    if (share < shares_of(buckets, bucket).high) return bucket;
  return buckets.size() - 1;
}

std::vector<int32_t> draw_speech_labels(int64_t frames, int64_t places, Draws& draws) {
  const double rate = kPerSecond * std::exp(kRateSpread * draws.normal());
  const int64_t wanted =
      std::clamp<int64_t>(std::llround(static_cast<double>(frames) * kFrameSeconds * rate), 1, places);
  std::vector<int32_t> labels;
  while (static_cast<int64_t>(labels.size()) < wanted) {
    const bool inside = !labels.empty() && labels.back() != kSpace;
    labels.push_back(inside && draws.chance(kSpaces) ? kSpace : draw_letter(draws));
  }
  while (labels.size() > 1 && (labels.back() == kSpace || least_ctc_steps(labels) > speech_steps(frames)))
    labels.pop_back();
  return labels;
}

}  // namespace tbd
