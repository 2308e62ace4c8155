"""Deep Speech 2 in idiomatic eager PyTorch: masked convolutions, packed bidirectional layers, CTC (training.py).

Of the form and names of SeanNaren/deepspeech.pytorch, written anew.
"""

import sys

import torch
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

import training

LSTM, GRU = torch.nn.LSTM, torch.nn.GRU
# Cell, layers, hidden units, whether directions are added, channels of the convolutions.
SIZES = {"canonical": (LSTM, 5, 1024, True, 32), "adamw": (LSTM, 5, 1024, True, 32),
         "small": (GRU, 1, 96, True, 4), "gru800": (GRU, 5, 800, False, 32),
         "gru2560": (GRU, 3, 2560, True, 32), "lstm768": (LSTM, 5, 768, True, 32), "tiny": (LSTM, 2, 24, True, 4),
         "gru_tiny": (GRU, 2, 24, False, 4)}
CLASSES, BINS = 29, 161


class MaskedConvolutions(torch.nn.Module):
    """After each layer what lies beyond a sample's length is 0."""

    def __init__(self, channels):
        super().__init__()
        self.seq_module = torch.nn.Sequential(
            torch.nn.Conv2d(1, channels, (41, 11), stride=(2, 2), padding=(20, 5)), torch.nn.BatchNorm2d(channels),
            torch.nn.Hardtanh(0, 20, inplace=True),
            torch.nn.Conv2d(channels, channels, (21, 11), stride=(2, 1), padding=(10, 5)),
            torch.nn.BatchNorm2d(channels), torch.nn.Hardtanh(0, 20, inplace=True))

    def forward(self, x, lengths):
        beyond = None
        for module in self.seq_module:
            x = module(x)
            if beyond is None:
                beyond = torch.arange(x.size(3)) >= lengths[:, None, None, None]
            x = x.masked_fill(beyond, 0)
        return x


class Rows(torch.nn.Module):
    """A norm over all steps of all samples, padding included."""

    def __init__(self, width):
        super().__init__()
        self.module = torch.nn.BatchNorm1d(width)

    def forward(self, x):
        return self.module(x.flatten(0, 1)).view_as(x)


class Layer(torch.nn.Module):
    def __init__(self, cell, width, hidden, add, norm):
        super().__init__()
        self.batch_norm = Rows(width) if norm else None
        self.rnn, self.add = cell(width, hidden, bidirectional=True, batch_first=True), add

    def forward(self, x, lengths):
        if self.batch_norm is not None:
            x = self.batch_norm(x)
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        y, _ = pad_packed_sequence(self.rnn(packed)[0], batch_first=True, total_length=x.size(1))
        return y.unflatten(2, (2, -1)).sum(2) if self.add else y


class DeepSpeech(torch.nn.Module):
    def __init__(self, cell, layers, hidden, add, channels):
        super().__init__()
        self.conv, out = MaskedConvolutions(channels), hidden if add else 2 * hidden
        bins = ((BINS - 1) // 2 + 1 - 1) // 2 + 1
        self.rnns = torch.nn.ModuleList(
            Layer(cell, out if i else channels * bins, hidden, add, norm=i > 0) for i in range(layers))
        last = torch.nn.Sequential(torch.nn.BatchNorm1d(out), torch.nn.Linear(out, CLASSES, bias=False))
        self.fc = torch.nn.ModuleList([torch.nn.ModuleDict({"module": last})])

    def forward(self, spect, lengths):
        x = self.conv(spect, lengths).permute(0, 3, 1, 2).flatten(2)
        for layer in self.rnns:
            x = layer(x, lengths)
        return self.fc[0]["module"](x.flatten(0, 1)).unflatten(0, x.shape[:2])


def build(config="canonical", dropout=True):
    network = DeepSpeech(*SIZES[config])
    network.adamw = config in ("adamw", "small")
    return network


def steps_of(batch):
    return (batch["frames"] - 1) // 2 + 1


def loss(network, batch):
    lengths = steps_of(batch)
    steps = network(batch["spect"], lengths).log_softmax(-1).transpose(0, 1)
    return torch.nn.functional.ctc_loss(steps, batch["labels"], lengths, batch["label_len"], reduction="sum",
                                        zero_infinity=True) / len(lengths)


def clip(network):
    return 400.0


def optimizer(network, samples, **form):
    if network.adamw:
        return torch.optim.AdamW(network.parameters(), lr=1.5e-4, weight_decay=1e-5, **form)
    return torch.optim.SGD(network.parameters(), lr=3e-4, momentum=0.9, nesterov=True, weight_decay=1e-5, **form)


factor = training.constant_rate  # within the first epoch

if __name__ == "__main__":
    training.main(sys.modules[__name__])
