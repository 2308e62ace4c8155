"""Pictures with boxes and masks as a Python program reads them: pycocotools for annotations and average precision."""

import contextlib
import io

import numpy
import torch
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import CocoDetection
from torchvision.ops import box_convert


def in_silence(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()):
        return function(*arguments)


def read(folder, part):
    numbers = transforms.Compose([transforms.ToTensor(),
                                  transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225))])
    return in_silence(CocoDetection, folder / f"{part}2017", folder / f"annotations/instances_{part}2017.json", numbers)


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
        if not rows:
            return {"box_ap": 0.0, "box_ap50": 0.0}
        judge = COCOeval(self.held_out.coco, in_silence(COCO.loadRes, self.held_out.coco, numpy.array(rows)), "bbox")
        for step in (judge.evaluate, judge.accumulate, judge.summarize):
            in_silence(step)
        return {"box_ap": judge.stats[0], "box_ap50": judge.stats[1]}
