"""ResNet-50 training in idiomatic eager PyTorch: torchvision's model, SGD with momentum and decay (training.py)."""

import sys

import torch
import torchvision

import training

clip, optimizer, factor = training.no_clip, training.momentum_sgd, training.constant_rate


def build(config="canonical", dropout=True):
    return torchvision.models.resnet50().to(memory_format=torch.channels_last)


def loss(network, batch):
    return torch.nn.functional.cross_entropy(network(batch["image"]), batch["label"])


if __name__ == "__main__":
    training.main(sys.modules[__name__])
