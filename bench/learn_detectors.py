"""Do the detectors learn? Average precision on held-out objects, and without sense in the labels.

    bench/learn_detectors.py --program PROGRAM --source PACKAGES [--networks efficientdet_d0 mask_rcnn]
                             [--framework pytorch] [--steps 1500] [--seeds 1 2 3] [--folder FOLDER]

PACKAGES holds the unpacked packages of `tbd data stamps`. Each network trains in a small configuration on stamps of
128 x 128 pixels, on the set with each seed, and with the first seed on the same pictures with the annotations of others.
Its box AP on the validation part, which has other objects and other photographs, has to reach the bound with the set, and
to stay below half of it without sense. Exit 1 otherwise. The bounds were set from pilot seeds (Mask R-CNN: about half the
worst of 1, 2, 11, 12, 13, 21, 22, 23, 0.0026 to 0.0321, shuffled 0.0006; EfficientDet: 0.4 of the worst of 12 and 21,
0.0305 and 0.0394): they show a working pipeline and no quality of a model.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple


class Lesson(NamedTuple):
    config: str
    categories: int  # that the configuration has places for
    images: int
    sides: str  # longer sides of objects, pixels
    batch: int
    rate: float  # its peak
    bound: float  # of box AP


# EfficientDet needs more than 8 samples a batch: its coarsest level has one place a sample, and running statistics of so
# few values do not serve held-out pictures.
NETWORKS = {"efficientdet_d0": Lesson("small", 5, 2400, "40-110", 16, 0.12, 0.012),
            "mask_rcnn": Lesson("tiny", 3, 600, "24-64", 8, 0.02, 0.0015)}


def make_set(arguments, lesson, folder):
    if not folder.exists():
        subprocess.run([arguments.program, "data", "stamps", "--source", arguments.source, "--out", folder, "--quiet",
                        "--categories", str(lesson.categories), "--size", "128x128", "--images", str(lesson.images),
                        "--sides", lesson.sides], check=True)
    return folder


def without_sense(data, folder):
    """The same pictures, each with the annotations of one further on."""
    if folder.exists():
        return folder
    (folder / "annotations").mkdir(parents=True)
    for split in ("train2017", "val2017"):
        os.symlink(data / split, folder / split)
        name = f"annotations/instances_{split}.json"
        content = json.loads((data / name).read_text())
        if split == "train2017":
            ids = [image["id"] for image in content["images"]]
            following = dict(zip(ids, ids[len(ids) // 2:] + ids[:len(ids) // 2]))
            for annotation in content["annotations"]:
                annotation["image_id"] = following[annotation["image_id"]]
        (folder / name).write_text(json.dumps(content))
    return folder


def trained(arguments, network, data, seed, out):
    """Metrics of the last evaluation, and seconds of training."""
    lesson = NETWORKS[network]
    subprocess.run([arguments.program, "train", network, "--config", lesson.config, "--framework", arguments.framework,
                    "--data", data, "--batch", str(lesson.batch), "--steps", str(arguments.steps),
                    "--lr", str(lesson.rate), "--seed", str(seed), "--threads", str(arguments.threads),
                    "--pictures", "0", "--out", out, "--quiet"], check=True, stdout=subprocess.DEVNULL)
    last = (Path(out) / "launches/train-1/evaluations.jsonl").read_text().splitlines()[-1]
    return json.loads(last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(arguments.folder or scratch).resolve()
        for network in arguments.networks:
            lesson = NETWORKS[network]
            data = make_set(arguments, lesson, folder / f"stamps-{network}")
            shuffled = without_sense(data, folder / f"shuffled-{network}")
            for form, path, seeds in (("labels", data, arguments.seeds), ("shuffled", shuffled, arguments.seeds[:1])):
                for seed in seeds:
                    out = folder / f"{network}-{arguments.framework}-{form}-{arguments.steps}-{seed}"
                    row = trained(arguments, network, path, seed, out)
                    ap = row["metrics"].get("box_ap", 0)
                    right = ap >= lesson.bound if form == "labels" else ap < lesson.bound / 2
                    failed = failed or not right
                    print(network, arguments.framework, form, f"seed {seed}", f"{row['training_seconds']:.0f} s",
                          {name: round(value, 4) for name, value in row["metrics"].items()},
                          "as it should be" if right else "WRONG", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
