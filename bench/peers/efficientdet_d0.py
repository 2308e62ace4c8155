"""EfficientDet training in idiomatic eager PyTorch: effdet's networks and loss, SGD with momentum (training.py)."""

import math
import sys

import effdet
import effdet.efficientdet
import timm
import timm.utils
import torch
from effdet.config import get_efficientdet_config, set_config_writeable
from timm.models.efficientnet import _gen_efficientnet

import training

LEVELS = range(3, 8)
NAMES = {"canonical": "tf_efficientdet_d0", "d1": "tf_efficientdet_d1", "d2": "tf_efficientdet_d2",
         "d3": "tf_efficientdet_d3", "sym": "efficientdet_d0"}
TINY = {"image_size": (128, 128), "fpn_channels": 24, "fpn_cell_repeats": 1, "box_class_repeats": 1, "num_classes": 5}
SETTINGS = {"tiny": TINY, "tiny2": TINY, "small": TINY | {"fpn_channels": 48, "anchor_scale": 3.0}}
WIDTHS_AND_DEPTHS = {"tiny": (0.25, 0.25), "tiny2": (0.25, 0.5), "small": (0.5, 0.25)}
TRAINING_IMAGES = 118287


def backbone_of(config):
    """What makes the backbone: of effdet's own choice, or with fewer channels."""
    if config not in WIDTHS_AND_DEPTHS:
        return timm.create_model
    width, depth = WIDTHS_AND_DEPTHS[config]

    def narrow(name, pretrained, **form):
        form |= {"pad_type": "same", "bn_eps": 1e-3}
        return _gen_efficientnet(name, channel_multiplier=width, depth_multiplier=depth, **form)

    return narrow


def build(config="canonical", dropout=True):
    settings = get_efficientdet_config(NAMES.get(config, NAMES["canonical"]))
    set_config_writeable(settings)
    settings.backbone_args = {"drop_path_rate": 0.2 if dropout else 0.0}
    if config in SETTINGS:
        settings.update(SETTINGS[config])
    effdet.efficientdet.create_model = backbone_of(config)
    network = effdet.EfficientDet(settings, pretrained_backbone=False)
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.eps, module.momentum = 1e-3, 0.01
    return network.to(memory_format=torch.channels_last)


def targets_of(batch):
    classes = [batch[f"cls_t.{level}"] for level in LEVELS]
    return classes, [batch[f"box_t.{level}"] for level in LEVELS], sum((each >= 0).sum() for each in classes)


def loss(network, batch):
    """effdet's own, in float32 whatever the network's type."""
    classes, boxes = network(batch["image"])
    return effdet.loss.DetectionLoss(network.config)(classes, boxes, *targets_of(batch))[0]


def reference_loss(network, batch):
    """effdet's formulas in the network's type: effdet's function casts the outputs to float32."""
    all_classes, all_boxes = network(batch["image"])
    network.terms = {"cls": 0.0, "box": 0.0}
    for logits, boxes, classes, codes in zip(all_classes, all_boxes, *targets_of(batch)[:2], strict=True):
        logits = logits.permute(0, 2, 3, 1).reshape(*classes.shape, -1)
        onehot = (classes.unsqueeze(-1) == torch.arange(logits.shape[-1])).to(logits.dtype)
        focal = effdet.loss.new_focal_loss(logits, onehot, network.config.alpha, network.config.gamma, 1.0, 0.0)
        counted = (codes != 0).to(codes.dtype)
        huber = effdet.loss.huber_loss(boxes.permute(0, 2, 3, 1), codes, network.config.delta, counted, False)
        kept = (focal * (classes != -2).unsqueeze(-1)).sum()
        network.terms["cls"] += kept * batch["norm/cls"]
        network.terms["box"] += huber * batch["norm/box"]
    return sum(network.terms.values())


def optimizer(network, samples, **form):
    """Decay on filters alone."""
    filters = [each for each in network.parameters() if each.dim() == 4]
    rest = [each for each in network.parameters() if each.dim() != 4]
    groups = [{"params": filters, "weight_decay": 4e-5}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=0.08 * samples / 64, momentum=0.9, **form)


def clip(network):
    return 10.0


def averages(network, steps):
    """Of weights and running statistics, which are evaluated: over a twentieth of the steps, and 5,000 at most."""
    return timm.utils.ModelEmaV3(network, decay=min(0.9998, 1 - 20 / steps))


def factor(network, step, samples):
    """From a tenth up over an epoch, then along a cosine to 0 at 300."""
    warm, total = math.ceil(TRAINING_IMAGES / samples), math.ceil(300 * TRAINING_IMAGES / samples)
    if step < warm:
        return 0.1 + 0.9 * step / warm
    return 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


if __name__ == "__main__":
    training.main(sys.modules[__name__])
