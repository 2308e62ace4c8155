"""A network's compiled training step in Keras on a batch of tbd, on request (peer.py).

    python bench/peers/MODEL_keras.py --inputs BATCH [--threads 2] [--first]

Driven by bench/frameworks_peer.py. MODEL_keras.py gives `compiled(batch)`: a compiled keras.Model, its inputs and its
labels. --first: one step, the end.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import tensorflow as tf

import peer


def main(compiled):
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--first", action="store_true")
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    library = peer.anonymous_bytes()
    model, inputs, labels = compiled(peer.read_safetensors(arguments.inputs))
    inputs, labels = tf.nest.map_structure(tf.constant, (inputs, labels))

    def step():
        return float(model.train_on_batch(inputs, labels))

    step()
    if arguments.first:
        peer.say({"first_step_done": True})
        return
    peer.serve({"keras": step}, lambda: {"rss_bytes": peer.status_bytes("VmHWM"),
                                         "rss_over_library_bytes": peer.peak_anonymous_bytes() - library})
