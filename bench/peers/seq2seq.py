"""Seq2seq training in idiomatic eager PyTorch: this project's own modules, Adam, clipping (training.py)."""

import sys

import torch

import training
from gnmt import Gnmt
from luong import Luong

SIZES = {
    "canonical": (Luong, {}),
    "nodrop": (Luong, {"dropout": 0.0}),
    "small": (Luong, {"width": 64, "source_words": 2000, "target_words": 2000}),
    "tiny": (Luong, {"width": 16, "source_words": 67, "target_words": 61}),
    "gnmt_v2": (Gnmt, {}),
    "gnmt_v2_tiny": (Gnmt, {"width": 16, "words": 64}),
}


def build(config="canonical", dropout=True):
    network, sizes = SIZES[config]
    return network(**sizes if dropout else {**sizes, "dropout": 0.0})


def loss(network, batch):
    """Of fairseq a mean over words, of GNMT a sum over words, a mean over sentences."""
    logits, labels = network(batch), batch["tgt_out"]
    if network.smoothing == 0:
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=network.pad)
    total = torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=network.pad,
                                              reduction="sum", label_smoothing=network.smoothing)
    return total / len(labels)


def clip(network):
    return 5.0 if isinstance(network, Gnmt) else 1.0


def optimizer(network, samples, **form):
    return torch.optim.Adam(network.parameters(), lr=2e-3 if isinstance(network, Gnmt) else 3e-4, **form)


def factor(network, step, samples):
    """GNMT's warm-up of 200 steps; its decay begins after 17,578."""
    return 0.01 ** ((200 - step) / 200) if isinstance(network, Gnmt) and step <= 200 else 1.0


if __name__ == "__main__":
    training.main(sys.modules[__name__])
