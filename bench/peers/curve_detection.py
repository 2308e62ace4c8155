"""Pictures with boxes and masks as a Python program reads them: pycocotools for annotations and average precision.

For EfficientDet effdet's data set, transforms, labels and detections; its loader needs a GPU, so torch's does its work.
"""

import contextlib
import io

import effdet
import numpy
import torch
from effdet.anchors import AnchorLabeler, Anchors
from effdet.data import DetectionDatset
from effdet.data import transforms as of_effdet
from effdet.data.loader import DetectionFastCollate
from effdet.data.parsers import CocoParserCfg
from effdet.data.parsers.parser_coco import CocoParser
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import CocoDetection
from torchvision.ops import box_convert

from efficientdet_d0 import LEVELS

NORMALISED = transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))


def in_silence(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments)


def files_of(folder, part):
    return folder / f"{part}2017", folder / f"annotations/instances_{part}2017.json"


def read(folder, part):
    return in_silence(CocoDetection, *files_of(folder, part), transforms.Compose([transforms.ToTensor(), NORMALISED]))


def average_precision(coco, rows):
    """Of detections: picture, x, y, width, height, score, category."""
    if not rows:
        return {"box_ap": 0.0, "box_ap50": 0.0}
    judge = COCOeval(coco, in_silence(COCO.loadRes, coco, numpy.array(rows)), "bbox")
    for step in (judge.evaluate, judge.accumulate, judge.summarize):
        in_silence(step)
    return {"box_ap": judge.stats[0], "box_ap50": judge.stats[1]}


def target_of(coco, objects):
    """torchvision's form; crowds are left out, and what there is no place for."""
    objects = [each for each in objects if not each["iscrowd"]][:Stamps.PLACES]
    boxes = torch.tensor([each["bbox"] for each in objects], dtype=torch.float32).view(-1, 4)
    masks = [torch.from_numpy(coco.annToMask(each)) for each in objects]
    return {"boxes": box_convert(boxes, "xywh", "xyxy"), "masks": torch.stack(masks) if masks else torch.empty(0),
            "labels": torch.tensor([each["category_id"] for each in objects])}


def flipped(image, target):
    boxes = target["boxes"].clone()
    boxes[:, [0, 2]] = image.shape[2] - boxes[:, [2, 0]]
    return image.flip(2), target | {"boxes": boxes, "masks": target["masks"].flip(2)}


def pictures_of(samples):
    images, targets = zip(*samples)
    return torch.stack(images), targets


def flipped_at_random(samples):
    return pictures_of([flipped(*sample) if torch.rand(()) < 0.5 else sample for sample in samples])


class Stamps:
    PLACES = 4  # for objects of a picture in the configuration tiny, whose tensors are of fixed size
    resolution = {}

    def __init__(self, folder, network, batch):
        training, self.held_out = read(folder, "train"), read(folder, "val")
        targets = ((image, target_of(training.coco, objects)) for image, objects in training)
        samples = [(image, target) for image, target in targets if len(target["labels"])]
        self.training = DataLoader(samples, batch, shuffle=True, drop_last=True, collate_fn=flipped_at_random)
        self.network, self.samples = network, batch

    def prepared(self, images):
        self.network.transform.sizes = [tuple(images.shape[2:])] * len(images)
        return images.contiguous(memory_format=torch.channels_last)

    def batch(self, loaded):
        images, self.network.targets = loaded
        return {"image": self.prepared(images)}

    def evaluate(self, recipe, network):
        loader = DataLoader([image for image, _ in self.held_out], self.samples)
        found = [detections for images in loader for detections in network(self.prepared(images))]
        rows = [[number, *box, score, label] for number, each in zip(self.held_out.ids, found) for box, score, label
                in zip(box_convert(each["boxes"], "xyxy", "xywh").tolist(), each["scores"].tolist(),
                       each["labels"].tolist())]
        return average_precision(self.held_out.coco, rows)


class BoxStamps:
    """As EfficientDet reads them: a label for each anchor, pictures scaled by a random factor and cut to their size."""

    SCALES = (0.7, 1.4)  # of the configuration small
    resolution = {}

    def __init__(self, folder, network, batch):
        anchors, size = Anchors.from_config(network.config), network.config.image_size
        labels = DetectionFastCollate(anchor_labeler=AnchorLabeler(anchors, network.config.num_classes))

        def loader(part, *steps, **order):
            pictures, annotations = files_of(folder, part)
            parser = in_silence(CocoParser, CocoParserCfg(str(annotations)))
            data = DetectionDatset(pictures, parser, transform=of_effdet.Compose([*steps, of_effdet.ImageToNumpy()]))
            return DataLoader(data, batch, collate_fn=labels, **order)

        form = {"interpolation": "bilinear", "fill_color": of_effdet.resolve_fill_color("mean")}
        scaled = of_effdet.RandomResizePad(size, self.SCALES, **form)
        self.training = loader("train", of_effdet.RandomFlip(), scaled, shuffle=True, drop_last=True)
        self.held_out = loader("val", of_effdet.ResizePad(size, **form))

    def batch(self, loaded):
        images, targets = loaded
        image = NORMALISED(images / 255).contiguous(memory_format=torch.channels_last)
        classes = {f"cls_t.{level}": targets[f"label_cls_{level - 3}"] for level in LEVELS}
        return {"image": image} | classes | {f"box_t.{level}": targets[f"label_bbox_{level - 3}"] for level in LEVELS}

    def evaluate(self, recipe, network):
        detector, parser, rows, losses, counts = effdet.DetBenchPredict(network), self.held_out.dataset.parser, [], 0, 0
        for images, targets in self.held_out:
            batch = self.batch((images, targets))
            count = 1 + targets["label_num_positives"].sum().item()
            losses, counts = losses + count * recipe.loss(network, batch).item(), counts + count
            for index, found in zip(targets["img_idx"].tolist(), detector(batch["image"], targets)):
                found = found[found[:, 4] > 0]  # the rest fills up
                boxes = box_convert(found[:, :4], "xyxy", "xywh").tolist()
                rows += [[parser.img_ids[index], *box, score, label] for box, (score, label)
                         in zip(boxes, found[:, 4:].tolist())]
        return average_precision(parser.coco, rows) | {"loss": losses / counts}
