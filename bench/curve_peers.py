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
Statistical Intervals, chapter 4); of steps these are taken of logarithms. An interval reaches at least one held-out
sample, or one evaluation, to either side: less is not seen. Exit 1 where a value or a mean lies outside.
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
FALLING = ("loss", "perplexity")
FINER = {"top1": "loss", "bleu": "perplexity"}  # a second metric, where the goal's has few values
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
        request = json.loads((record / "run.json").read_text())["request"]
        launches = sorted(record.glob("launches/train-*"), key=lambda path: int(path.name.split("-")[1]))
        rows = [json.loads(line) for launch in launches for line in (launch / "evaluations.jsonl").read_text().splitlines()]
        found[request["model"], int(request.get("seed", 0))] = rows, launches[-1] / "weights.safetensors"
    return found


def run_python(options, settings, out, *further):
    """What curve.py writes; kept from an earlier call with the same settings."""
    if out.exists() and json.loads(out.read_text())["settings"] == settings:
        return json.loads(out.read_text())
    out.parent.mkdir(exist_ok=True)
    subprocess.run([options.python, PEER, "--data", options.data, "--out", out, *further, json.dumps(settings)],
                   check=True)
    return json.loads(out.read_text())


def interval(values, further=1, least=0.0):
    """For the mean of as many further seeds."""
    count, mean = len(values), statistics.mean(values)
    half = STUDENT[count - 1] * statistics.stdev(values) * math.sqrt(1 / further + 1 / count)
    return mean - max(half, least), mean + max(half, least)


def steps_interval(values, every, further=1):
    low, high = (math.exp(end) for end in interval([math.log(value) for value in values], further))
    centre = math.exp(statistics.mean(map(math.log, values)))
    return min(low, centre - every), max(high, centre + every)


def reached(rows, metric, goal):
    """Steps of the first evaluation that reaches the goal, or None."""
    good = (lambda value: value <= goal) if metric in FALLING else (lambda value: value >= goal)
    return next((row["step"] for row in rows if good(row["metrics"][metric])), None)


def judge(values, seed_interval, mean_interval, mean):
    inside = sum(seed_interval[0] <= value <= seed_interval[1] for value in values)
    mean_inside = mean_interval[0] <= mean(values) <= mean_interval[1]
    return inside == len(values) and mean_inside, f"{inside} of {len(values)}", "yes" if mean_inside else "NO"


def shown(values):
    return ", ".join("-" if value is None else f"{value:.4g}" for value in values)


def compare_ends(metric, ours, theirs, least):
    ours, theirs = ([rows[-1]["metrics"][metric] for rows in side] for side in (ours, theirs))
    seed, mean = interval(ours, 1, least), interval(ours, len(theirs), least)
    verdict = judge(theirs, seed, mean, statistics.mean)
    return [f"{metric} at the end", shown(ours), f"{seed[0]:.4g} to {seed[1]:.4g}", shown(theirs), *verdict[1:]], verdict[0]


def compare_steps(metric, goal, every, ours, theirs):
    """Undecided where a seed of tbd or of Python does not reach the goal: its steps are not known."""
    ours, theirs = ([reached(rows, metric, goal) for rows in side] for side in (ours, theirs))
    row = [f"steps to {metric} {goal:g}", shown(ours)]
    if None in ours + theirs:
        return [*row, "-", shown(theirs), "undecided", "undecided"], True
    seed, mean = steps_interval(ours, every), steps_interval(ours, every, len(theirs))
    verdict = judge(theirs, seed, mean, statistics.geometric_mean)
    return [*row, f"{seed[0]:.0f} to {seed[1]:.0f}", shown(theirs), *verdict[1:]], verdict[0]


def compare(options, settings, tbd):
    """Rows of the table of one network, whether all is inside, and how far the judges differ on tbd's weights."""
    model, (metric, goal) = settings["model"], settings["until"].split("=")
    seeds = range(settings["seed"], settings["seed"] + settings["seeds"])
    asked = {name: value for name, value in settings.items() if name not in ("until", "seeds", "framework")}
    results, apart = [], 0.0
    for seed in seeds:
        own = asked | {"seed": seed}
        results.append(run_python(options, own, options.work / "python" / f"{model}-{seed}.json"))
        rows, weights = tbd[model, seed]
        judged = run_python(options, own, options.work / "python" / f"{model}-{seed}-tbd.json", "--weights", weights)
        values = judged["evaluations"][0]["metrics"].items()
        apart = max([apart, *(abs(value / rows[-1]["metrics"][name] - 1) for name, value in values
                              if rows[-1]["metrics"].get(name))])
    ours, theirs = [tbd[model, seed][0] for seed in seeds], [result["evaluations"] for result in results]
    resolution = results[0]["resolution"]
    metrics = [metric] + [FINER[metric]] * (metric in FINER)
    compared = [compare_ends(name, ours, theirs, resolution.get(name, 0)) for name in metrics]
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
    parser.add_argument("--models", nargs="+", default=["resnet50", "llama", "inception_v3", "transformer"])
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
        print(f"{settings['model']}: tbd's weights, evaluated in Python: metrics differ by at most {apart:.1e}")
    sys.exit(0 if all(good for _, good, _ in compared) else 1)


if __name__ == "__main__":
    main()
