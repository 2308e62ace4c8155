"""A network's training step in eager Python, on request (peer.py); driven by bench/model_peer.py.

    python bench/peers/MODEL.py --inputs BATCH [--config canonical] [--precision fp32|bf16] [--threads 2]
                                [--optimizer fused|foreach] [--weights WEIGHTS] [--compile MODE] [--first]

MODEL.py has build, and loss, optimizer, clip and factor (of the learning rate, steps from 1) or a stepper of its own.
BATCH is a safetensors file, WEIGHTS another.
--first: one step, the end.
"""

import contextlib
import sys

import torch
from safetensors.torch import load_file

import peer

SAMPLES = ("label", "next_label", "start", "tgt_out", "ids", "label_len", "z", "image")


def batch_of(path, dtype=torch.float32):
    """Integers as Python programs have them, images channels last."""
    batch = {}
    for name, value in load_file(path).items():
        value = value.to(dtype) if value.is_floating_point() else value.long()
        batch[name] = value.contiguous(memory_format=torch.channels_last) if value.dim() == 4 else value
    return batch


def samples_of(batch):
    return len(next(batch[name] for name in SAMPLES if name in batch))


def no_clip(network):
    return None


def momentum_sgd(network, samples, **form):
    """With decay, as the classifiers of images have it."""
    return torch.optim.SGD(network.parameters(), lr=0.1 * samples / 256, momentum=0.9, weight_decay=1e-4, **form)


def constant_rate(network, step, samples):
    return 1.0


def stepper(recipe, network, batch, precision="fp32", loss_of=None, on_gradients=None, **form):
    """One whole step as a function: forward, backward, clipping, schedule, update; and its optimizer."""
    samples, bound = samples_of(batch), recipe.clip(network)
    loss_of = loss_of or recipe.loss
    optimizer = recipe.optimizer(network, samples, **form)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: recipe.factor(network, done + 1, samples))
    low = torch.autocast("cpu", dtype=torch.bfloat16) if precision == "bf16" else contextlib.nullcontext()

    def step():
        optimizer.zero_grad(set_to_none=True)
        with low:
            loss = loss_of(network, batch)
        loss.backward()
        if on_gradients is not None:
            on_gradients()
        if bound is not None:
            torch.nn.utils.clip_grad_norm_(network.parameters(), bound)
        optimizer.step()
        schedule.step()
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


def load(network, weights):
    """Names are those of the state_dict; tied ones stand once, counters and made tables not at all."""
    state = network.state_dict()
    versions = {name: value for name, value in state.items() if name.endswith(".version")}  # fairseq's, of the layout
    missing, unexpected = network.load_state_dict({**weights, **versions}, strict=False)
    state = network.state_dict()
    given = {state[name].data_ptr() for name in weights if name in state}
    left = [name for name in missing if state[name].data_ptr() not in given
            and not name.endswith(("num_batches_tracked", "_float_tensor"))]
    if left or unexpected:
        sys.exit(f"names that only one side knows: {left + unexpected}")


def library_bytes():
    """Memory of what the library loads on first use, by a step of a network of one weight."""
    weight = torch.nn.Linear(1, 1)
    update = torch.optim.SGD(weight.parameters(), lr=0.1)
    weight(torch.ones(1, 1)).sum().backward()
    torch.nn.utils.clip_grad_norm_(weight.parameters(), 1.0)
    update.step()
    return peer.anonymous_bytes()


def main(recipe):
    parser = peer.arguments_parser()
    parser.add_argument("--config", default="canonical")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--optimizer", default="fused")
    parser.add_argument("--weights")
    parser.add_argument("--compile", metavar="MODE")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    library = library_bytes()
    network = recipe.build(arguments.config)
    if arguments.weights:
        load(network, load_file(arguments.weights))
    compiled = arguments.compile and hasattr(recipe, "loss")
    loss_of = torch.compile(recipe.loss, mode=arguments.compile) if compiled else None
    form = {arguments.optimizer: True}
    batch, precision = batch_of(arguments.inputs), arguments.precision
    if hasattr(recipe, "stepper"):
        step, optimizer = recipe.stepper(network, batch, precision, loss_of, **form)
    else:
        step, optimizer = stepper(recipe, network, batch, precision, loss_of, **form)

    def memory():
        return peer.rss(library) | {"peak_over_resident_bytes": allocator_peak(step, optimizer)}

    name = f"python compile {arguments.compile}" if arguments.compile else f"python {arguments.optimizer}"
    peer.train(name, step, memory, arguments.first)
