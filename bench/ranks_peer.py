"""Two workers of `tbd run` against torchrun with Python's DistributedDataParallel: ResNet-50, one thread and core a rank.

    python3 bench/ranks_peer.py --tbd PROGRAM --python ENVIRONMENT [--batch 4] [--rounds 4]

ENVIRONMENT is what bench/peers/setup.sh made. Programs take turns, a launch each of 15 seconds; both have the same wheel,
buckets of 25 MiB (1 MiB the first) over Gloo on loopback, and images as rows (nchw). The ratio is ours over theirs in
seconds a step, of medians over all launches.
"""

import argparse
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from interleave import PEERS, environment, header, verdict

RANKS = 2


def ours(options, folder):
    subprocess.run([options.tbd, "run", "resnet50", "--framework", "pytorch", "--batch", str(options.batch), "--workers",
                    str(RANKS), "--threads", "1", "--layout", "nchw", "--effort", "quick", "--launches", "1", "--no-peaks",
                    "--no-check", "--out", folder], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    (steps,) = pathlib.Path(folder).glob("*/launches/clean-1/steps.csv")
    ends, took = None, []
    with open(steps) as rows:
        for row in csv.DictReader(rows):
            end = int(row["completed_ns"])
            if ends is not None:
                took.append(1e-9 * (end - ends))
            ends = end + int(row["pause_ns"] or 0)
    return took[2:]


def theirs(options):
    said = subprocess.run([os.path.join(options.python, "bin/python"), "-m", "torch.distributed.run", "--standalone",
                           "--nproc-per-node", str(RANKS), os.path.join(PEERS, "ddp.py"), "--batch", str(options.batch)],
                          check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment(1))
    return json.loads(said.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbd", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4)
    options = parser.parse_args()
    mine, other = [], []
    for turn in range(options.rounds):
        for first in ((True, False) if turn % 2 == 0 else (False, True)):
            if first:
                with tempfile.TemporaryDirectory() as folder:
                    mine.append(statistics.median(ours(options, folder)))
            else:
                other.append(statistics.median(theirs(options)))
        print(f"round {turn + 1}: {mine[-1]:.4f} s, {other[-1]:.4f} s", file=sys.stderr, flush=True)
    header()
    return 0 if verdict("step s of two ranks", statistics.median(mine), statistics.median(other), 1.05)["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
