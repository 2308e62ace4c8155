"""Inception-v3 training by MXNet's own Gluon network (gluon_training.py)."""

import gluon_training
import mxnet as mx
from mxnet import gluon


class Loss(gluon.HybridBlock):
    def __init__(self):
        super().__init__()
        self.network = gluon.model_zoo.vision.inception_v3(classes=1000)
        self.loss = gluon.loss.SoftmaxCrossEntropyLoss()

    def hybrid_forward(self, F, image, label):
        return self.loss(self.network(image), label).mean()


def compiled(batch):
    loss = Loss()
    loss.initialize(mx.init.Xavier())
    loss.hybridize(static_alloc=True, static_shape=True)
    rate = 0.1 * len(batch["label"]) / 256
    return loss, (batch["image"], batch["label"]), "sgd", {"learning_rate": rate, "momentum": 0.9, "wd": 1e-4}


if __name__ == "__main__":
    gluon_training.main(compiled)
