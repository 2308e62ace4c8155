"""Seq2seq with Luong attention fed back, through Gluon's LSTM cells, unrolled (gluon_training.py).

Cells, not the fused layer, for on the CPU that has no lengths and so no state at a sentence's end.
"""

import gluon_training
import mxnet as mx
from mxnet import gluon
from mxnet.gluon import nn, rnn

PAD, SOURCE_WORDS, TARGET_WORDS, WIDTH, DROPOUT = 1, 17191, 7709, 512, 0.2


class Attention(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.key = nn.Dense(WIDTH, use_bias=False, in_units=WIDTH)
        self.out = nn.Dense(WIDTH, use_bias=False, in_units=2 * WIDTH, activation="tanh")

    def hybrid_forward(self, F, query, memory, mask):
        scores = F.reshape(F.batch_dot(memory, F.expand_dims(self.key(query), 2)), (0, -1)) + mask
        context = F.batch_dot(F.expand_dims(F.softmax(scores), 1), memory)
        return self.out(F.concat(F.reshape(context, (0, -1)), query, dim=1))


class Loss(gluon.HybridBlock):
    """Of source ids, their lengths, target ids and labels; N and both lengths are the batch's."""

    def __init__(self, samples, source, target):
        super().__init__()
        self.samples, self.source, self.target = samples, source, target
        self.source_words, self.target_words = nn.Embedding(SOURCE_WORDS, WIDTH), nn.Embedding(TARGET_WORDS, WIDTH)
        self.encoder = nn.HybridSequential()
        self.encoder.add(*(rnn.LSTMCell(WIDTH, input_size=WIDTH) for _ in range(2)))
        self.first, self.second = rnn.LSTMCell(WIDTH, input_size=2 * WIDTH), rnn.LSTMCell(WIDTH, input_size=WIDTH)
        self.attention, self.dropout = Attention(), nn.Dropout(DROPOUT)
        self.logits = nn.Dense(TARGET_WORDS, flatten=False, in_units=WIDTH)

    def encoded(self, F, src, lengths):
        x, states = self.source_words(src), []
        for cell in self.encoder:
            zeros = [F.zeros((self.samples, WIDTH)) for _ in range(2)]
            x, state = cell.unroll(self.source, self.dropout(x), zeros, layout="NTC", merge_outputs=True,
                                   valid_length=lengths)
            states.append(state)
        return self.dropout(x), states

    def hybrid_forward(self, F, src, lengths, tgt, labels):
        memory, (first, second) = self.encoded(F, src, lengths)
        mask = (src == PAD) * -1e4
        words = F.split(self.dropout(self.target_words(tgt)), self.target, axis=1, squeeze_axis=True)
        feed, outputs = F.zeros((self.samples, WIDTH)), []
        for word in words:
            h, first = self.first(F.concat(word, feed, dim=1), first)
            h, second = self.second(self.dropout(h), second)
            feed = self.dropout(self.attention(h, memory, mask))
            outputs.append(feed)
        logs = F.log_softmax(self.logits(F.stack(*outputs, axis=1)))
        return -F.sum(F.pick(logs, labels) * (labels != PAD)) / F.sum(labels != PAD)


def compiled(batch):
    loss = Loss(*batch["src"].shape, batch["tgt_in"].shape[1])
    loss.initialize(mx.init.Uniform(0.1))
    inputs = tuple(batch[name] for name in ("src", "src_len", "tgt_in", "tgt_out"))
    return loss, inputs, "adam", {"learning_rate": 3e-4}, 1.0


if __name__ == "__main__":
    gluon_training.main(compiled)
