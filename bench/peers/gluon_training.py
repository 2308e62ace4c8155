"""A network's training step through MXNet's own Python front-end on a batch of tbd, on request (peer.py).

    python bench/peers/MODEL_gluon.py --inputs BATCH [--threads 2] [--first]

MODEL_gluon.py gives `compiled(batch)`: a hybrid block of the inputs that returns the loss, those inputs, the name
of an optimizer and its settings, perhaps a global norm to clip to. Driven by bench/frameworks_peer.py. Needs NumPy
below 1.24. --first: one step, the end.
"""

import mxnet as mx
from mxnet import autograd, gluon

import peer


class ClassifierLoss(gluon.HybridBlock):
    def __init__(self, network):
        super().__init__()
        self.network, self.loss = network, gluon.loss.SoftmaxCrossEntropyLoss()

    def hybrid_forward(self, F, image, label):
        return self.loss(self.network(image), label).mean()


def classifier(network, batch):
    """What `compiled` gives of a network of images: cross-entropy, SGD with momentum and decay."""
    loss = ClassifierLoss(network)
    loss.initialize(mx.init.Xavier())
    rate = 0.1 * len(batch["label"]) / 256
    return loss, (batch["image"], batch["label"]), "sgd", {"learning_rate": rate, "momentum": 0.9, "wd": 1e-4}


def main(compiled):
    arguments = peer.arguments_parser().parse_args()
    library = peer.anonymous_bytes()
    loss_of, inputs, optimizer, settings, *clip = compiled(peer.read_safetensors(arguments.inputs))
    loss_of.hybridize(static_alloc=True, static_shape=True)
    inputs = [mx.nd.array(each, dtype="float32") for each in inputs]
    weights = [each for each in loss_of.collect_params().values() if each.grad_req != "null"]
    trainer = gluon.Trainer(loss_of.collect_params(), optimizer, settings)

    def step():
        with autograd.record():
            loss = loss_of(*inputs)
        loss.backward()
        if clip:
            gluon.utils.clip_global_norm([each.grad() for each in weights], clip[0])
        trainer.step(1)  # the loss is a mean already
        value = loss.asscalar()
        mx.nd.waitall()
        return value

    peer.train("gluon", step, lambda: peer.rss(library), arguments.first)
