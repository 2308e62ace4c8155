"""Mask R-CNN training in idiomatic eager PyTorch: torchvision's detector, SGD with momentum (training.py).

Pictures come resized and padded, and which anchors and regions train is the batch's to say, so torchvision's transform
and samplers are replaced; its other parts are as they are. faster_c4 has no class in torchvision: it is FasterRCNN with
a proposal head of 512 channels, on one map.
"""

import sys

import torch
import torch.nn.functional
from torchvision.models import resnet
from torchvision.models._utils import IntermediateLayerGetter
from torchvision.models.detection import FasterRCNN, MaskRCNN, rpn
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.backbone_utils import BackboneWithFPN
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.image_list import ImageList
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.ops import Conv2dNormActivation, MultiScaleRoIAlign, misc

import training
from detection_batch import GivenCodes, sampled_anchors, sampled_regions, targets_of

clip = training.no_clip
CANONICAL = {"blocks": (3, 4, 6, 3), "width": 64, "pyramid": 256, "sizes": (32, 64, 128, 256, 512), "slots": 91,
             "before": 2000, "after": 2000, "before_evaluated": 1000, "after_evaluated": 1000, "anchors": 256,
             "regions": 512, "box": 1024, "mask": (256,) * 4, "up": 256, "side": 224, "rate": 0.02 / 16,
             "warm": 1000, "falls": (60000, 80000)}
TINY = {"blocks": (1, 1, 1, 1), "width": 8, "pyramid": 16, "sizes": (8, 16, 32, 64, 128), "slots": 4, "before": 32,
        "after": 128, "before_evaluated": 16, "after_evaluated": 64, "anchors": 32, "regions": 32,
        "box": 32, "mask": (16, 16), "up": 16, "side": 32}
C4 = CANONICAL | {"blocks": (3, 4, 23, 3), "sizes": (128, 256, 512), "slots": 21, "regions": 128, "mask": (),
                   "rate": 1e-3, "warm": 0, "falls": (50000,)}
CONFIGS = {"r101": {"blocks": (3, 4, 23, 3)}, "slots81": {"slots": 81}, "faster": {"mask": ()}, "tiny": TINY,
           "faster_tiny": TINY | {"mask": ()}, "faster_c4": C4}
RATIOS = (0.5, 1.0, 2.0)
TERMS = {"loss_objectness": "rpn_cls", "loss_rpn_box_reg": "rpn_box", "loss_classifier": "roi_cls",
         "loss_box_reg": "roi_box", "loss_mask": "mask"}


class Body(resnet.ResNet):
    """torchvision's ResNet of any width, with frozen norms; its stem and first stage are not trained."""

    def __init__(self, blocks, width):
        torch.nn.Module.__init__(self)
        self._norm_layer, self.inplanes, self.dilation = misc.FrozenBatchNorm2d, width, 1
        self.groups, self.base_width = 1, 64
        self.conv1 = torch.nn.Conv2d(3, width, 7, stride=2, padding=3, bias=False)
        self.bn1, self.relu = misc.FrozenBatchNorm2d(width), torch.nn.ReLU(inplace=True)
        self.maxpool = torch.nn.MaxPool2d(3, stride=2, padding=1)
        for stage, count in enumerate(blocks):
            layer = self._make_layer(resnet.Bottleneck, width << stage, count, stride=1 if stage == 0 else 2)
            setattr(self, f"layer{stage + 1}", layer)
        for module in self.modules():
            if isinstance(module, torch.nn.Conv2d):
                torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if isinstance(module, resnet.Bottleneck):  # norms that do not learn would let a sum of blocks grow
                module.bn3.weight.fill_(sum(blocks) ** -0.5)
        for name, parameter in self.named_parameters():
            parameter.requires_grad_(name.startswith(("layer2", "layer3", "layer4")))


class Given(torch.nn.Module):
    """In place of the transform: pictures that are padded already."""

    def __init__(self):
        super().__init__()
        self.sizes = []  # of what is picture in each

    def forward(self, images, targets=None):
        return ImageList(images, self.sizes), targets

    def postprocess(self, detections, image_sizes, original):
        return detections


class ProposalHead(rpn.RPNHead):
    """torchvision's, with a width of its own between."""

    def __init__(self, channels, width, anchors):
        super().__init__(width, anchors)
        self.conv = torch.nn.Sequential(Conv2dNormActivation(channels, width, kernel_size=3, norm_layer=None))


class LastStage(torch.nn.Module):
    """What a ResNet has behind its third stage reads each region."""

    def __init__(self, stage):
        super().__init__()
        self.layer4 = stage

    def forward(self, x):
        return self.layer4(x).mean((2, 3))


def settings_of(form):
    return {"rpn_pre_nms_top_n_train": form["before"], "rpn_post_nms_top_n_train": form["after"],
            "rpn_pre_nms_top_n_test": form["before_evaluated"], "rpn_post_nms_top_n_test": form["after_evaluated"],
            "rpn_batch_size_per_image": form["anchors"], "box_batch_size_per_image": form["regions"]}


def pyramid_detector(form):
    width, names = form["width"], ["0", "1", "2", "3"]
    maps = {f"layer{stage + 1}": names[stage] for stage in range(4)}
    backbone = BackboneWithFPN(Body(form["blocks"], width), maps, [4 * width << stage for stage in range(4)],
                               form["pyramid"])
    settings = settings_of(form) | {
        "rpn_anchor_generator": AnchorGenerator(tuple((size,) for size in form["sizes"]), (RATIOS,) * 5),
        "box_roi_pool": MultiScaleRoIAlign(names, 7, 2, canonical_scale=form["side"]),
        "box_head": TwoMLPHead(49 * form["pyramid"], form["box"]),
        "box_predictor": FastRCNNPredictor(form["box"], form["slots"])}
    if not form["mask"]:
        return FasterRCNN(backbone, None, **settings)
    settings |= {"mask_roi_pool": MultiScaleRoIAlign(names, 14, 2, canonical_scale=form["side"]),
                 "mask_head": MaskRCNNHeads(form["pyramid"], form["mask"], 1),
                 "mask_predictor": MaskRCNNPredictor(form["mask"][-1], form["up"], form["slots"])}
    return MaskRCNN(backbone, None, **settings)


def c4_detector(form):
    whole = Body(form["blocks"], form["width"])
    backbone = torch.nn.Sequential()
    backbone.body = IntermediateLayerGetter(whole, {"layer3": "0"})
    backbone.out_channels = 1024
    return FasterRCNN(backbone, None, rpn_anchor_generator=AnchorGenerator((form["sizes"],), (RATIOS,)),
                      rpn_head=ProposalHead(1024, 512, 9), box_roi_pool=MultiScaleRoIAlign(["0"], 14, 2),
                      box_head=LastStage(whole.layer4), box_predictor=FastRCNNPredictor(2048, form["slots"]),
                      **settings_of(form))


def build(config="canonical", dropout=True):
    form = CANONICAL | CONFIGS.get(config, {})
    network = c4_detector(form) if config == "faster_c4" else pyramid_detector(form)
    network.transform, network.form = Given(), form
    return network.to(memory_format=torch.channels_last)


class OwnType:
    """torch.nn.functional; torchvision's labels are float32, and a loss in double would be rounded by them."""

    def __getattr__(self, name):
        return getattr(torch.nn.functional, name)

    @staticmethod
    def binary_cross_entropy_with_logits(logits, target):
        return torch.nn.functional.binary_cross_entropy_with_logits(logits, target.to(logits.dtype))


def exact(network):
    rpn.F = OwnType()
    network.rpn.box_coder = None  # until the batch is known
    return network.double()


def stepper(network, batch, *settings, **form):
    """What a loader prepares is prepared once."""
    network.targets = targets_of(batch)
    network.transform.sizes = [tuple(size) for size in batch["image_size"].tolist()]
    network.rpn.fg_bg_sampler = sampled_anchors(batch)
    network.roi_heads.fg_bg_sampler = sampled_regions(batch, network.roi_heads.fg_bg_sampler)
    network.rpn.box_coder = network.rpn.box_coder or GivenCodes(batch)
    return training.stepper(sys.modules[__name__], network, batch, *settings, **form)


def loss(network, batch):
    return sum(network(batch["image"], network.targets).values())


def reference_loss(network, batch):
    losses = network(batch["image"], network.targets)
    network.terms = {TERMS[name]: value for name, value in losses.items()}
    return sum(losses.values())


def optimizer(network, samples, **form):
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    rate = network.form["rate"] * samples
    return torch.optim.SGD(trained, lr=rate, momentum=0.9, weight_decay=1e-4, **form)


def factor(network, step, samples):
    """From a thousandth up while it warms; a tenth from each fall on."""
    if step < network.form["warm"]:
        return 0.001 + 0.999 * step / network.form["warm"]
    return 0.1 ** sum(step >= fall for fall in network.form["falls"])


if __name__ == "__main__":
    training.main(sys.modules[__name__])
