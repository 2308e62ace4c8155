"""Inception-v3 training in idiomatic eager PyTorch: torchvision's model, SGD with momentum and decay (training.py)."""

import sys

import torch
import torchvision

import training

clip, optimizer, factor = training.no_clip, training.momentum_sgd, training.constant_rate


def build(config="canonical", dropout=True):
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
