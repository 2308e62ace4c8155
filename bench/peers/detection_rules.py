"""Golden numbers of torchvision where the rules of detection differ most from others that come to mind.

  PEERS/bin/python bench/peers/detection_rules.py > src/host/detection/golden/rules.json     PEERS: made by bench/peers/setup.sh

Sides of anchors that end on a half, levels whose stride is no power of two, small boxes, of which many share as much with
one anchor and many anchors with one box, and equal keys. All in float64. tests/detection_mutants.py plants the other rules.
"""
import json
import math
import random

import torch
from torchvision.models.detection._utils import BoxCoder, Matcher
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.image_list import ImageList
from torchvision.ops import box_iou, nms

TINY = (8, 16, 32, 64, 128)
CANONICAL = (32, 64, 128, 256, 512)
RATIOS = (0.5, 1.0, 2.0)


def anchors(sizes, height, width, first_stride):
    extents = [(math.ceil(height / (first_stride << i)), math.ceil(width / (first_stride << i))) for i in range(len(sizes))]
    maps = [torch.zeros(1, 1, *extent) for extent in extents]
    image = ImageList(torch.zeros(1, 3, height, width), [(height, width)])
    generator = AnchorGenerator(tuple((size,) for size in sizes), (RATIOS,) * len(sizes))
    return generator(image, maps)[0].double()


def signature(values):
    values = values.flatten()
    return [values.sum().item(), (values * (1 + torch.arange(len(values)) % 97)).sum().item()]


def small_boxes(count, extent, most, draw):
    """Corners on quarters; every third box has its mirror image about the centre of a cell."""
    quarter = lambda value: math.floor(4 * value) / 4
    boxes = []
    while len(boxes) < count:
        width, height = quarter(draw.uniform(2, most)), quarter(draw.uniform(2, most))
        x, y = quarter(draw.uniform(0, extent - width)), quarter(draw.uniform(0, extent - height))
        boxes.append([x, y, x + width, y + height])
        centre = 8 * round((x + width / 2) / 8)
        if len(boxes) % 3 == 0:
            boxes.append([2 * centre - x - width, y, 2 * centre - x, y + height])
    return torch.tensor(boxes[:count], dtype=torch.float64)


def smallest(candidates, keys, take):
    """The indices of those with the smallest (key, index), ascending."""
    return sorted(sorted(candidates, key=lambda i: (keys[i], i))[:take])


def rpn_targets(boxes, sampled, most_positive):
    all_anchors = anchors(TINY, 128, 128, 4)
    match = Matcher(0.7, 0.3, allow_low_quality_matches=True)(box_iou(boxes, all_anchors))
    keys = [(i * 7919) % 1009 for i in range(len(all_anchors))]
    positive = smallest(torch.where(match >= 0)[0].tolist(), keys, most_positive)
    negative = smallest(torch.where(match == Matcher.BELOW_LOW_THRESHOLD)[0].tolist(), keys, sampled - len(positive))
    codes = BoxCoder((1.0, 1.0, 1.0, 1.0)).encode_single(boxes[match[positive]], all_anchors[positive])
    return {"boxes": boxes.tolist(), "positives": len(positive), "index": positive + negative,
            "box_target_signature": signature(codes)}


def suppression(boxes, overlap):
    """Boxes by falling score."""
    return {"boxes": boxes.tolist(), "overlap": overlap,
            "kept": nms(boxes, -torch.arange(len(boxes), dtype=torch.float64), overlap).tolist()}


def main():
    draw = random.Random(1)
    bases = {size: AnchorGenerator().generate_anchors((size,), RATIOS, dtype=torch.float32).tolist() for size in (9, 11, 13)}
    golden = {"base_anchors": bases, "anchors_800x1344": signature(anchors(CANONICAL, 800, 1344, 4)),
              "rpn": rpn_targets(small_boxes(60, 128, 20, draw), 256, 128),
              "suppression": suppression(small_boxes(120, 48, 14, draw), 0.5)}
    print("{" + ",\n ".join(f"{json.dumps(name)}: {json.dumps(part)}" for name, part in golden.items()) + "}")


if __name__ == "__main__":
    main()
