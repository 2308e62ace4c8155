"""ResNet-50 v1.5 training through MLX's own Python front-end on a batch of tbd, on request (peer.py).

    python bench/peers/resnet50_mlx.py --inputs BATCH [--threads 2] [--first]

mlx.nn's layers, value_and_grad and SGD with momentum and decay, evaluated once a step. Driven by
bench/frameworks_peer.py. --first: one step, the end.
"""

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim

import peer


def conv_bn(channels, width, kernel, stride=1):
    return nn.Sequential(nn.Conv2d(channels, width, kernel, stride, kernel // 2, bias=False), nn.BatchNorm(width))


class Bottleneck(nn.Module):
    def __init__(self, channels, width, stride, reshaped):
        super().__init__()
        self.body = nn.Sequential(conv_bn(channels, width, 1), nn.relu, conv_bn(width, width, 3, stride), nn.relu,
                                  conv_bn(width, 4 * width, 1))
        self.shortcut = conv_bn(channels, 4 * width, 1, stride) if reshaped else None

    def __call__(self, x):
        return nn.relu(self.body(x) + (self.shortcut(x) if self.shortcut else x))


def network():
    layers, channels = [conv_bn(3, 64, 7, 2), nn.relu, nn.MaxPool2d(3, 2, 1)], 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        for block in range(blocks):
            layers.append(Bottleneck(channels, 64 << stage, 2 if stage > 0 and block == 0 else 1, block == 0))
            channels = 4 * (64 << stage)
    return nn.Sequential(*layers, lambda x: mx.mean(x, (1, 2)), nn.Linear(2048, 1000))


def main():
    arguments = peer.arguments_parser().parse_args()
    library = peer.anonymous_bytes()
    mx.set_default_device(mx.cpu)
    batch = peer.read_safetensors(arguments.inputs)
    image = mx.array(batch["image"].transpose(0, 2, 3, 1))
    label = mx.array(batch["label"])
    model = network()
    optimizer = optim.SGD(0.1 * len(batch["label"]) / 256, momentum=0.9, weight_decay=1e-4)
    loss_and_gradients = nn.value_and_grad(
        model, lambda network: nn.losses.cross_entropy(network(image), label, reduction="mean"))

    def step():
        loss, gradients = loss_and_gradients(model)
        optimizer.update(model, gradients)
        mx.eval(loss, model.parameters(), optimizer.state)
        return loss.item()

    peer.train("mlx.nn", step, lambda: peer.rss(library), arguments.first)


if __name__ == "__main__":
    main()
