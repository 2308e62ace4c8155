"""Is a step of tbd the step that the public Python implementation takes? Loss, every gradient, every update.

    ENVIRONMENT/bin/python bench/peers/step_against_reference.py --program PROGRAM --model bert [--config tiny] [--own]
                           [--precision fp64|fp32] [--batch 2] [--steps 3] [--framework pytorch]

ENVIRONMENT is what bench/peers/setup.sh made. References: torchvision (resnet50, inception_v3), fairseq (seq2seq,
transformer), transformers (bert, llama), effdet (efficientdet_d0, its loss in double), torchvision's detectors with the
batch's samples (mask_rcnn); this project's own programs with --own, and for gnmt_v2, wgan_gp, minigo and deep_speech_2
(of torch's layers and loss), which no package has. Dropout is off.
fp64: relative differences of all tensors after the steps, at most 1e-12 (some thousand roundings: other orders of
summation, carried through depth and the optimizers' roots); of GNMT at most 1e-11, for the gradients in its attention
nearly cancel (float32 has two digits of them); of WGAN-GP's losses at most 1e-10: biases of the critic's last block
shift the generator's, have a gradient of 0, and Adam makes steps of the rounding there. fp32: loss and gradients of
one step; both sides against the reference in double, ours at most four times as far as the reference's own float32,
or 1e-5.
Exit 1 when a difference exceeds its bound.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
from safetensors.torch import load_file

import reference_step

BOUND, GNMT_BOUND, WGAN_LOSS_BOUND, FACTOR, FLOOR = 1e-12, 1e-11, 1e-10, 4, 1e-5
ZERO = {"fp64": 1e-12, "fp32": 1e-5}  # of the largest gradient's norm: all that rounding makes where the exact one is 0


def ours(arguments, folder):
    """Weights, path of the batch, and what `tbd step` makes of them."""
    weights, batch, out = (Path(folder) / name for name in ("weights", "batch", "out"))
    command = [arguments.program, "step", arguments.model, "--framework", arguments.framework, "--precision",
               arguments.precision, "--batch", str(arguments.batch), "--steps", str(arguments.steps), "--quiet",
               "--save-weights", weights, "--save-inputs", batch, "--out", out]
    subprocess.run(command + (["--config", arguments.config] if arguments.config else []), check=True,
                   stdout=subprocess.DEVNULL)
    return load_file(weights), batch, load_file(out)


def difference(value, exact):
    return ((value.double() - exact).norm() / exact.norm().clamp_min(1e-300)).item()


def of_zeros(truth, limit):
    """Parameters whose gradient is 0 but for rounding, and the norm that counts as 0."""
    norms = {name[5:]: value.norm().item() for name, value in truth.items() if name.startswith("grad/")}
    bound = limit * max(norms.values())
    return {name for name, norm in norms.items() if norm <= 1e-12 * max(norms.values())}, bound


def compared(arguments, mine, truth, theirs):
    """(group, name, difference, bound) of each tensor; a gradient of zero is compared with the largest one."""
    left = [name for name in mine if name not in truth and not name.startswith(("output/", "term/"))
            and not name.endswith("/ema")  # no recipe here averages
            and not (name.startswith("state/") and not mine[name].any())]  # of a phase that has not run
    if left:
        sys.exit(f"tensors that only tbd has: {left}")
    zeros, small = of_zeros(truth, ZERO[arguments.precision])
    of_all = GNMT_BOUND if arguments.config.startswith("gnmt") else BOUND
    for name, exact in truth.items():
        group, _, rest = name.partition("/")
        if arguments.precision == "fp32" and group not in ("loss", "grad"):
            continue
        if rest.split("/")[0] in zeros:
            if group == "grad":
                yield "zero", name, mine[name].norm().item(), small
            continue
        if group == "buffer" and exact.norm() <= BOUND:  # the mean of what a norm has centred
            yield "zero", name, (mine[name] - exact).norm().item(), BOUND
            continue
        in_double = WGAN_LOSS_BOUND if arguments.model == "wgan_gp" and group == "loss" else of_all
        bound = in_double if theirs is None else max(FACTOR * difference(theirs[name], exact), FLOOR)
        yield group, name, difference(mine[name], exact), bound


def report(arguments, rows, theirs, truth):
    worst = {}
    for row in rows:
        if row[0] not in worst or row[2] / row[3] > worst[row[0]][2] / worst[row[0]][3]:
            worst[row[0]] = row
    for group, (_, name, found, bound) in worst.items():
        print(f"{group:7} {found:.2e} {'<=' if found <= bound else '> '} {bound:.2e}  {name}")
    if theirs is not None:
        gradients = [difference(theirs[name], exact) for name, exact in truth.items() if ("grad", name) in
                     {row[:2] for row in rows}]
        losses = [difference(theirs[name], exact) for name, exact in truth.items() if name.startswith("loss")]
        print(f"the reference's own float32: loss {max(losses):.2e}, worst gradient "
              f"{max(gradients):.2e}; ours {max(row[2] for row in rows if row[0] == 'grad'):.2e}")
    print(f"{len(rows)} tensors compared")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--config", default="")
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--precision", default="fp64", choices=("fp64", "fp32"))
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--own", action="store_true")
    arguments = parser.parse_args()
    if arguments.precision == "fp32":
        arguments.steps = 1
    with tempfile.TemporaryDirectory() as folder:
        weights, batch, mine = ours(arguments, folder)

        def by(dtype):
            return reference_step.tensors(arguments.model, arguments.config, arguments.own, weights, batch, dtype,
                                          arguments.steps)

        truth = by(torch.double)
        theirs = by(torch.float) if arguments.precision == "fp32" else None
    rows = list(compared(arguments, mine, truth, theirs))
    report(arguments, rows, theirs, truth)
    sys.exit(any(found > bound for _, _, found, bound in rows))


if __name__ == "__main__":
    main()
