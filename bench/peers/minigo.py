"""MiniGo's training step in idiomatic eager PyTorch: the residual tower with both heads, SGD (training.py)."""

import sys

import torch
from torch.nn.functional import cross_entropy, mse_loss, relu

import training

# Board, width, blocks, hidden units of the value.
SIZES = {"canonical": (19, 256, 19, 256), "9": (9, 32, 9, 64), "9_mlperf": (9, 64, 9, 64), "tiny": (5, 8, 2, 16)}


def norm(width, affine=True):
    return torch.nn.BatchNorm2d(width, momentum=0.05, affine=affine)


class Stem(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = torch.nn.Conv2d(17, width, 3, padding=1, bias=False)
        self.bn = norm(width)

    def forward(self, x):
        return torch.relu_(self.bn(self.conv(x)))


class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv1, self.bn1 = torch.nn.Conv2d(width, width, 3, padding=1, bias=False), norm(width)
        self.conv2, self.bn2 = torch.nn.Conv2d(width, width, 3, padding=1, bias=False), norm(width)

    def forward(self, x):
        y = torch.relu_(self.bn1(self.conv1(x)))
        return torch.relu_(self.bn2(self.conv2(y)).add_(x))


class Head(torch.nn.Module):
    """1 x 1 convolution and a norm without scale; points in rows, channels last."""

    def __init__(self, width, channels):
        super().__init__()
        self.conv, self.bn = torch.nn.Conv2d(width, channels, 1, bias=False), norm(channels, affine=False)

    def flat(self, x):
        return torch.relu_(self.bn(self.conv(x))).permute(0, 2, 3, 1).flatten(1)


class Policy(Head):
    def __init__(self, width, board):
        super().__init__(width, 2)
        self.fc = torch.nn.Linear(2 * board * board, board * board + 1)

    def forward(self, x):
        return self.fc(self.flat(x))


class Value(Head):
    def __init__(self, width, board, hidden):
        super().__init__(width, 1)
        self.fc1, self.fc2 = torch.nn.Linear(board * board, hidden), torch.nn.Linear(hidden, 1)

    def forward(self, x):
        return torch.tanh(self.fc2(relu(self.fc1(self.flat(x))))).squeeze(1)


class Tower(torch.nn.Module):
    def __init__(self, board, width, blocks, hidden):
        super().__init__()
        self.stem, self.trunk = Stem(width), torch.nn.Sequential(*(Block(width) for _ in range(blocks)))
        self.policy, self.value = Policy(width, board), Value(width, board, hidden)

    def forward(self, planes):
        x = self.trunk(self.stem(planes))
        return self.policy(x), self.value(x)


def build(config="canonical", dropout=True):
    network = Tower(*SIZES[config])
    for name, parameter in network.named_parameters():
        if parameter.dim() > 1:
            torch.nn.init.xavier_uniform_(parameter)
        elif name.endswith("bias"):
            torch.nn.init.zeros_(parameter)
    return network.to(memory_format=torch.channels_last)


def loss(network, batch):
    policy, value = network(batch["x"])
    return cross_entropy(policy, batch["pi"]) + mse_loss(value, batch["z"])


clip = training.no_clip


def optimizer(network, samples, **form):
    """Decay on weights and scales, not on biases."""
    named = list(network.named_parameters())
    decayed = [parameter for name, parameter in named if not name.endswith("bias")]
    rest = [parameter for name, parameter in named if name.endswith("bias")]
    groups = [{"params": decayed, "weight_decay": 1e-4}, {"params": rest, "weight_decay": 0.0}]
    return torch.optim.SGD(groups, lr=0.01, momentum=0.9, **form)


factor = training.constant_rate

if __name__ == "__main__":
    training.main(sys.modules[__name__])
