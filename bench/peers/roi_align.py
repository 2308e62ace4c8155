"""RoIAlign of four maps at 800 x 1344, forward with backward: tbd's against torchvision's kernel, taking turns on one thread.

  PEERS/bin/python bench/peers/roi_align.py BUILD [ROUNDS]     PEERS: made by bench/peers/setup.sh

Both read the same regions, 512 into 7 x 7 and 128 into 14 x 14, from maps of 256 channels: BUILD/bench/
bench_pytorch_roi_align writes them. torchvision's kernel is called once a level on that level's regions; which region is
of which level is known to both. Its maps are contiguous, as it wants them. Prints one JSON line: the least CPU milliseconds of
each, and ours over theirs.
"""
import array
import json
import os
import subprocess
import sys
import tempfile
import time

import torch
from torchvision.ops import roi_align

STRIDES, CHANNELS = (4, 8, 16, 32), 256
CASES = {"512x7": (512, 7), "128x14": (128, 14)}


def read_regions(path):
    """By how many are read at once: of each level its regions."""
    rows = array.array("d")
    with open(path, "rb") as file:
        rows.frombytes(file.read())
    table = torch.tensor(rows, dtype=torch.float64).reshape(-1, 7)
    return {count: [table[(table[:, 0] == count) & (table[:, 6] == level), 1:6].float() for level in range(4)]
            for count, _ in CASES.values()}


def step(maps, regions, out):
    for image, rois, stride in zip(maps, regions, STRIDES, strict=True):
        aligned = roi_align(image, rois, out, 1 / stride, 2)
        aligned.backward(torch.ones_like(aligned))
        image.grad = None


def timed(work):
    began = time.process_time()
    work()
    return 1e3 * (time.process_time() - began)


def main(build, rounds):
    torch.set_num_threads(1)
    program = [os.path.join(build, "bench", "bench_pytorch_roi_align"), "--rounds", "2"]
    maps = [torch.randn(1, CHANNELS, 800 // stride, 1344 // stride, requires_grad=True) for stride in STRIDES]
    ours, theirs = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rois")
        for _ in range(rounds):
            printed = subprocess.run([*program, "--rois", path], check=True, capture_output=True, text=True).stdout
            regions = read_regions(path)
            for name, (count, out) in CASES.items():
                ours.setdefault(name, []).append(json.loads(printed)[name])
                theirs.setdefault(name, []).append(timed(lambda: step(maps, regions[count], out)))
    for name in CASES:
        mine, other = min(ours[name]), min(theirs[name])
        print(json.dumps({"case": name, "tbd_ms": mine, "torchvision_ms": other, "ratio": mine / other}))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10)
