"""ResNet-50 on several ranks as an idiomatic program trains it: DistributedDataParallel over Gloo, one thread a rank.

    python -m torch.distributed.run --standalone --nproc-per-node 2 bench/peers/ddp.py --batch 4 --seconds 15

Rank 0 prints the seconds of its steps, without the first three, as one line of JSON. A step is all that a training loop
does: gradients set to none, loss, backward with its exchange, update, and the loss read.
"""

import argparse
import json
import os
import time

import torch
from torch import distributed
from torch.nn.parallel import DistributedDataParallel

import plain


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--bucket", type=float, default=25, help="MiB")
    parser.add_argument("--seconds", type=float, default=15)
    options = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[int(os.environ["LOCAL_RANK"]) % len(cores)]})
    torch.set_num_threads(1)
    distributed.init_process_group("gloo")
    network = plain.ResNet50()
    batch = {"image": torch.rand(options.batch, 3, 224, 224), "label": torch.randint(1000, (options.batch,))}
    optimizer = network.optimizer()
    trained = DistributedDataParallel(Loss(network), bucket_cap_mb=options.bucket, gradient_as_bucket_view=True,
                                      broadcast_buffers=False)
    took, ends = [], time.perf_counter() + options.seconds
    # One rank's clock says when all end.
    going = torch.ones(())
    while going:
        began = time.perf_counter()
        optimizer.zero_grad(set_to_none=True)
        loss = trained(batch)
        loss.backward()
        optimizer.step()
        loss.item()
        took.append(time.perf_counter() - began)
        going.fill_(time.perf_counter() < ends)
        distributed.broadcast(going, 0)
    if distributed.get_rank() == 0:
        print(json.dumps(took[3:]))
    distributed.destroy_process_group()


class Loss(torch.nn.Module):
    """The loss as the forward pass, which DistributedDataParallel needs to see."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, batch):
        return self.network.loss(batch)


if __name__ == "__main__":
    main()
