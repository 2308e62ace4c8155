"""Seq2seq with Luong attention fed back, by Keras' compiled step, LSTM layers and a cell of this project's own.

The cell runs in keras.layers.RNN, unrolled, as our decoder is (keras_training.py).
"""

import keras_training
import tensorflow as tf
from tensorflow import keras

PAD, SOURCE_WORDS, TARGET_WORDS, WIDTH, DROPOUT = 1, 17191, 7709, 512, 0.2
LAYER = keras.layers


class Cell(LAYER.Layer):
    """Two LSTM cells, then attention over the encoder's outputs, whose result is the next step's second operand."""

    def __init__(self):
        super().__init__()
        self.cells = [LAYER.LSTMCell(WIDTH, unit_forget_bias=False) for _ in range(2)]
        self.key, self.out = (LAYER.Dense(WIDTH, use_bias=False) for _ in range(2))
        self.dropout = LAYER.Dropout(DROPOUT)
        self.state_size, self.output_size = [WIDTH] * 5, WIDTH
        self.memory = self.mask = None

    def build(self, shape):
        for cell, width in zip(self.cells, (2 * WIDTH, WIDTH)):
            cell.build((None, width))
        self.key.build((None, WIDTH))
        self.out.build((None, 2 * WIDTH))
        self.built = True

    def call(self, word, states, training=None):
        h0, c0, h1, c1, feed = states
        h0, (h0, c0) = self.cells[0](tf.concat((word, feed), 1), [h0, c0])
        h1, (h1, c1) = self.cells[1](self.dropout(h0, training=training), [h1, c1])
        scores = tf.linalg.matvec(self.memory, self.key(h1)) + self.mask
        context = tf.linalg.matvec(self.memory, tf.nn.softmax(scores), transpose_a=True)
        feed = self.dropout(tf.tanh(self.out(tf.concat((context, h1), 1))), training=training)
        return feed, [h0, c0, h1, c1, feed]


class Luong(keras.Model):
    def __init__(self):
        super().__init__()
        self.source = LAYER.Embedding(SOURCE_WORDS, WIDTH)
        self.target = LAYER.Embedding(TARGET_WORDS, WIDTH)
        self.encoder = [LAYER.LSTM(WIDTH, return_sequences=True, return_state=True, unit_forget_bias=False)
                        for _ in range(2)]
        self.cell, self.dropout = Cell(), LAYER.Dropout(DROPOUT)
        self.decoder = LAYER.RNN(self.cell, return_sequences=True, unroll=True)
        self.logits = LAYER.Dense(TARGET_WORDS)

    def call(self, inputs, training=None):
        src, tgt = inputs
        valid, states = src != PAD, []
        x = self.source(src)
        for layer in self.encoder:
            x, *state = layer(self.dropout(x, training=training), mask=valid)
            states += state
        self.cell.memory = self.dropout(x, training=training)
        self.cell.mask = tf.where(valid, 0.0, -1e4)
        states.append(tf.zeros_like(states[0]))
        words = self.dropout(self.target(tgt), training=training)
        return self.logits(self.decoder(words, initial_state=states, training=training))


def loss(labels, logits):
    """A mean over words."""
    labels = tf.cast(labels, tf.int32)
    valid = tf.cast(labels != PAD, tf.float32)
    each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return tf.reduce_sum(each * valid) / tf.reduce_sum(valid)


def compiled(batch):
    model = Luong()
    model.compile(keras.optimizers.Adam(3e-4, epsilon=1e-8, global_clipnorm=1.0), loss, jit_compile=False)
    return model, (batch["src"], batch["tgt_in"]), batch["tgt_out"]


if __name__ == "__main__":
    keras_training.main(compiled)
