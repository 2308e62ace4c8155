"""Transformer training in idiomatic eager PyTorch: this project's own modules of the arithmetic and the state_dict
names of fairseq's `transformer` (step_against_reference.py holds them against it), fused attention, Adam (training.py).
"""

import math
import sys

import torch
from torch import nn
from torch.nn import functional

import training

PAD = 1
TINY = {"layers": 2, "width": 32, "hidden": 64, "heads": 4, "words": 96}
SMALL = {"layers": 2, "width": 128, "hidden": 512, "heads": 4, "words": 2000}
SIZES = {"canonical": {}, "base": {}, "big": {"width": 1024, "hidden": 4096, "heads": 16}, "tiny": TINY, "small": SMALL}


def sinusoids(positions, width):
    """Row p: sines, then cosines, of p w_j, w_j = 10000^(-j / (width / 2 - 1)); row of padding 0. In double."""
    rates = torch.exp(torch.arange(width // 2, dtype=torch.double) * -(math.log(10000) / (width // 2 - 1)))
    angles = torch.arange(positions, dtype=torch.double).unsqueeze(1) * rates
    table = torch.cat((angles.sin(), angles.cos()), 1)
    table[PAD] = 0
    return table


class Attention(nn.Module):
    def __init__(self, width, heads, dropout):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(width, width) for _ in range(4))
        self.heads, self.dropout = heads, dropout
        for projection in (self.q_proj, self.k_proj, self.v_proj):  # initial values of fairseq's MultiheadAttention
            nn.init.xavier_uniform_(projection.weight, gain=0.5**0.5)
        nn.init.xavier_uniform_(self.out_proj.weight)
        nn.init.zeros_(self.out_proj.bias)

    def split(self, x):
        return x.unflatten(2, (self.heads, -1)).transpose(1, 2)

    def forward(self, x, memory, **mask):
        q, k, v = (self.split(y) for y in (self.q_proj(x), self.k_proj(memory), self.v_proj(memory)))
        y = functional.scaled_dot_product_attention(q, k, v, dropout_p=self.dropout if self.training else 0.0, **mask)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, width, hidden, heads, dropout, crossed):
        super().__init__()
        self.self_attn = Attention(width, heads, dropout)
        self.self_attn_layer_norm = nn.LayerNorm(width)
        if crossed:
            self.encoder_attn = Attention(width, heads, dropout)
            self.encoder_attn_layer_norm = nn.LayerNorm(width)
        self.fc1, self.fc2 = nn.Linear(width, hidden), nn.Linear(hidden, width)
        self.final_layer_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x, own, memory=None, other=None):
        y = self.self_attn_layer_norm(x)
        x = x + self.dropout(self.self_attn(y, y, **own))
        if memory is not None:
            x = x + self.dropout(self.encoder_attn(self.encoder_attn_layer_norm(x), memory, **other))
        return x + self.dropout(self.fc2(self.dropout(functional.relu(self.fc1(self.final_layer_norm(x))))))


class Stack(nn.Module):
    def __init__(self, embed_tokens, layers, width, hidden, heads, dropout, crossed):
        super().__init__()
        self.embed_tokens = embed_tokens
        self.layers = nn.ModuleList([Layer(width, hidden, heads, dropout, crossed) for _ in range(layers)])
        self.layer_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("positions", sinusoids(1024, width).float(), persistent=False)

    def forward(self, ids, *masks):
        valid = ids != PAD
        places = torch.arange(PAD + 1, PAD + 1 + ids.shape[1]) * valid + PAD * ~valid
        x = math.sqrt(self.positions.shape[1]) * self.embed_tokens(ids) + self.positions[places]
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, *masks)
        return self.layer_norm(x)


class Transformer(nn.Module):
    def __init__(self, layers=6, width=512, hidden=2048, heads=8, words=33708, dropout=0.1):
        super().__init__()
        table = nn.Embedding(words, width, PAD)
        nn.init.normal_(table.weight, std=width**-0.5)
        nn.init.zeros_(table.weight[PAD])
        self.encoder, self.decoder = (
            Stack(table, layers, width, hidden, heads, dropout, crossed) for crossed in (False, True))

    def exact(self):
        """In double, positions too."""
        for stack in (self.encoder, self.decoder):
            stack.positions = sinusoids(*stack.positions.shape)
        return self.double()

    def forward(self, batch):
        mask = {"attn_mask": (batch["src"] != PAD)[:, None, None]}
        memory = self.encoder(batch["src"], mask)
        x = self.decoder(batch["tgt_in"], {"is_causal": True}, memory, mask)
        return functional.linear(x, self.encoder.embed_tokens.weight)


def build(config="canonical", dropout=True):
    return Transformer(**SIZES[config], dropout=0.1 if dropout else 0.0)


def loss(network, batch):
    """0.9 on the label, 0.1 shared by the others: torch shares it by all, so a little more of it."""
    logits = network(batch)
    smoothing = 0.1 * logits.shape[2] / (logits.shape[2] - 1)
    return functional.cross_entropy(logits.flatten(0, 1), batch["tgt_out"].flatten(), ignore_index=PAD,
                                    label_smoothing=smoothing)


clip = training.no_clip


def optimizer(network, samples, **form):
    width = network.encoder.embed_tokens.weight.shape[1]
    return torch.optim.Adam(network.parameters(), lr=width**-0.5, betas=(0.9, 0.98), eps=1e-9, **form)


def factor(network, step, samples):
    return min(step**-0.5, step * 16000**-1.5)


if __name__ == "__main__":
    training.main(sys.modules[__name__])
