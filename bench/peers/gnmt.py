"""GNMT: this project's own PyTorch program of the arithmetic and the state_dict names of NVIDIA's published one, with
torch's fused LSTMs. The published program is no package; this one is no proof of equality with it.
"""

import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

PAD = 0


def lstm(inputs, width, **settings):
    return nn.LSTM(inputs, width, batch_first=True, **settings)


class Encoder(nn.Module):
    def __init__(self, words, width, dropout):
        super().__init__()
        self.embedder = nn.Embedding(words, width, PAD)
        self.rnn_layers = nn.ModuleList([lstm(width, width, bidirectional=True), lstm(2 * width, width),
                                         lstm(width, width), lstm(width, width)])
        self.dropout = nn.Dropout(dropout)

    def forward(self, src, lengths):
        x = self.dropout(self.embedder(src))
        packed = pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)
        x = pad_packed_sequence(self.rnn_layers[0](packed)[0], batch_first=True, total_length=src.shape[1])[0]
        x = self.rnn_layers[1](self.dropout(x))[0]
        for layer in self.rnn_layers[2:]:
            x = layer(self.dropout(x))[0] + x
        return x


class Attention(nn.Module):
    """Normalised additive attention of all target words at once."""

    def __init__(self, width):
        super().__init__()
        self.linear_q = nn.Linear(width, width, bias=False)
        self.linear_k = nn.Linear(width, width, bias=False)
        self.linear_att = nn.Parameter(torch.empty(width).uniform_(-0.1, 0.1))
        self.normalize_scalar = nn.Parameter(torch.full((1,), width**-0.5))
        self.normalize_bias = nn.Parameter(torch.zeros(width))

    def forward(self, query, memory, mask):
        sums = self.linear_q(query).unsqueeze(2) + self.linear_k(memory).unsqueeze(1) + self.normalize_bias
        unit = self.linear_att / self.linear_att.norm() * self.normalize_scalar
        scores = torch.tanh(sums).matmul(unit.to(sums.dtype))
        return torch.bmm(scores.masked_fill(mask.unsqueeze(1), -65504.0).softmax(2), memory)


class Decoder(nn.Module):
    def __init__(self, embedder, words, width, dropout):
        super().__init__()
        self.embedder = embedder
        self.att_rnn = nn.ModuleDict({"rnn": lstm(width, width), "attn": Attention(width)})
        self.rnn_layers = nn.ModuleList([lstm(2 * width, width) for _ in range(3)])
        self.classifier = nn.ModuleDict({"classifier": nn.Linear(width, words)})
        self.dropout = nn.Dropout(dropout)

    def forward(self, tgt, memory, mask):
        x = self.att_rnn["rnn"](self.dropout(self.embedder(tgt)))[0]
        context = self.att_rnn["attn"](x, memory, mask)
        for index, layer in enumerate(self.rnn_layers):
            y = layer(torch.cat((self.dropout(x), self.dropout(context)), 2))[0]
            x = y if index == 0 else y + x
        return self.classifier["classifier"](x)


class Gnmt(nn.Module):
    smoothing = 0.1
    pad = PAD

    def __init__(self, width=1024, words=32320, dropout=0.2):
        super().__init__()
        self.encoder = Encoder(words, width, dropout)
        self.decoder = Decoder(self.encoder.embedder, words, width, dropout)

    def forward(self, batch):
        memory = self.encoder(batch["src"], batch["src_len"])
        return self.decoder(batch["tgt_in"], memory, batch["src"] == PAD)
