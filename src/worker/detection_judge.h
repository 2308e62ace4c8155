// Detectors: average precision by COCO's rules on the original pictures of the held-out set.
#pragma once
#include "worker/judge.h"

namespace tbd {

// Answers cls.l (N, 9 K, h, w) and box.l (N, 36, h, w) of levels 3 to 7. Metrics box_ap, box_ap50, box_ap75, box_ar100.
std::unique_ptr<Judge> anchor_judge(const SourceSpec& data);
// Answers detection.rois (N D, 5), detection.label (N D, 1), detection.score (N D), detection.count (N) and perhaps
// detection.mask (N D, 1, S, S), logits. Metrics as above, with masks also mask_ap, mask_ap50, mask_ap75,
// mask_ar100.
std::unique_ptr<Judge> region_judge(const SourceSpec& data);

}  // namespace tbd
