"""The 20-layer perceptron of bench/pytorch_dispatch.cc in idiomatic eager PyTorch. Driven by bench/mlp20_peer.py."""

import argparse

import torch
from torch import nn

import peer


def trainer(batch, form):
    layers = []
    for _ in range(19):
        layers += [nn.Linear(32, 32), nn.ReLU(inplace=True)]
    model = nn.Sequential(*layers, nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, **{form: True})
    loss_of = nn.CrossEntropyLoss()
    x, label = torch.randn(batch, 32), torch.randint(10, (batch,))

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = loss_of(model(x), label)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    programs = {f"python {form}": trainer(arguments.batch, form) for form in ("fused", "foreach")}
    for step in programs.values():
        for _ in range(200):
            step()
    peer.serve(programs)


if __name__ == "__main__":
    main()
