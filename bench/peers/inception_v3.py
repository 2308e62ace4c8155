"""Inception-v3 training in idiomatic eager PyTorch: torchvision's model, SGD with momentum and decay (training.py)."""

import functools
import sys

import torch
import torchvision
from torchvision.models import inception

import training

clip, optimizer, factor = training.no_clip, training.momentum_sgd, training.constant_rate


def narrow(inputs, outputs, **window):
    """An eighth of the channels but of an image's."""
    return inception.BasicConv2d(inputs if inputs == 3 else inputs // 8, outputs // 8, **window)


def small():
    """An eighth of the channels, 12 classes, the class's own initial values."""
    blocks = (inception.InceptionA, inception.InceptionB, inception.InceptionC, inception.InceptionD,
              inception.InceptionE, inception.InceptionAux)
    network = inception.Inception3(12, aux_logits=False, init_weights=True, inception_blocks=[
        narrow, *(functools.partial(block, conv_block=narrow) for block in blocks)])
    network.fc = torch.nn.Linear(256, 12)
    torch.nn.init.trunc_normal_(network.fc.weight, std=0.1, a=-2, b=2)
    return network


def build(config="canonical", dropout=True):
    if config == "small":
        return small().to(memory_format=torch.channels_last)
    network = torchvision.models.inception_v3(aux_logits=config == "aux", transform_input=False, init_weights=False,
                                              dropout=0.5 if dropout else 0.0)
    return network.to(memory_format=torch.channels_last)


def loss(network, batch):
    out = network(batch["image"])
    if isinstance(out, torch.Tensor):
        return torch.nn.functional.cross_entropy(out, batch["label"])
    cross_entropy = torch.nn.functional.cross_entropy
    return cross_entropy(out.logits, batch["label"]) + 0.4 * cross_entropy(out.aux_logits, batch["label"])


if __name__ == "__main__":
    training.main(sys.modules[__name__])
