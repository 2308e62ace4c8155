"""ResNet-50 v1.5 training through MXNet's own Python front-end (gluon_training.py).

A hybridized Gluon network with static memory, Trainer with momentum and decay.
"""

import gluon_training
from mxnet import gluon
from mxnet.gluon import nn


def conv_bn(width, kernel, stride=1):
    block = nn.HybridSequential()
    block.add(nn.Conv2D(width, kernel, stride, kernel // 2, use_bias=False), nn.BatchNorm(momentum=0.9, epsilon=1e-5))
    return block


class Bottleneck(gluon.HybridBlock):
    def __init__(self, width, stride, reshaped):
        super().__init__()
        self.body = nn.HybridSequential()
        self.body.add(conv_bn(width, 1), nn.Activation("relu"), conv_bn(width, 3, stride), nn.Activation("relu"),
                      conv_bn(4 * width, 1))
        self.shortcut = conv_bn(4 * width, 1, stride) if reshaped else None

    def hybrid_forward(self, F, x):
        return F.relu(self.body(x) + (self.shortcut(x) if self.shortcut else x))


def network():
    net = nn.HybridSequential()
    net.add(conv_bn(64, 7, 2), nn.Activation("relu"), nn.MaxPool2D(3, 2, 1))
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            net.add(Bottleneck(64 << stage, 2 if stage > 0 and block == 0 else 1, block == 0))
    net.add(nn.GlobalAvgPool2D(), nn.Dense(1000))
    return net


def compiled(batch):
    return gluon_training.classifier(network(), batch)


if __name__ == "__main__":
    gluon_training.main(compiled)
