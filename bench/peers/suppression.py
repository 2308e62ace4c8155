"""Greedy suppression at 800 x 1344: tbd's against torchvision's kernel on a CPU, taking turns on one thread.

  PEERS/bin/python bench/peers/suppression.py BUILD [ROUNDS]     PEERS: made by bench/peers/setup.sh

Both see the same boxes, by falling logit, level by level: BUILD/bench/bench_detection_host writes them. Prints one JSON line:
the least CPU milliseconds of each, and whether both kept the same boxes in float64. torchvision has float32 boxes in a step,
so that is what is timed; tbd's are float64.
"""
import array
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
from torchvision.ops import nms

OVERLAP = 0.7


def read_levels(path):
    rows = array.array("d")
    with open(path, "rb") as file:
        rows.frombytes(file.read())
    table = torch.tensor(rows, dtype=torch.float64).reshape(-1, 5)
    return [table[table[:, 0] == level, 1:] for level in range(int(table[-1, 0]) + 1)]


def suppress(levels):
    """How many boxes are kept; scores fall, as the boxes do."""
    return sum(len(nms(boxes, torch.arange(len(boxes), 0, -1, dtype=boxes.dtype), OVERLAP)) for boxes in levels)


def main(build, rounds):
    torch.set_num_threads(1)
    program = [os.path.join(build, "bench", "bench_detection_host"), "--rounds", "1"]
    best = {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "boxes")
        for turn in range(rounds):
            printed = subprocess.run([*program, "--boxes", path], check=True, capture_output=True, text=True).stdout
            ours = json.loads(printed)
            if turn == 0:
                doubles = read_levels(path)
                floats = [boxes.float() for boxes in doubles]
            began = time.thread_time()
            suppress(floats)
            theirs = {"torchvision_ms": 1e3 * (time.thread_time() - began)}
            for key, value in [*ours.items(), *theirs.items()]:
                if key.endswith("_ms"):
                    best[key] = min(value, best.get(key, value))
    print(json.dumps({"boxes": ours["boxes"], "kept_equal": suppress(doubles) == ours["kept"], **best,
                      "ratio": best["suppression_ms"] / best["torchvision_ms"]}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
