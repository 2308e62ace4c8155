#!/usr/bin/env python3
"""Does a network of a plan learn as it does in an idiomatic Python program? Trains both and compares the curves.

    bench/curve_peers.py --tbd PROGRAM --python PEERS/bin/python --data FOLDER --work FOLDER
                         [--plan plans/curves.plan] [--models resnet50 llama] [--seeds 3]

PEERS is the environment that bench/peers/setup.sh makes, --data the folder of the small sets. tbd trains the plan in
PyTorch, without its goals so that all trainings have as many steps; bench/peers/curve.py trains the same network on the
same files with its own initial values, order and crops. What --work has already is kept. Last, Python's networks
evaluate tbd's weights: both have to mean the same by a metric.

A value of Python's is held against the interval of 95 % for one further seed of tbd, mean +- t s sqrt(1 + 1/n), and
the mean of its m seeds against that for the mean of m further ones, sqrt(1/m + 1/n) in its place (Hahn & Meeker 1991,
Statistical Intervals, chapter 4). Of steps, losses, perplexities, errors and distances, which are above 0 without an
upper end, logarithms are taken. An interval reaches at least one held-out sample, or one evaluation, to either side:
less is not seen. Exit 1 where a value or a mean lies outside.
"""

import argparse
import json
import math
import pathlib
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PEER = ROOT / "bench/peers/curve.py"
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 14: 2.145,
           19: 2.093}  # 0.975 quantile, by degrees of freedom
FALLING = ("loss", "perplexity", "cer", "patch_swd")
# Further metrics, where the goal's has few values, as far as both sides have them.
FINER = {"top1": ["loss"], "bleu": ["perplexity"], "mlm_accuracy": ["loss"], "cer": ["loss"],
         "policy_top1": ["loss"], "box_ap": ["box_ap50", "loss"]}
HIGHEST = {"top1": 1, "mlm_accuracy": 1, "policy_top1": 1, "box_ap": 1, "box_ap50": 1, "bleu": 100}
MODELS = ["resnet50", "llama", "inception_v3", "transformer", "bert", "seq2seq", "deep_speech_2", "minigo",
          "wgan_gp"]  # mask_rcnn and efficientdet_d0 on request: not every set-up has their pictures
NUMBERS = {"batch": int, "steps": int, "seed": int, "seeds": int, "threads": int, "evaluate-every": int, "lr": float}


def read_plan(path, models):
    """The settings of each set of those models, in the plan's order (docs/plans.md); of frameworks PyTorch alone."""
    common, sets = {}, []
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            sets.append(dict(common))
        elif line:
            name, value = (part.strip() for part in line.split("=", 1))
            (sets[-1] if sets else common)[name] = NUMBERS.get(name, str)(value)
    chosen = [settings | {"framework": "pytorch"} for settings in sets if settings["model"] in models]
    missing = set(models) - {settings["model"] for settings in chosen}
    if missing:
        sys.exit(f"curve_peers: {path} has no {', '.join(sorted(missing))}")
    return chosen


def train_tbd(options, plan):
    options.work.mkdir(parents=True, exist_ok=True)
    file = options.work / "without-goals.plan"
    file.write_text("".join(f"[{settings['model']}]\n" + "".join(
        f"{name} = {value}\n" for name, value in settings.items() if name != "until") for settings in plan))
    subprocess.run([options.tbd, "train", "--plan", file, "--out", options.work / "tbd", "--quiet"], check=True,
                   stdout=subprocess.DEVNULL)


def read_tbd(runs):
    """Evaluations by model and seed, and the weights of the end."""
    found = {}
    for record in sorted(runs.iterdir()):
        request = read(record / "run.json")["request"]
        launches = sorted(record.glob("launches/train-*"), key=lambda path: int(path.name.split("-")[1]))
        # Each launch has the evaluations before it, too; one that was cut before its first has none.
        last = [file for launch in launches if (file := launch / "evaluations.jsonl").exists()][-1]
        rows = [json.loads(line) for line in last.read_text().splitlines()]
        found[request["model"], int(request.get("seed", 0))] = rows, launches[-1] / "weights.safetensors"
    return found


def run_python(options, settings, out, weights=None):
    """What curve.py writes; kept from an earlier call with the same settings and weights."""
    stale = weights and out.exists() and out.stat().st_mtime < weights.stat().st_mtime
    if stale or not out.exists() or read(out)["settings"] != settings:
        out.parent.mkdir(exist_ok=True)
        given = ["--weights", weights] if weights else []
        subprocess.run([options.python, PEER, "--data", options.data, "--out", out, *given, json.dumps(settings)],
                       check=True)
    return read(out)


def read(file):
    return json.loads(file.read_text())


def mean_of(values, logarithms):
    return statistics.geometric_mean(values) if logarithms else statistics.mean(values)


def interval(values, further, logarithms, least):
    """For the mean of as many further seeds."""
    count, scale = len(values), [math.log(value) for value in values] if logarithms else values
    half = STUDENT[count - 1] * statistics.stdev(scale) * math.sqrt(1 / further + 1 / count)
    middle = statistics.mean(scale)
    low, high = (math.exp(end) if logarithms else end for end in (middle - half, middle + half))
    centre = mean_of(values, logarithms)
    return min(low, centre - least), max(high, centre + least)


def reached(rows, metric, goal):
    """Steps of the first evaluation that reaches the goal, or None."""
    good = (lambda value: value <= goal) if metric in FALLING else (lambda value: value >= goal)
    return next((row["step"] for row in rows if good(row["metrics"][metric])), None)


def shown(values):
    return ", ".join("-" if value is None else f"{value:.4g}" for value in values)


def judge(what, ours, theirs, logarithms, least, highest=math.inf):
    """A row of the table, and whether all is inside. Undecided where a value is not known."""
    row = [what, shown(ours)]
    if None in [*ours, *theirs]:
        return [*row, "-", shown(theirs), "undecided", "undecided"], True
    low, high = interval(ours, 1, logarithms, least)
    inside = sum(low <= value <= high for value in theirs)
    mean_low, mean_high = interval(ours, len(theirs), logarithms, least)
    mean_inside = mean_low <= mean_of(theirs, logarithms) <= mean_high
    row += [f"{low:.4g} to {min(high, highest):.4g}", shown(theirs), f"{inside} of {len(theirs)}"]
    return [*row, "yes" if mean_inside else "NO"], inside == len(theirs) and mean_inside


def compare_ends(metric, ours, theirs, least):
    ends = [[rows[-1]["metrics"][metric] for rows in side] for side in (ours, theirs)]
    return judge(f"{metric} at the end", *ends, metric in FALLING, least, HIGHEST.get(metric, math.inf))


def compare_steps(metric, goal, every, ours, theirs):
    """Where a seed does not reach the goal, its steps are not known."""
    steps = [[reached(rows, metric, goal) for rows in side] for side in (ours, theirs)]
    return judge(f"steps to {metric} {goal:g}", *steps, True, every)


def compare(options, settings, tbd):
    """Rows of the table of one network, whether all is inside, and how far the judges differ on tbd's weights."""
    model, (metric, goal) = settings["model"], settings["until"].split("=")
    seeds = range(settings["seed"], settings["seed"] + settings["seeds"])
    asked = {name: value for name, value in settings.items() if name not in ("until", "seeds", "framework")}
    results, apart = [], {}
    for seed in seeds:
        own = asked | {"seed": seed}
        results.append(run_python(options, own, options.work / "python" / f"{model}-{seed}.json"))
        rows, weights = tbd[model, seed]
        judged = run_python(options, own, options.work / "python" / f"{model}-{seed}-tbd.json", weights)
        for name, value in judged["evaluations"][0]["metrics"].items():
            apart[name] = max(apart.get(name, 0), abs(value - rows[-1]["metrics"][name]))
    ours, theirs = [tbd[model, seed][0] for seed in seeds], [result["evaluations"] for result in results]
    resolution = results[0]["resolution"]
    known = ours[0][-1]["metrics"].keys() & theirs[0][-1]["metrics"].keys()
    shared = [name for name in (metric, *FINER.get(metric, [])) if name in known]
    compared = [compare_ends(name, ours, theirs, resolution.get(name, 0)) for name in shared]
    compared.append(compare_steps(metric, float(goal), settings["evaluate-every"], ours, theirs))
    label = f"{model} {settings['config']}, {settings['steps']} steps"
    return [[label, *row] for row, _ in compared], all(good for _, good in compared), apart


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbd", type=pathlib.Path, required=True)
    parser.add_argument("--python", type=pathlib.Path, required=True)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--plan", type=pathlib.Path, default=ROOT / "plans/curves.plan")
    parser.add_argument("--models", nargs="+", default=MODELS)
    parser.add_argument("--seeds", type=int, help="trainings of each side [the plan's]")
    options = parser.parse_args()
    plan = read_plan(options.plan, options.models)
    if options.seeds:
        plan = [settings | {"seeds": options.seeds} for settings in plan]
    train_tbd(options, plan)
    tbd = read_tbd(options.work / "tbd")
    compared = [compare(options, settings, tbd) for settings in plan]
    print("| network | measured | seeds of tbd | a further seed, 95 % | seeds of Python | inside | their mean |")
    print("|---|---|---|---|---|---|---|")
    for rows, _, _ in compared:
        for row in rows:
            print("| " + " | ".join(row) + " |")
    for settings, (_, _, apart) in zip(plan, compared):
        differences = ", ".join(f"{name} by {value:.1e}" for name, value in apart.items())
        print(f"{settings['model']}: tbd's weights, evaluated in Python, differ at most in {differences}")
    sys.exit(0 if all(good for _, good, _ in compared) else 1)


if __name__ == "__main__":
    main()
