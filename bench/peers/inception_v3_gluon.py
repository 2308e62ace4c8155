"""Inception-v3 training by MXNet's own Gluon network (gluon_training.py)."""

import gluon_training
from mxnet import gluon


def compiled(batch):
    return gluon_training.classifier(gluon.model_zoo.vision.inception_v3(classes=1000), batch)


if __name__ == "__main__":
    gluon_training.main(compiled)
