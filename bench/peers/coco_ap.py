"""COCO's average precision and masks: this program against pycocotools, in numbers and in time.

    python bench/peers/coco_ap.py --bench BUILD/bench/bench_coco_metric [--sets 200] [--polygons 20000] [--seed 1]
    python bench/peers/coco_ap.py --bench BUILD/bench/bench_coco_metric --speed 5

The first makes random sets (crowds, equal scores, images without objects or detections, more than 100 detections,
categories without objects) and random polygons, and prints the largest differences; exit 1 beyond 1e-12, or where a mask
differs at all. The second makes a set of val2017's size and lets both judge its boxes in turn: seconds of CPU from what
has been read to the numbers. Exit 77 without pycocotools.
"""

import argparse
import contextlib
import io
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

try:
    import numpy
    from pycocotools import mask as masks
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval
except ImportError as error:
    print(f"coco_ap: {error}", file=sys.stderr)
    sys.exit(77)

TOLERANCE = 1e-12


def ours(bench, *arguments):
    done = subprocess.run([bench, *map(str, arguments)], check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def mean(cells):
    cells = cells[cells > -1]
    return float(cells.mean()) if cells.size else -1.0


def judge(truth, results, kind):
    """pycocotools' seconds, twelve numbers and those of each category; -1 is absent."""
    with contextlib.redirect_stdout(io.StringIO()):
        started = time.process_time()
        evaluation = COCOeval(truth, results, kind)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
        seconds = time.process_time() - started
    precision = evaluation.eval["precision"]
    categories = {str(c): mean(precision[:, :, k, 0, 2]) for k, c in enumerate(evaluation.params.catIds)}
    return seconds, {"stats": list(map(float, evaluation.stats)), "by_category": categories}


def loaded(set_path, results):
    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO(str(set_path))
        return truth, truth.loadRes(results)


def largest_difference(theirs, line):
    def known(value):
        return -1.0 if value is None else value

    assert theirs["by_category"].keys() == line["by_category"].keys()
    pairs = list(zip(theirs["stats"], line["stats"], strict=True))
    pairs += [(value, line["by_category"][c]) for c, value in theirs["by_category"].items()]
    return max(abs(a - known(b)) for a, b in pairs)


def random_polygon(draw, width, height):
    kind = draw.random()
    if kind < 0.3:  # a rectangle, now and then on whole pixels
        x, y, w, h = (draw.uniform(0, width), draw.uniform(0, height), draw.uniform(1, width), draw.uniform(1, height))
        if kind < 0.15:
            x, y, w, h = map(round, (x, y, w, h))
        return [x, y, x + w, y, x + w, y + h, x, y + h]
    points = []
    for _ in range(draw.randint(3, 9)):
        points += [round(draw.uniform(-0.2, 1.2) * width, 2), round(draw.uniform(-0.2, 1.2) * height, 2)]
    if kind > 0.9:  # corners repeated and in line
        points = [float(round(value / 4) * 4) for value in points] + points[:2]
    return points


def run_lengths_of(points, height, width):
    return masks.merge(masks.frPyObjects(points, height, width))


def moved(draw, points, by):
    dx, dy = draw.uniform(-by, by), draw.uniform(-by, by)
    return [round(value + (dy if i % 2 else dx), 2) for i, value in enumerate(points)]


def as_counts(mask):
    """The runs as a list."""
    pixels = masks.decode(mask).flatten(order="F")
    edges = numpy.flatnonzero(numpy.diff(pixels)) + 1
    runs = numpy.diff(numpy.concatenate([[0], edges, [pixels.size]])).tolist()
    return [0] + runs if pixels[0] else runs


def as_text(mask):
    return {"size": mask["size"], "counts": mask["counts"].decode()}


def random_set(draw):
    """A set and results with boxes and masks."""
    categories = draw.sample(range(1, 91), draw.randint(1, 6))
    images, annotations, results = [], [], []
    digits = draw.choice([1, 2, 6])
    for i in range(draw.randint(1, 14)):
        width, height = draw.randint(20, 300), draw.randint(20, 300)
        image = {"id": 100 + 7 * ((i * 5) % 14), "width": width, "height": height, "file_name": f"{i}.jpg"}
        images.append(image)
        objects = draw.choice([0, 1, 3, 8])
        shapes = []
        for _ in range(objects):
            polygons = [random_polygon(draw, width / draw.choice([1, 2, 6]), height / draw.choice([1, 2, 6]))
                        for _ in range(draw.choice([1, 1, 2, 4]))]
            shape = run_lengths_of(polygons, height, width)
            crowd = draw.random() < 0.15
            segmentation = polygons
            if crowd:
                segmentation = {"size": [height, width], "counts": as_counts(shape)}
            elif draw.random() < 0.2:
                segmentation = as_text(shape)
            category = draw.choice(categories[1:] or categories)  # the first often has none
            shapes.append((category, polygons))
            annotations.append({"id": len(annotations) + 1, "image_id": image["id"], "category_id": category,
                                "bbox": masks.toBbox(shape).tolist(), "area": float(masks.area(shape)),
                                "iscrowd": int(crowd), "segmentation": segmentation})
        found = draw.choice([0, 2, 12, 12, 160])
        for _ in range(found):
            if shapes and draw.random() < 0.6:
                category, polygons = draw.choice(shapes)
                polygons = [moved(draw, points, draw.choice([0, 2, 10])) for points in polygons]
                if draw.random() < 0.1:
                    category = draw.choice(categories)
            else:
                category, polygons = draw.choice(categories), [random_polygon(draw, width, height)]
            shape = run_lengths_of(polygons, height, width)
            box = [round(value + draw.choice([0, 0, 0.4]), 2) for value in masks.toBbox(shape).tolist()]
            results.append({"image_id": image["id"], "category_id": category, "bbox": box,
                            "score": round(draw.random(), digits), "segmentation": as_text(shape)})
    draw.shuffle(images)
    draw.shuffle(results)
    listed = [{"id": c, "name": f"c{c}"} for c in categories]
    return {"info": {}, "images": images, "annotations": annotations, "categories": listed}, results


def compare_sets(bench, folder, draw, count):
    worst = {"bbox": 0.0, "segm": 0.0}
    judged = 0
    while judged < count:
        truth, results = random_set(draw)
        if not results:  # pycocotools cannot load none
            continue
        judged += 1
        (folder / "set.json").write_text(json.dumps(truth))
        (folder / "results.json").write_text(json.dumps(results))
        for kind in worst:
            other = "segmentation" if kind == "bbox" else "bbox"  # with a box pycocotools takes the mask's area from it
            given = [{key: value for key, value in result.items() if key != other} for result in results]
            theirs = judge(*loaded(folder / "set.json", given), kind)[1]
            line = ours(bench, "score", folder / "set.json", folder / "results.json", kind)[0]
            worst[kind] = max(worst[kind], largest_difference(theirs, line))
    return worst


def compare_polygons(bench, folder, draw, count):
    """How many masks, areas, boxes or texts differ."""
    items = []
    for _ in range(count):
        width, height = draw.randint(1, 90), draw.randint(1, 90)
        polygons = [random_polygon(draw, width, height) for _ in range(draw.choice([1, 1, 1, 2, 5]))]
        items.append({"segmentation": polygons, "height": height, "width": width})
    (folder / "polygons.json").write_text(json.dumps(items))
    different = 0
    for item, line in zip(items, ours(bench, "masks", folder / "polygons.json"), strict=True):
        shape = run_lengths_of(item["segmentation"], item["height"], item["width"])
        theirs = (as_text(shape)["counts"], int(masks.area(shape)), masks.toBbox(shape).tolist())
        different += theirs != (line["string"], line["area"], line["bbox"])
    return different


def compare_speed(bench, folder, rounds):
    subprocess.run([bench, "make", str(folder)], check=True)
    truth, results = loaded(folder / "set.json", str(folder / "results.json"))
    times = []
    for _ in range(rounds):
        line = ours(bench, "score", folder / "set.json", folder / "results.json")[0]
        seconds, theirs = judge(truth, results, "bbox")
        times.append((line["judge_s"], seconds, seconds / line["judge_s"]))
        print(f"tbd {line['judge_s']:.2f} s (and {line['read_s']:.2f} s to read), pycocotools {seconds:.2f} s, "
              f"largest difference {largest_difference(theirs, line):.1e}", flush=True)
    mine, other, ratio = (statistics.median(column) for column in zip(*times))
    print(f"median: {mine:.2f} s against {other:.2f} s, {ratio:.1f} times as fast "
          f"({min(t[2] for t in times):.1f} to {max(t[2] for t in times):.1f})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--sets", type=int, default=200)
    parser.add_argument("--polygons", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--speed", type=int, default=0, metavar="ROUNDS")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if options.speed:
            compare_speed(options.bench, folder, options.speed)
            return
        draw = random.Random(options.seed)
        different = compare_polygons(options.bench, folder, draw, options.polygons)
        print(f"{options.polygons} random masks: {different} differ", flush=True)
        worst = compare_sets(options.bench, folder, draw, options.sets)
        print(f"{options.sets} random sets: largest difference {worst['bbox']:.1e} for boxes, {worst['segm']:.1e} for masks")
        if different or max(worst.values()) > TOLERANCE:
            sys.exit(1)


if __name__ == "__main__":
    main()
