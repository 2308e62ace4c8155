"""What each way to exchange gains over a slow link, and what it does to the weights: two workers, one thread each.

    python3 bench/exchange_remedies.py --tbd PROGRAM --worker WORKER --data FOLDER [--links 100Mbit,1Gbit] [--steps 64]

WORKER is PROGRAM's worker of PyTorch, FOLDER a set of images that the network learns (tbd data: photos). The gain is from
one run of PROGRAM in which launches of all ways take turns: samples per second over those of all_reduce, of the same
link, by pairs of launches (tbd compare). The weights are from two workers that the protocol drives, without a link, each
way from the same weights on the same samples: the distance of its weights from those of all_reduce after so many steps
over the size of those, the same over the way that these went, and the mean loss of the last eighth of the samples. Prints
a table in Markdown.
"""

import argparse
import array
import itertools
import json
import os
import subprocess
import sys
import tempfile

RANKS = 2
BASE = "all_reduce"
WAYS = {BASE: {}, "sharded": {"exchange": "sharded"}, "every 4": {"every": 4}, "every 16": {"every": 16},
        "wire bf16": {"wire": "bf16"}, "wire fp16": {"wire": "fp16"}, "wire low_rank_1": {"wire": "low_rank_1"},
        "wire low_rank_2": {"wire": "low_rank_2"}, "wire low_rank_4": {"wire": "low_rank_4"},
        "accumulate 4": {"accumulate": 4}, "none": {"exchange": "none"}}


def plan_of(options):
    common = [f"effort = {options.effort}", f"launches = {options.launches}", "peaks = no", "check = no"]
    sets = [[f"[{name}]", f"model = {options.model}", f"config = {options.config}", f"batch = {options.batch}",
             "threads = 1", f"workers = {RANKS}", f"link = {options.links}"] + [f"{k} = {v}" for k, v in way.items()]
            for name, way in WAYS.items()]
    return "\n".join(common + [line for each in sets for line in each]) + "\n"


def matches(row, way):
    usual = {"exchange": "all_reduce", "wire": "same", "every": 1, "accumulate": 1}
    return all(row[key] == way.get(key, value) for key, value in usual.items())


def gain_of(options, row, usual):
    """Of the launches of one round, with its interval."""
    said = subprocess.run([options.tbd, "compare", usual["record"], row["record"], "--across",
                           "exchange,wire,every,accumulate", "--json"], stdout=subprocess.PIPE, text=True)
    found = json.loads(said.stdout.splitlines()[0])
    low, high = found["ratio_low"], found["ratio_high"]
    return f"{found['ratio']:.2f}" + (f" ({low:.2f} to {high:.2f})" if low is not None else "")


def timed(options):
    """Rows of the run by link and way, with the gain of those that were measured."""
    with tempfile.TemporaryDirectory() as folder:
        plan = os.path.join(folder, "remedies.plan")
        with open(plan, "w") as file:
            file.write(plan_of(options))
        said = subprocess.run([options.tbd, "run", "--plan", plan, "--out", options.out or os.path.join(folder, "out"),
                               "--json"], stdout=subprocess.PIPE, text=True)
        rows = [json.loads(line) for line in said.stdout.splitlines()]
        found = {(row["link"], name): row for row in rows for name, way in WAYS.items() if matches(row, way)}
        for (link, _), row in found.items():
            usual = found[link, BASE]
            if row is usual:
                row["gain"] = "1"
            else:
                row["gain"] = gain_of(options, row, usual) if row["throughput"] and usual["throughput"] else ""
        return found


class Worker:
    def __init__(self, path, cpu):
        self.process = subprocess.Popen(["taskset", "-c", str(cpu), path], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
        self.losses = []

    def say(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answer(self):
        while True:
            said = json.loads(self.process.stdout.readline())
            if said["type"] == "failure":
                raise SystemExit(said["sentence"])
            if said["type"] != "steps":
                return said
            self.losses += [row[14] for row in said["rows"]]


def ask(workers, requests):
    """All at once, as ranks wait for each other."""
    for worker, request in zip(workers, requests):
        worker.say(**request)
    return [worker.answer() for worker in workers]


def weights_of(worker, folder):
    file = os.path.join(folder, "weights")
    ask([worker], [{"type": "read", "prefixes": ["param/"], "file": file}])
    with open(file, "rb") as stored:
        head = json.loads(stored.read(int.from_bytes(stored.read(8), "little")))
        data = stored.read()
    values = array.array("f")
    for name in sorted(head):
        if name != "__metadata__":
            begin, end = head[name]["data_offsets"]
            values.frombytes(data[begin:end])
    return values


def trained(options, program, way):
    """Weights before and after, and the losses of the steps."""
    program = json.loads(json.dumps(program))
    accumulate = way.get("accumulate", 1)
    for phase in program["phases"]:
        phase["accumulate"] = phase.get("accumulate", 1) * accumulate
    with tempfile.TemporaryDirectory() as folder:
        workers = [Worker(options.worker, cpu) for cpu in itertools.islice(itertools.cycle(os.sched_getaffinity(0)), RANKS)]
        ask(workers, [{"type": "hello", "version": 1}] * RANKS)
        ask(workers, [{"type": "load", "program": program, "bindings": {"N": options.batch}, "device": "cpu",
                       "layout": "nchw", "mode": "", "precision": "fp32", "dropout": "framework", "threads": 1, "seed": 0,
                       "capture": False, "pass": "clean",
                       "world": {"rank": rank, "size": RANKS, "store": os.path.join(folder, "store"), "addresses": [],
                                 "ports": [], "timeout_seconds": 60, "exchange": way.get("exchange", "all_reduce"),
                                 "wire": way.get("wire", "same"), "every": way.get("every", 1),
                                 "bucket_bytes": 25 << 20}} for rank in range(RANKS)])
        before = weights_of(workers[0], folder)
        source = {"seed": 0, "path": os.path.abspath(options.data), "threads": 1, "prefetch": 3}
        ask(workers, [{"type": "run", "steps": options.steps // accumulate, "seconds": 0, "first_step": 1, "traced": False,
                       "files": "", "input": {"mode": "pipeline", "file": "", "source": source, "save": ""}}] * RANKS)
        after = weights_of(workers[0], folder)
        ask(workers, [{"type": "bye"}] * RANKS)
        for worker in workers:
            worker.process.wait()
    return before, after, workers[0].losses


def distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b)) ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbd", required=True)
    parser.add_argument("--worker", required=True)
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--config", default="small")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--links", default="100Mbit,1Gbit")
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--effort", default="smoke")
    parser.add_argument("--launches", type=int, default=3)
    parser.add_argument("--out", help="keep the records of the run here")
    parser.add_argument("--weights-only", action="store_true", help="time nothing")
    options = parser.parse_args()
    described = subprocess.run([options.tbd, "describe", options.model, "--config", options.config, "--program"],
                               check=True, stdout=subprocess.PIPE, text=True)
    program = json.loads(described.stdout)
    rows = {} if options.weights_only else timed(options)
    links = [] if options.weights_only else options.links.split(",")
    print("| way |" + "".join(f" samples/s over {link} | gain | bytes a step |" for link in links)
          + f" weights off after {options.steps} steps | off, of the way | loss |")
    print("|---|" + "---|---|---|" * len(links) + "---|---|---|")
    before, base, _ = trained(options, program, WAYS[BASE])
    size, way_went = distance(base, itertools.repeat(0.0)), distance(base, before)
    for name, way in WAYS.items():
        cells = []
        for link in links:
            row = rows[link, name]
            cells += [f"{row['throughput']:.1f}" if row["throughput"] else row["outcome"], row["gain"],
                      f"{row['link_bytes']:.3g}" if row["link_bytes"] else ""]
        _, after, losses = trained(options, program, way)
        last = losses[-max(1, len(losses) // 8):]
        off = distance(after, base)
        cells += [f"{off / size:.2g}", f"{off / way_went:.2g}", f"{sum(last) / len(last):.3f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
