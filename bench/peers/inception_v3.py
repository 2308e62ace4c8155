"""Inception-v3 training in idiomatic eager PyTorch: torchvision's model, SGD with momentum and decay (training.py)."""

import sys

import torch
import torchvision

import training

def clip(network):
    return None


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


def optimizer(network, samples, **form):
    return torch.optim.SGD(network.parameters(), lr=0.1 * samples / 256, momentum=0.9, weight_decay=1e-4, **form)


def factor(network, step, samples):
    return 1.0


if __name__ == "__main__":
    training.main(sys.modules[__name__])
