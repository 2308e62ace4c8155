"""ResNet-50 v1.5 training through MXNet's own Python front-end, driven by bench/frameworks_peer.py.

    python bench/peers/resnet50_gluon.py [--batch 8] [--threads 2] [--first]
A hybridized Gluon network with static memory, Trainer with momentum and decay. Needs NumPy below 1.24.
"""

import argparse

import mxnet as mx
from mxnet import autograd, gluon
from mxnet.gluon import nn

import peer


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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--first", action="store_true")
    arguments = parser.parse_args()
    library = peer.anonymous_bytes()
    net = network()
    net.initialize(mx.init.Xavier())
    net.hybridize(static_alloc=True, static_shape=True)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize(static_alloc=True, static_shape=True)
    trainer = gluon.Trainer(net.collect_params(), "sgd",
                            {"learning_rate": 0.1 * arguments.batch / 256, "momentum": 0.9, "wd": 1e-4})
    image = mx.nd.random.normal(shape=(arguments.batch, 3, 224, 224))
    label = mx.nd.random.randint(0, 1000, shape=(arguments.batch,)).astype("float32")

    def step():
        with autograd.record():
            loss = loss_of(net(image), label)
        loss.backward()
        trainer.step(arguments.batch)
        value = loss.mean().asscalar()
        mx.nd.waitall()
        return value

    step()
    if arguments.first:
        peer.say({"first_step_done": True})
        return
    peer.serve({"gluon": step}, lambda: {"rss_bytes": peer.status_bytes("VmHWM"),
                                         "rss_over_library_bytes": peer.peak_anonymous_bytes() - library})


if __name__ == "__main__":
    main()
