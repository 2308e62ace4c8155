"""FLOPs of a training step: what `tbd describe` says beside what torch.utils.flop_counter counts as the step runs.

    python bench/peers/flop_counter.py MODEL --tbd BUILD/bin/tbd --inputs BATCH [--config canonical]

MODEL is a program beside this one; BATCH a file of its inputs (bench_pytorch_trace --save-inputs). Counted are matrix
products, convolutions and fused attention; rows say which ops and kinds of layer the totals are made of. Where they
differ, the counter has no formula for torch's fused LSTM on a CPU, and counts the scores that fused attention computes
again in backward (docs/flops.md, rule 5: we do not).
"""

import argparse
import importlib
import json
import subprocess

from torch.utils.flop_counter import FlopCounterMode

import training


def described(tbd, model, config, samples):
    """Of the batch: forward, all, and all by kind of layer."""
    command = [tbd, "describe", model, "--batch", str(samples), "--json"] + (["--config", config] if config else [])
    said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)
    by_kind = {}
    for layer in said["layers"]:
        if layer["train_flops"]:
            by_kind[layer["op"]] = by_kind.get(layer["op"], 0) + layer["train_flops"]
    return 2 * said["forward_macs"] * samples, said["train_flops"] * samples, by_kind


def counted(recipe, network, batch):
    """Of the batch: forward, all, and all by op."""
    with FlopCounterMode(display=False) as forward:
        loss = recipe.loss(network, batch)
    with FlopCounterMode(display=False) as backward:
        loss.backward()
    by_op = {}
    for counter, direction in ((forward, "forward"), (backward, "backward")):
        for op, count in counter.get_flop_counts()["Global"].items():
            by_op[f"{op} {direction}"] = count
    return forward.get_total_flops(), forward.get_total_flops() + backward.get_total_flops(), by_op


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--tbd", required=True)
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--config", default="")
    arguments = parser.parse_args()
    recipe = importlib.import_module(arguments.model)
    batch = training.batch_of(arguments.inputs)
    samples = training.samples_of(batch)
    ours = described(arguments.tbd, arguments.model, arguments.config, samples)
    theirs = counted(recipe, recipe.build(arguments.config or "canonical"), batch)
    for name, one, other in (("forward", ours[0], theirs[0]), ("forward and backward", ours[1], theirs[1])):
        print(f"{name:24s} {one:>20,d} {other:>20,d} {one / other:9.6f}")
    for title, parts in (("tbd describe", ours[2]), ("torch.utils.flop_counter", theirs[2])):
        print(title)
        for name, count in sorted(parts.items(), key=lambda each: -each[1]):
            print(f"  {name:50s} {count:>20,d}")


if __name__ == "__main__":
    main()
