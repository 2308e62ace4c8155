"""ResNet-50 training in idiomatic eager PyTorch: torchvision's model, SGD with momentum and decay (training.py)."""

import sys

import torch
import torchvision

import training

def clip(network):
    return None


def build(config="canonical", dropout=True):
    return torchvision.models.resnet50().to(memory_format=torch.channels_last)


def loss(network, batch):
    return torch.nn.functional.cross_entropy(network(batch["image"]), batch["label"])


def optimizer(network, samples, **form):
    return torch.optim.SGD(network.parameters(), lr=0.1 * samples / 256, momentum=0.9, weight_decay=1e-4, **form)


def factor(network, step, samples):
    return 1.0


if __name__ == "__main__":
    training.main(sys.modules[__name__])
