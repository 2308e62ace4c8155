"""ResNet-50 training in idiomatic eager PyTorch, driven by bench/resnet50_peer.py.

    python bench/peers/resnet50.py [--batch 8] [--precision fp32|bf16] [--threads 2] [--optimizer fused|foreach]
                                   [--compile] [--first]
torchvision's model, channels_last, autocast for bf16, SGD with momentum and weight decay. --first: one step, the end.
"""

import argparse
import contextlib

import torch
import torchvision

import peer

LIBRARY = peer.anonymous_bytes()


def trainer(arguments):
    model = torchvision.models.resnet50().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * arguments.batch / 256, momentum=0.9, weight_decay=1e-4,
                                **{arguments.optimizer: True})
    loss_of = torch.nn.CrossEntropyLoss()
    image = torch.randn(arguments.batch, 3, 224, 224).contiguous(memory_format=torch.channels_last)
    label = torch.randint(1000, (arguments.batch,))
    forward = torch.compile(model) if arguments.compile else model

    def precision():
        if arguments.precision == "bf16":
            return torch.autocast("cpu", dtype=torch.bfloat16)
        return contextlib.nullcontext()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with precision():
            loss = loss_of(forward(image), label)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, optimizer


def allocator_peak(step, optimizer):
    """Peak of the allocator's live bytes in one step over weights, state and batch, from the profiler's events."""
    from torch.profiler import ProfilerActivity, profile

    optimizer.zero_grad(set_to_none=True)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        step()
    live = peak = 0
    for event in seen.profiler.kineto_results.events():
        if event.name() == "[memory]":
            live += event.nbytes()
            peak = max(peak, live)
    return peak


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--optimizer", default="fused")
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--first", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    step, optimizer = trainer(arguments)
    step()
    if arguments.first:
        peer.say({"first_step_done": True})
        return

    def memory():
        whole = peer.status_bytes("VmHWM")
        rss = peer.peak_anonymous_bytes() - LIBRARY
        return {"rss_bytes": whole, "rss_over_library_bytes": rss, "peak_over_resident_bytes": allocator_peak(step, optimizer)}

    name = "python compile" if arguments.compile else f"python {arguments.optimizer}"
    peer.serve({name: step}, memory)


if __name__ == "__main__":
    main()
