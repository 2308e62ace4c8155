"""Mask R-CNN training in idiomatic eager PyTorch: torchvision's detector, SGD with momentum (training.py).

Pictures come resized and padded, and which anchors and regions train is the batch's to say, so torchvision's transform
and samplers are replaced; its other parts are as they are.
"""

import sys

import torch
import torch.nn.functional
from torchvision.models import resnet
from torchvision.models.detection import FasterRCNN, MaskRCNN, rpn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.ops import MultiScaleRoIAlign, misc

import training

clip = training.no_clip
CANONICAL = {"blocks": (3, 4, 6, 3), "width": 64, "pyramid": 256, "sizes": (32, 64, 128, 256, 512), "slots": 91,
             "before": 2000, "after": 2000, "anchors": 256, "regions": 512, "box": 1024, "mask": (256,) * 4, "up": 256,
             "side": 224}
TINY = {"blocks": (1, 1, 1, 1), "width": 8, "pyramid": 16, "sizes": (8, 16, 32, 64, 128), "slots": 4, "before": 32,
        "after": 128, "anchors": 32, "regions": 32, "box": 32, "mask": (16, 16), "up": 16, "side": 32}
CONFIGS = {"r101": {"blocks": (3, 4, 23, 3)}, "slots81": {"slots": 81}, "faster": {"mask": ()}, "tiny": TINY,
           "faster_tiny": TINY | {"mask": ()}}


def body(blocks, width):
    """torchvision's ResNet, of any width."""
    network = resnet.ResNet.__new__(resnet.ResNet)
    torch.nn.Module.__init__(network)
    network._norm_layer, network.inplanes, network.dilation = misc.FrozenBatchNorm2d, width, 1
    network.groups, network.base_width = 1, 64
    network.conv1 = torch.nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
    network.bn1, network.relu = misc.FrozenBatchNorm2d(width), torch.nn.ReLU(inplace=True)
    network.maxpool = torch.nn.MaxPool2d(3, stride=2, padding=1)
    for stage, count in enumerate(blocks):
        layer = network._make_layer(resnet.Bottleneck, width << stage, count, stride=1 if stage == 0 else 2)
        setattr(network, f"layer{stage + 1}", layer)
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(name.startswith(("layer2", "layer3", "layer4")))
    return network


class Given(torch.nn.Module):
    """In place of the transform: pictures that are padded already."""

    def forward(self, images, targets=None):
        return images, targets

    def postprocess(self, detections, image_shapes, original):
        return detections


def build(config="canonical", dropout=True):
    form = CANONICAL | CONFIGS.get(config, {})
    width = form["width"]
    maps = {f"layer{stage + 1}": str(stage) for stage in range(4)}
    backbone = BackboneWithFPN(body(form["blocks"], width), maps, [4 * width << stage for stage in range(4)],
                               form["pyramid"])
    names = ["0", "1", "2", "3"]
    settings = {
        "rpn_anchor_generator": AnchorGenerator(tuple((size,) for size in form["sizes"]), ((0.5, 1.0, 2.0),) * 5),
        "rpn_pre_nms_top_n_train": form["before"], "rpn_post_nms_top_n_train": form["after"],
        "rpn_batch_size_per_image": form["anchors"], "box_batch_size_per_image": form["regions"],
        "box_roi_pool": MultiScaleRoIAlign(names, 7, 2, canonical_scale=form["side"]),
        "box_head": TwoMLPHead(49 * form["pyramid"], form["box"]),
        "box_predictor": FastRCNNPredictor(form["box"], form["slots"])}
    if form["mask"]:
        settings |= {"mask_roi_pool": MultiScaleRoIAlign(names, 14, 2, canonical_scale=form["side"]),
                     "mask_head": MaskRCNNHeads(form["pyramid"], form["mask"], 1),
                     "mask_predictor": MaskRCNNPredictor(form["mask"][-1], form["up"], form["slots"])}
    network = (MaskRCNN if form["mask"] else FasterRCNN)(backbone, None, **settings)
    network.transform = Given()
    rpn.F = OwnType()
    return network


class OwnType:
    """torchvision's labels are float32, and a loss in double would be rounded by them."""

    def __getattr__(self, name):
        return getattr(torch.nn.functional, name)

    @staticmethod
    def binary_cross_entropy_with_logits(logits, target):
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, target.to(logits.dtype))


def masks_of(runs, starts, height, width):
    """Run lengths, column by column, as pictures of 0 and 1."""
    out = []
    for first, last in zip(starts[:-1], starts[1:]):
        lengths = runs[first:last]
        values = (torch.arange(len(lengths)) % 2).repeat_interleave(lengths)
        out.append(values.reshape(width, height).T)
    return torch.stack(out).to(torch.uint8) if out else torch.zeros((0, height, width), dtype=torch.uint8)


def targets_of(batch):
    targets = []
    for n, labels in enumerate(batch["gt_label"]):
        count = int((labels > 0).sum())
        target = {"boxes": batch["gt_box"][n, :count], "labels": labels[:count]}
        if "mask_runs" in batch:
            height, width = batch["image_size"][n].tolist()
            starts = batch["mask_start"][n, :count + 1].tolist()
            target["masks"] = masks_of(batch["mask_runs"][n], starts, height, width)
        targets.append(target)
    return targets


def sampled_anchors(batch):
    """The sampler of the proposal network: those of the batch, which must be what they are given for."""

    def sample(labels):
        positives, negatives = [], []
        for n, each in enumerate(labels):
            used = batch["rpn_weight"][n] > 0
            for out, value in ((positives, 1), (negatives, 0)):
                chosen = batch["rpn_index"][n][used & (batch["rpn_label"][n] == value)]
                if not bool((each[chosen] == value).all()):
                    sys.exit(f"image {n}: an anchor of the batch is not labelled {value}")
                out.append(torch.zeros_like(each, dtype=torch.bool).index_fill_(0, chosen, True))
        return positives, negatives

    return sample


def smallest(candidates, keys, count):
    """As a mask: the candidates with the smallest (key, index)."""
    indices = torch.where(candidates)[0]
    order = torch.sort(keys[indices], stable=True).indices[:count]
    return torch.zeros_like(candidates).index_fill_(0, indices[order], True)


def sampled_regions(batch, sampler):
    def sample(labels):
        positives, negatives = [], []
        for n, each in enumerate(labels):
            objects = int((batch["gt_label"][n] > 0).sum())
            slots = batch["roi_key"].shape[1] - batch["gt_label"].shape[1]
            keys = torch.cat((batch["roi_key"][n, :len(each) - objects], batch["roi_key"][n, slots:slots + objects]))
            most = int(sampler.batch_size_per_image * sampler.positive_fraction)
            positives.append(smallest(each >= 1, keys, most))
            rest = sampler.batch_size_per_image - int(positives[-1].sum())
            negatives.append(smallest(each == 0, keys, rest))
        return positives, negatives

    return sample


def stepper(network, batch, **form):
    """What a loader prepares is prepared once."""
    network.batch = (ImageList(batch["image"], [tuple(size) for size in batch["image_size"].tolist()]),
                     targets_of(batch))
    network.rpn.fg_bg_sampler = sampled_anchors(batch)
    network.roi_heads.fg_bg_sampler = sampled_regions(batch, network.roi_heads.fg_bg_sampler)
    return training.stepper(sys.modules[__name__], network, batch, **form)


def loss(network, batch):
    images, targets = network.batch
    features = network.backbone(images.tensors)
    proposals, of_proposals = network.rpn(images, features, targets)
    _, of_regions = network.roi_heads(features, proposals, images.image_sizes, targets)
    return sum((of_proposals | of_regions).values())


def optimizer(network, samples, **form):
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    return torch.optim.SGD(trained, lr=0.02 * samples / 16, momentum=0.9, weight_decay=1e-4, **form)


def factor(network, step, samples):
    """From a thousandth up over 1,000 steps; a tenth from 60,000 and 80,000 on."""
    if step < 1000:
        return 0.001 + 0.999 * step / 1000
    return 0.1 ** ((step >= 60000) + (step >= 80000))


if __name__ == "__main__":
    training.main(sys.modules[__name__])
