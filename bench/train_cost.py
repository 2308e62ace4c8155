#!/usr/bin/env python3
"""What a training's frame costs: the steps of `tbd train` beside those of `tbd run --input pipeline`, in turns.

    train_cost.py [--tbd PROGRAM] [--model resnet50] [--config small] [--data photos] [--batch 16] [--steps 200]
                  [--framework pytorch] [--rounds 5]

Both train the same network on the same data with one thread; evaluations and checkpoints are apart in the one and absent
in the other. Prints seconds a step of each round, the ratio of the medians (throughput of `train` over that of `run`), what
a checkpoint and an evaluation took, and the same ratio by CPU time of a step (medians over steps), which other work on the
machine disturbs less.
"""
import argparse
import csv
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def rows(launch):
    """Of each step: when it was complete, and the CPU time of the worker until then, from the step before."""
    with open(launch / "steps.csv", encoding="utf-8") as file:
        return [(int(row["completed_ns"]), int(row["user_cpu_ns"]) + int(row["system_cpu_ns"]))
                for row in csv.DictReader(file)]


def cpu_of(rows):
    return statistics.median(cpu for _, cpu in rows[len(rows) // 4:])


def step_of_run(options, folder):
    out = folder / "run"
    subprocess.run([options.tbd, "run", options.model, *options.workload, "--input", "pipeline", "--launches", "1",
                    "--effort", "quick", "--quiet", "--out", out], check=True, stdout=subprocess.DEVNULL)
    (launch,) = out.rglob("launches/clean-1")
    steps = rows(launch)
    half = len(steps) // 2
    return (steps[-1][0] - steps[half][0]) / 1e9 / (len(steps) - 1 - half), cpu_of(steps)


def step_of_training(options, folder):
    """Between the first and the last evaluation; its CPU time; the seconds of a checkpoint with its evaluation."""
    out = folder / "train"
    subprocess.run([options.tbd, "train", options.model, *options.workload, "--steps", str(options.steps),
                    "--evaluate-every", str(options.steps // 4), "--lr", "0.01", "--quiet", "--out", out], check=True,
                   stdout=subprocess.DEVNULL)
    launch = out / "launches/train-1"
    evaluations = [json.loads(line) for line in (launch / "evaluations.jsonl").read_text().splitlines()]
    first, last = (row for row in evaluations if row["step"] in (options.steps // 4, options.steps))
    measured = rows(launch)
    steps = last["step"] - first["step"]
    seconds = last["training_seconds"] - first["training_seconds"]
    apart = (measured[-1][0] - measured[first["step"] - 1][0]) / 1e9 - seconds
    return seconds / steps, cpu_of(measured), apart / 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tbd", default=ROOT / "tbd")
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--config", default="small")
    parser.add_argument("--data", default="photos")
    parser.add_argument("--batch", default="16")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    made = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tbd/data" / options.data
    data = made if made.exists() else options.data
    options.workload = ["--config", options.config, "--data", data, "--batch", options.batch, "--threads", "1",
                        "--framework", options.framework]
    trained, ran, trained_cpu, ran_cpu = [], [], [], []
    for turn in range(options.rounds):
        with tempfile.TemporaryDirectory() as folder:
            for which in (0, 1) if turn % 2 == 0 else (1, 0):
                if which == 0:
                    step, cpu = step_of_run(options, Path(folder))
                    ran.append(step)
                    ran_cpu.append(cpu)
                else:
                    step, cpu, apart = step_of_training(options, Path(folder))
                    trained.append(step)
                    trained_cpu.append(cpu)
        print(f"round {turn + 1}: run {1e3 * ran[-1]:.2f} ms, train {1e3 * trained[-1]:.2f} ms a step; CPU "
              f"{ran_cpu[-1] / 1e6:.2f} and {trained_cpu[-1] / 1e6:.2f} ms; {1e3 * apart:.0f} ms a checkpoint with its "
              "evaluation", flush=True)
    ratio = statistics.median(ran) / statistics.median(trained)
    cpu_ratio = statistics.median(ran_cpu) / statistics.median(trained_cpu)
    print(f"{options.model} {options.config} in {options.framework}: throughput of train over run {ratio:.3f}, "
          f"by CPU time {cpu_ratio:.3f}")


if __name__ == "__main__":
    main()
