"""Transformer training through Gluon; the network is this project's own program (gluon_training.py).

Layer norms before the sub-layers, one embedding for words of both languages and logits, attention of two batched
products.
"""

import math

import gluon_training
import mxnet as mx
import numpy
from mxnet import gluon
from mxnet.gluon import nn

PAD, WORDS, WIDTH, HIDDEN, HEADS, LAYERS, DROPOUT = 1, 33708, 512, 2048, 8, 6, 0.1


def sinusoids(length):
    rates = numpy.exp(numpy.arange(WIDTH // 2) * -(math.log(10000) / (WIDTH // 2 - 1)))
    angles = numpy.arange(PAD + 1, PAD + 1 + length)[:, None] * rates
    return numpy.concatenate((numpy.sin(angles), numpy.cos(angles)), 1).astype(numpy.float32)


class Attention(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Dense(WIDTH, flatten=False) for _ in range(4))
        self.dropout = nn.Dropout(DROPOUT)

    def heads(self, F, x):
        return F.reshape(F.transpose(F.reshape(x, (0, 0, HEADS, -1)), (0, 2, 1, 3)), (-3, 0, 0))

    def hybrid_forward(self, F, x, memory, mask):
        q, k, v = (self.heads(F, y) for y in (self.query(x), self.key(memory), self.value(memory)))
        scores = F.batch_dot(q, k, transpose_b=True) * (WIDTH // HEADS) ** -0.5
        scores = F.broadcast_add(F.reshape(scores, (-4, -1, HEADS, 0, 0)), mask)
        y = F.batch_dot(self.dropout(F.reshape(F.softmax(scores), (-3, 0, 0))), v)
        y = F.transpose(F.reshape(y, (-4, -1, HEADS, 0, 0)), (0, 2, 1, 3))
        return self.out(F.reshape(y, (0, 0, -3)))


class Layer(gluon.HybridBlock):
    """Of the encoder; with `crossed` of the decoder."""

    def __init__(self, crossed):
        super().__init__()
        self.own, self.own_norm = Attention(), nn.LayerNorm(epsilon=1e-5)
        self.other, self.other_norm = (Attention(), nn.LayerNorm(epsilon=1e-5)) if crossed else (None, None)
        self.norm, self.dropout = nn.LayerNorm(epsilon=1e-5), nn.Dropout(DROPOUT)
        self.inner, self.outer = nn.Dense(HIDDEN, "relu", flatten=False), nn.Dense(WIDTH, flatten=False)

    def hybrid_forward(self, F, x, own_mask, memory=None, mask=None):
        y = self.own_norm(x)
        x = x + self.dropout(self.own(y, y, own_mask))
        if self.other is not None:
            x = x + self.dropout(self.other(self.other_norm(x), memory, mask))
        return x + self.dropout(self.outer(self.dropout(self.inner(self.norm(x)))))


class Loss(gluon.HybridBlock):
    """Of source ids, target ids and labels; positions and the mask of later words are constants."""

    def __init__(self, source, target):
        super().__init__()
        self.table = self.params.get("table", shape=(WORDS, WIDTH), init=mx.init.Normal(WIDTH**-0.5))
        self.places = self.params.get_constant("places", sinusoids(max(source, target)))
        later = numpy.triu(numpy.full((1, 1, target, target), -1e4, numpy.float32), 1)
        self.later, self.source, self.target = self.params.get_constant("later", later), source, target
        self.encoder, self.decoder = nn.HybridSequential(), nn.HybridSequential()
        for _ in range(LAYERS):
            self.encoder.add(Layer(False))
            self.decoder.add(Layer(True))
        self.first_norm, self.last_norm = nn.LayerNorm(epsilon=1e-5), nn.LayerNorm(epsilon=1e-5)
        self.dropout = nn.Dropout(DROPOUT)

    def embedded(self, F, ids, table, places, length):
        x = F.Embedding(ids, table, input_dim=WORDS, output_dim=WIDTH) * math.sqrt(WIDTH)
        places = F.expand_dims(F.slice_axis(places, axis=0, begin=0, end=length), 0)
        return self.dropout(x + F.broadcast_mul(F.expand_dims(ids != PAD, 2), places))

    def hybrid_forward(self, F, src, tgt, labels, table, places, later):
        mask = F.reshape((src == PAD) * -1e4, (0, 1, 1, -1))
        x = self.embedded(F, src, table, places, self.source)
        for layer in self.encoder:
            x = layer(x, mask)
        memory, x = self.first_norm(x), self.embedded(F, tgt, table, places, self.target)
        for layer in self.decoder:
            x = layer(x, later, memory, mask)
        logs = F.log_softmax(F.dot(F.reshape(self.last_norm(x), (-3, 0)), table, transpose_b=True))
        labels, share = F.reshape(labels, (-1,)), 0.1 / (WORDS - 1)
        each = -(0.9 - share) * F.pick(logs, labels) - share * F.sum(logs, axis=1)
        return F.sum(each * (labels != PAD)) / F.sum(labels != PAD)


class Noam(mx.lr_scheduler.LRScheduler):
    def __call__(self, step):
        return WIDTH**-0.5 * min(max(step, 1) ** -0.5, max(step, 1) * 16000**-1.5)


def compiled(batch):
    loss = Loss(batch["src"].shape[1], batch["tgt_in"].shape[1])
    loss.initialize(mx.init.Xavier())
    settings = {"lr_scheduler": Noam(), "beta1": 0.9, "beta2": 0.98, "epsilon": 1e-9}
    return loss, (batch["src"], batch["tgt_in"], batch["tgt_out"]), "adam", settings


if __name__ == "__main__":
    gluon_training.main(compiled)
