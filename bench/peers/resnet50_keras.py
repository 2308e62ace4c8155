"""ResNet-50 v1.5 training by Keras' compiled training step (keras_training.py).

Channels last, SGD with momentum and decay, batch-norm statistics updated: one call of the step that `fit` runs.
"""

import keras_training
from tensorflow import keras

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


def compiled(batch):
    model = network()
    model.compile(keras.optimizers.SGD(0.1 * len(batch["label"]) / 256, momentum=0.9, weight_decay=1e-4),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True), jit_compile=False)
    return model, batch["image"].transpose(0, 2, 3, 1), batch["label"]


if __name__ == "__main__":
    keras_training.main(compiled)
