// MXNet's op reads one map. Each map gets all boxes, of which those that other maps are read for lie far outside, where
// every sample is 0; the sum over maps has each box's patch once.
#include "backends/mxnet/lowering.h"

namespace tbd::mxnet {
namespace {

constexpr double kFarOutside = -1e6;

}  // namespace

Symbol lower(const RoiAlign& op, const Args& in) {
  const size_t maps = op.scales.size();
  const int64_t boxes = in.shape(maps)[0];
  const Symbol rois = in.part("rois", "BlockGrad", {in[maps]});
  const Symbol far = in.constant("far", {1, 5}, {0, kFarOutside, kFarOutside, kFarOutside, kFarOutside});
  std::vector<Symbol> patches;
  for (size_t i = 0; i < maps; ++i) {
    const std::string suffix = std::to_string(i);
    const Symbol here = in.part("here" + suffix, "_equal_scalar", {in[maps + 1]}, with_scalar(static_cast<double>(i)));
    const Symbol column = in.part("column" + suffix, "Reshape", {here}, to_shape({boxes, 1}));
    const Symbol chosen = in.part("chosen" + suffix, "Cast", {column}, {{"dtype", type_name(in.dtype(0))}});
    const Symbol others = in.part("others" + suffix, "_rminus_scalar", {chosen}, with_scalar(1));
    const Symbol own = in.part("own" + suffix, "broadcast_mul", {rois, chosen});
    const Symbol away = in.part("away" + suffix, "broadcast_mul", {others, far});
    const Symbol moved = in.part("moved" + suffix, "elemwise_add", {own, away});
    const std::string side = std::to_string(op.out);
    patches.push_back(in.part("patches" + suffix, "_contrib_ROIAlign", {in[i], moved},
                              {{"pooled_size", cat("(", side, ", ", side, ")")},
                               {"spatial_scale", text(op.scales[i])},
                               {"sample_ratio", std::to_string(op.sampling)}}));
  }
  return in.op("add_n", patches, {{"num_args", std::to_string(maps)}});
}
LoweredAs lowered_as(const RoiAlign&, size_t) {
  return composed("_contrib_ROIAlign of every map with the boxes of other maps far outside, add_n");
}

}  // namespace tbd::mxnet
