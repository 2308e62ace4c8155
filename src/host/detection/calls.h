// The functions of this folder as host calls name them (docs/program.md): settings are read from the call's numbers.
// Each throws Error(invalid) on a setting that is missing, unknown or makes no sense, and what the function throws.
#pragma once
#include "host/registry.h"

namespace tbd::detection {

// select_proposals (proposals.h). Numbers: extents and strides (height, width of each level, in turn), sizes (shared
// out to the levels), ratios, before; overlap (0.7), least (1e-3).
void call_select_proposals(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

// sample_rois (roi_samples.h). Numbers: slots; overlap (0.5), positive_share (0.25), canonical (224), levels (lowest
// and highest: 2, 5).
void call_sample_rois(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

// proposal_rois (evaluation_calls.h). Numbers: canonical (224), levels (2, 5).
void call_proposal_rois(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

// select_detections (evaluation_calls.h). Numbers: most; score (0.05), least (0.01), overlap (0.5), canonical (224),
// levels (2, 5).
void call_select_detections(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

// roi_plan (roi_plan.h). Numbers: extents (height, width of each map, in turn), scales, images, out, sampling.
void call_roi_plan(std::span<const HostTensor> in, const HostNumbers& numbers, std::span<HostTensor> out);

}  // namespace tbd::detection
