#include "host/detection/calls.h"

#include <cmath>

#include "base/text.h"
#include "host/detection/evaluation_calls.h"
#include "host/detection/proposals.h"
#include "host/detection/roi_plan.h"
#include "host/detection/roi_samples.h"
#include "host/settings.h"

namespace tbd::detection {
namespace {

constexpr double kMostWhole = 1 << 30;

// The settings of one call.
class Numbers {
 public:
  Numbers(std::string_view function, const HostNumbers& numbers, std::initializer_list<std::string_view> known)
      : function_(function), numbers_(numbers) {
    refuse_unknown_settings(function, numbers, known);
  }

  double one(const std::string& name, std::optional<double> usual = std::nullopt) const {
    return setting(function_, numbers_, name, usual);
  }
  const std::vector<double>& many(const std::string& name) const { return setting_list(function_, numbers_, name); }
  bool has(const std::string& name) const { return numbers_.contains(name); }
  int64_t whole(const std::string& name) const { return whole(name, one(name)); }

  // Height and width in turn.
  std::vector<Extent> extents(const std::string& name) const {
    const std::vector<double>& all = many(name);
    require(all.size() % 2 == 0, function_, ": '", name, "' has ", all.size(), " numbers, which are no pairs");
    std::vector<Extent> out;
    for (size_t i = 0; i < all.size(); i += 2) out.push_back({whole(name, all[i]), whole(name, all[i + 1])});
    return out;
  }

  template <class... Parts>
  void expect(bool right, const Parts&... parts) const {
    require(right, function_, ": ", parts...);
  }

 private:
  int64_t whole(const std::string& name, double value) const {
    require(value >= 0 && value <= kMostWhole && value == std::floor(value), function_, ": '", name, "' has ", value,
            ", which is no count");
    return static_cast<int64_t>(value);
  }

  std::string_view function_;
  const HostNumbers& numbers_;
};

Pyramid pyramid_of(const Numbers& numbers) {
  const std::vector<Extent> extents = numbers.extents("extents"), strides = numbers.extents("strides");
  const std::vector<double>& sizes = numbers.many("sizes");
  numbers.expect(strides.size() == extents.size(), strides.size(), " strides for ", extents.size(), " levels");
  numbers.expect(sizes.size() % extents.size() == 0, sizes.size(), " sizes for ", extents.size(), " levels");
  const auto each = std::ssize(sizes) / std::ssize(extents);
  Pyramid out = {.levels = {}, .ratios = numbers.many("ratios")};
  for (size_t i = 0; i < extents.size(); ++i) {
    const auto first = sizes.begin() + static_cast<int64_t>(i) * each;
    out.levels.push_back({extents[i], strides[i], std::vector<double>(first, first + each)});
  }
  return out;
}

void read_levels(const Numbers& numbers, RoiSettings& settings) {
  settings.canonical = numbers.one("canonical", settings.canonical);
  if (!numbers.has("levels")) return;
  const std::vector<Extent> levels = numbers.extents("levels");
  numbers.expect(levels.size() == 1 && levels[0].height <= levels[0].width,
                 "'levels' are not the lowest and the highest");
  settings.lowest = levels[0].height;
  settings.highest = levels[0].width;
}

}  // namespace

void call_select_proposals(std::span<const HostTensor> in, const HostNumbers& given, std::span<HostTensor> out) {
  const Numbers numbers("select_proposals", given,
                        {"extents", "strides", "sizes", "ratios", "before", "overlap", "least"});
  select_proposals({.pyramid = pyramid_of(numbers),
                    .before = numbers.whole("before"),
                    .overlap = numbers.one("overlap", 0.7),
                    .least = numbers.one("least", 1e-3)},
                   in, out);
}

void call_sample_rois(std::span<const HostTensor> in, const HostNumbers& given, std::span<HostTensor> out) {
  const Numbers numbers("sample_rois", given, {"slots", "overlap", "positive_share", "canonical", "levels"});
  RoiSettings settings = {.overlap = numbers.one("overlap", 0.5),
                          .positive_share = numbers.one("positive_share", 0.25),
                          .slots = numbers.whole("slots")};
  read_levels(numbers, settings);
  sample_rois(settings, in, out);
}

void call_proposal_rois(std::span<const HostTensor> in, const HostNumbers& given, std::span<HostTensor> out) {
  RoiSettings settings;
  read_levels(Numbers("proposal_rois", given, {"canonical", "levels"}), settings);
  proposal_rois(settings, in, out);
}

void call_select_detections(std::span<const HostTensor> in, const HostNumbers& given, std::span<HostTensor> out) {
  const Numbers numbers("select_detections", given, {"most", "score", "least", "overlap", "canonical", "levels"});
  RoiSettings settings;
  read_levels(numbers, settings);
  select_detections({.score = numbers.one("score", 0.05),
                     .least = numbers.one("least", 0.01),
                     .overlap = numbers.one("overlap", 0.5),
                     .most = numbers.whole("most")},
                    settings, in, out);
}

void call_roi_plan(std::span<const HostTensor> in, const HostNumbers& given, std::span<HostTensor> out) {
  const Numbers numbers("roi_plan", given, {"extents", "scales", "images", "out", "sampling"});
  roi_plan({.extents = numbers.extents("extents"),
            .scales = numbers.many("scales"),
            .images = numbers.whole("images"),
            .out = numbers.whole("out"),
            .sampling = numbers.whole("sampling")},
           in, out);
}

}  // namespace tbd::detection
