"""Inception-v3 training by Keras' own network and compiled step (keras_training.py).

Keras' network differs from torchvision's by what makes it lighter: batch norms without a scale, padded averages over
the places inside. Dropout before the last layer is added.
"""

import keras_training
from tensorflow import keras


def compiled(batch):
    body = keras.applications.InceptionV3(include_top=False, weights=None, input_shape=(299, 299, 3), pooling="avg")
    model = keras.Sequential([body, keras.layers.Dropout(0.5), keras.layers.Dense(1000)])
    rate = 0.1 * len(batch["label"]) / 256
    model.compile(keras.optimizers.SGD(rate, momentum=0.9, weight_decay=1e-4),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    return model, batch["image"].transpose(0, 2, 3, 1), batch["label"]


if __name__ == "__main__":
    keras_training.main(compiled)
