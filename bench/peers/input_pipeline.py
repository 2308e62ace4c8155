"""Images per second and core: this program's input pipeline against torchvision transforms on PIL.

    python bench/peers/input_pipeline.py --data DIR --bench BUILD/bench/bench_input_bench [--rounds 5] [--seconds 5]

DIR is in the layout of ImageNet (tbd data photos makes one). Both sides do the same: read the file, decode, random
resized crop to 224 (area 0.08-1, aspect 3/4-4/3, bilinear with PIL's antialias), flip, to float, normalise, batches of
32. Both run with one thread and are interleaved, round by round; a figure is images over CPU time of the process.
Needs torch, torchvision and Pillow.
"""

import argparse
import json
import statistics
import subprocess
import time

import torch
import torchvision
from torchvision import transforms
import PIL
from PIL import features

BATCH = 32


def loader(folder):
    chain = transforms.Compose([
        transforms.RandomResizedCrop(224),
        transforms.RandomHorizontalFlip(),
        transforms.ToTensor(),
        transforms.Normalize((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)),
    ])
    images = torchvision.datasets.ImageFolder(folder, chain)
    return torch.utils.data.DataLoader(images, batch_size=BATCH, shuffle=True, num_workers=0, drop_last=True)


def batches(source):
    while True:
        yield from source


def torchvision_rate(stream, seconds):
    """Images per CPU second of this process, which has one thread."""
    next(stream)
    images, cpu, began = 0, time.process_time(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        images += len(next(stream)[1])
    return images / (time.process_time() - cpu)


def our_rate(bench, folder, seconds):
    line = subprocess.run([bench, folder, "--seconds", str(seconds), "--batch", str(BATCH), "--threads", "1"],
                          check=True, capture_output=True, text=True).stdout
    return json.loads(line)["images_per_core_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    stream = batches(loader(options.data + "/train"))
    ours, theirs = [], []
    for _ in range(options.rounds):
        ours.append(our_rate(options.bench, options.data, options.seconds))
        theirs.append(torchvision_rate(stream, options.seconds))
        print(f"round {len(ours)}: tbd {ours[-1]:.1f}, torchvision on PIL {theirs[-1]:.1f} images/s/core", flush=True)
    ratios = sorted(a / b for a, b in zip(ours, theirs))
    print(json.dumps({
        "tbd_images_per_core_s": round(statistics.median(ours), 1),
        "torchvision_pil_images_per_core_s": round(statistics.median(theirs), 1),
        "ratio": round(statistics.median(ratios), 3),
        "ratio_low": round(ratios[0], 3),
        "ratio_high": round(ratios[-1], 3),
        "target": 2.0,
        "torchvision": torchvision.__version__,
        "pillow": PIL.__version__,
        "pillow_libjpeg_turbo": features.version("libjpeg_turbo"),
    }))


if __name__ == "__main__":
    main()
