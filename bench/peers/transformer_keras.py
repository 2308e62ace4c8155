"""Transformer training by Keras' compiled step and its attention layers; the whole is this project's own program.

Layer norms before the sub-layers, one embedding for words of both languages and logits (keras_training.py).
"""

import math

import keras_training
import numpy
import tensorflow as tf
from tensorflow import keras

PAD, WORDS, WIDTH, HIDDEN, HEADS, LAYERS, DROPOUT = 1, 33708, 512, 2048, 8, 6, 0.1
LAYER = keras.layers


def sinusoids(length):
    rates = numpy.exp(numpy.arange(WIDTH // 2) * -(math.log(10000) / (WIDTH // 2 - 1)))
    angles = numpy.arange(PAD + 1, PAD + 1 + length)[:, None] * rates
    return numpy.concatenate((numpy.sin(angles), numpy.cos(angles)), 1).astype(numpy.float32)


class Embedded(LAYER.Layer):
    """Scaled rows of the table with positions, which are 0 on padding; and logits by the same table."""

    def __init__(self):
        super().__init__()
        self.table = self.add_weight(shape=(WORDS, WIDTH), initializer=keras.initializers.RandomNormal(0, WIDTH**-0.5))

    def call(self, ids):
        valid = tf.cast(ids != PAD, tf.float32)[..., None]
        return math.sqrt(WIDTH) * tf.gather(self.table, ids) + valid * sinusoids(ids.shape[1])

    def logits(self, x):
        return tf.matmul(x, self.table, transpose_b=True)


class Block(LAYER.Layer):
    """One layer of the encoder; with `crossed` of the decoder."""

    def __init__(self, crossed):
        super().__init__()
        def attention():
            return LAYER.MultiHeadAttention(HEADS, WIDTH // HEADS, dropout=DROPOUT)

        def norm():
            return LAYER.LayerNormalization(epsilon=1e-5)

        self.own, self.own_norm, self.crossed = attention(), norm(), crossed
        if crossed:
            self.other, self.other_norm = attention(), norm()
        self.norm, self.inner, self.outer = norm(), LAYER.Dense(HIDDEN, "relu"), LAYER.Dense(WIDTH)
        self.dropout = LAYER.Dropout(DROPOUT)

    def call(self, x, memory=None, mask=None, training=None):
        y = self.own_norm(x)
        own = {"use_causal_mask": True} if self.crossed else {"attention_mask": mask}
        x += self.dropout(self.own(y, y, training=training, **own), training=training)
        if self.crossed:
            y = self.other(self.other_norm(x), memory, attention_mask=mask, training=training)
            x += self.dropout(y, training=training)
        y = self.outer(self.dropout(self.inner(self.norm(x)), training=training))
        return x + self.dropout(y, training=training)


class Transformer(keras.Model):
    def __init__(self):
        super().__init__()
        self.embedded, self.dropout = Embedded(), LAYER.Dropout(DROPOUT)
        self.encoder, self.decoder = ([Block(crossed) for _ in range(LAYERS)] for crossed in (False, True))
        self.norms = [LAYER.LayerNormalization(epsilon=1e-5) for _ in range(2)]

    def call(self, inputs, training=None):
        src, tgt = inputs
        mask = (src != PAD)[:, None, :]
        x = self.dropout(self.embedded(src), training=training)
        for block in self.encoder:
            x = block(x, mask=mask, training=training)
        memory, x = self.norms[0](x), self.dropout(self.embedded(tgt), training=training)
        for block in self.decoder:
            x = block(x, memory, mask, training=training)
        return self.embedded.logits(self.norms[1](x))


def loss(labels, logits):
    """0.9 on the label, 0.1 shared by the others; a mean over words."""
    logs, labels = tf.nn.log_softmax(logits), tf.cast(labels, tf.int32)
    share = 0.1 / (WORDS - 1)
    label = tf.gather(logs, labels, batch_dims=2)
    each = -(0.9 - share) * label - share * tf.reduce_sum(logs, -1)
    valid = tf.cast(labels != PAD, tf.float32)
    return tf.reduce_sum(each * valid) / tf.reduce_sum(valid)


class Noam(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, done):
        step = tf.cast(done, tf.float32) + 1
        return WIDTH**-0.5 * tf.minimum(step**-0.5, step * 16000**-1.5)


def compiled(batch):
    model = Transformer()
    model.compile(keras.optimizers.Adam(Noam(), 0.9, 0.98, 1e-9), loss, jit_compile=False)
    return model, (batch["src"], batch["tgt_in"]), batch["tgt_out"]


if __name__ == "__main__":
    keras_training.main(compiled)
