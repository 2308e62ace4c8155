"""A network's compiled training step in Keras on a batch of tbd, on request (peer.py).

    python bench/peers/MODEL_keras.py --inputs BATCH [--threads 2] [--first]

Driven by bench/frameworks_peer.py. MODEL_keras.py gives `compiled(batch)`: a compiled keras.Model, its inputs and its
labels. --first: one step, the end.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

import peer


def main(compiled):
    arguments = peer.arguments_parser().parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    library = peer.anonymous_bytes()
    model, inputs, labels = compiled(peer.read_safetensors(arguments.inputs))
    inputs, labels = tf.nest.map_structure(tf.constant, (inputs, labels))

    def step():
        return float(model.train_on_batch(inputs, labels))

    peer.train("keras", step, lambda: peer.rss(library), arguments.first)
