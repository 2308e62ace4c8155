"""ResNet-50 v1.5 training by Keras' compiled training step, driven by bench/frameworks_peer.py.

    python bench/peers/resnet50_keras.py [--batch 8] [--threads 2] [--first]
Channels last, SGD with momentum and decay, batch-norm statistics updated: one call of the step that `fit` runs.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
import numpy
import tensorflow as tf
from tensorflow import keras

import peer

LAYERS = keras.layers


def conv_bn(x, width, kernel, stride=1):
    if kernel > 1:
        x = LAYERS.ZeroPadding2D(kernel // 2)(x)
    x = LAYERS.Conv2D(width, kernel, stride, use_bias=False)(x)
    return LAYERS.BatchNormalization(momentum=0.9, epsilon=1e-5)(x)


def bottleneck(x, width, stride, reshaped):
    y = LAYERS.ReLU()(conv_bn(x, width, 1))
    y = LAYERS.ReLU()(conv_bn(y, width, 3, stride))
    y = conv_bn(y, 4 * width, 1)
    if reshaped:
        x = conv_bn(x, 4 * width, 1, stride)
    return LAYERS.ReLU()(LAYERS.Add()([x, y]))


def network():
    image = keras.Input((224, 224, 3))
    x = LAYERS.ReLU()(conv_bn(image, 64, 7, 2))
    x = LAYERS.MaxPooling2D(3, 2)(LAYERS.ZeroPadding2D(1)(x))  # after ReLU a zero is as good as minus infinity
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            x = bottleneck(x, 64 << stage, 2 if stage > 0 and block == 0 else 1, block == 0)
    return keras.Model(image, LAYERS.Dense(1000)(LAYERS.GlobalAveragePooling2D()(x)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--first", action="store_true")
    arguments = parser.parse_args()
    tf.config.threading.set_intra_op_parallelism_threads(arguments.threads)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    library = peer.anonymous_bytes()
    model = network()
    model.compile(keras.optimizers.SGD(0.1 * arguments.batch / 256, momentum=0.9, weight_decay=1e-4),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    random = numpy.random.default_rng(1)
    image = tf.constant(random.standard_normal((arguments.batch, 224, 224, 3), dtype=numpy.float32))
    label = tf.constant(random.integers(0, 1000, arguments.batch, dtype=numpy.int32))

    def step():
        return float(model.train_on_batch(image, label))

    step()
    if arguments.first:
        peer.say({"first_step_done": True})
        return
    peer.serve({"keras": step}, lambda: {"rss_bytes": peer.status_bytes("VmHWM"),
                                         "rss_over_library_bytes": peer.peak_anonymous_bytes() - library})


if __name__ == "__main__":
    main()
