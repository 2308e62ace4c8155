"""ResNet-50 training in idiomatic eager PyTorch: torchvision's model, SGD with momentum and decay (training.py)."""

import sys

import torch
import torchvision
from torch import nn
from torchvision.models.resnet import Bottleneck

import training

clip, optimizer, factor = training.no_clip, training.momentum_sgd, training.constant_rate


class Small(torchvision.models.ResNet):
    """One block a stage, an eighth of the channels, 12 classes."""

    def __init__(self):
        super().__init__(Bottleneck, [1, 1, 1, 1], num_classes=12)
        self.inplanes = 8
        self.conv1, self.bn1 = nn.Conv2d(3, 8, 7, stride=2, padding=3, bias=False), nn.BatchNorm2d(8)
        self.layer1 = self._make_layer(Bottleneck, 8, 1)
        self.layer2, self.layer3, self.layer4 = (self._make_layer(Bottleneck, width, 1, 2) for width in (16, 32, 64))
        self.fc = nn.Linear(256, 12)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):  # as the class does with its own
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def build(config="canonical", dropout=True):
    network = Small() if config == "small" else torchvision.models.resnet50()
    return network.to(memory_format=torch.channels_last)


def loss(network, batch):
    return torch.nn.functional.cross_entropy(network(batch["image"]), batch["label"])


if __name__ == "__main__":
    training.main(sys.modules[__name__])
