#!/usr/bin/env python3
"""What a row says of the next run: runs that follow each other, on a machine as it is and beside a competitor.

bench/judging_study.py measure TBD OUT [--runs 20] [--limit 4s] [--competitor]
bench/judging_study.py judge TBD OUT
bench/judging_study.py table OUT...

`measure` runs three workloads RUNS times, launches taking turns, and keeps the rows (OUT, one JSON object a line) and
the records beside it. The competitor computes and copies memory on one core in turns of work and rest, five seconds
long on the average. `judge` judges kept records anew, by another build. `table` prints, for each file of rows: how often the next run's number lies in the interval, how
rows are graded, how often a run would be ranked above its successor, and how far each estimate is from the next run's.
"""

import argparse
import csv
import json
import math
import multiprocessing
import pathlib
import random
import statistics
import subprocess
import sys
import time

WORKLOADS = ["resnet50", "seq2seq", "wgan_gp"]


def compete(seed):
    turns = random.Random(seed)
    block = bytearray(1 << 25)
    while True:
        end = time.monotonic() + turns.expovariate(1 / 5)
        while time.monotonic() < end:
            bytes(block)
            sum(range(100_000))
        time.sleep(turns.expovariate(1 / 5))


def records_of(out, run):
    return pathlib.Path(out).with_suffix(".records") / str(run)


def keep_rows(command, run, out):
    rows = subprocess.run([*command, "--no-peaks", "--quiet", "--json"], stdout=subprocess.PIPE, text=True, check=False)
    for line in rows.stdout.splitlines():
        out.write(json.dumps({"run": run, **json.loads(line)}) + "\n")
    out.flush()


def judge(options):
    with open(options.out, "w") as out:
        run = 0
        while records_of(options.out, run).is_dir():
            keep_rows([options.tbd, "run", "--resume", str(records_of(options.out, run))], run, out)
            run += 1


def measure(options):
    rival = multiprocessing.Process(target=compete, args=(1,), daemon=True)
    if options.competitor:
        rival.start()
    with open(options.out, "w") as out:
        for run in range(options.runs):
            command = [options.tbd, "run", *WORKLOADS, "--config", "tiny", "--limit", options.limit, "--launches", "3",
                       "--out", str(records_of(options.out, run))]
            keep_rows(command, run, out)
            print(f"run {run + 1} of {options.runs}", file=sys.stderr)
    if options.competitor:
        rival.kill()


def probe_scaled(record):
    """Units a second over all steps, times the best over the mean rate of the probe's multiply-adds."""
    units, seconds, rates = 0, 0, []
    for steps in pathlib.Path(record).glob("launches/clean-*/steps.csv"):
        with open(steps) as file:
            rows = list(csv.DictReader(file))
        kept = rows[len(rows) // 10:]
        before = rows[len(rows) // 10 - 1]
        units += sum(float(row["units"]) for row in kept)
        pauses = sum(int(row["pause_ns"] or 0) for row in [before, *kept[:-1]])
        seconds += (int(kept[-1]["completed_ns"]) - int(before["completed_ns"]) - pauses) / 1e9
        rates += [float(row["fma_flop_rate"]) for row in kept if row["fma_flop_rate"]]
    return units / seconds * max(rates) / statistics.mean(rates) if rates and seconds > 0 else None


# Each as a rate, so that their spreads compare.
ESTIMATES = {
    "headline": lambda row: row["throughput"],
    "total": lambda row: row["throughput_total"],
    "undisturbed": lambda row: row["throughput_undisturbed"],
    "sustained floor": lambda row: row["step_time_floor"] and 1 / row["step_time_floor"],
    "minimum": lambda row: row["step_time_min"] and 1 / row["step_time_min"],
    "median": lambda row: row["step_time_median"] and 1 / row["step_time_median"],
    "CPU time": lambda row: row["cpu_time_per_step"] and 1 / row["cpu_time_per_step"],
    "probe-scaled": lambda row: probe_scaled(row["record"]),
}


def successive(values):
    return [(a, b) for a, b in zip(values, values[1:])]


def percent(share):
    return f"{100 * share:.1f} %"


def judged(rows):
    pairs = successive(rows)
    inside = [a["throughput_low"] <= b["throughput"] <= a["throughput_high"] for a, b in pairs if a["throughput_low"]]
    fair = [(a, b) for a, b in pairs if "disturbed" not in (a["grade"], b["grade"])]
    covered = [a["throughput_low"] <= b["throughput"] <= a["throughput_high"] for a, b in fair]
    apart = [a["throughput_low"] > b["throughput_high"] or b["throughput_low"] > a["throughput_high"] for a, b in fair]
    widths = [(row["throughput_high"] - row["throughput_low"]) / 2 / row["throughput"] for row in rows
              if row["throughput_low"]]
    return {
        "runs": len(rows),
        "without a number": sum(row["throughput"] is None for row in rows),
        "disturbed": sum(row["grade"] == "disturbed" for row in rows),
        "covered": f"{percent(statistics.mean(covered))} of {len(covered)}" if covered else "none",
        "of all runs": f"{percent(statistics.mean(inside))} of {len(inside)}",
        "intervals apart": f"{sum(apart)} of {len(apart)}",
        "median half-width": percent(statistics.median(widths)),
    }


def spread(values):
    known = [value for value in values if value]
    if len(known) < 3:
        return "-"
    logs = [abs(math.log(b / a)) for a, b in successive(known)]
    cv = statistics.stdev(known) / statistics.mean(known)
    return f"{percent(cv)}, {percent(statistics.median(logs))}" + ("" if len(known) == len(values) else
                                                                   f" ({len(known)} runs)")


def print_table(header, lines):
    print("| " + " | ".join(header) + " |\n|" + "---|" * len(header))
    for line in lines:
        print("| " + " | ".join(map(str, line)) + " |")
    print()


def table(options):
    groups = {}
    for path in options.out:
        with open(path) as file:
            rows = [json.loads(line) for line in file]
        for model in WORKLOADS:
            groups[pathlib.Path(path).stem, model] = [row for row in rows if row["model"] == model]
    results = {group: judged(rows) for group, rows in groups.items()}
    header = list(next(iter(results.values())))
    print_table(["machine", "workload", *header], [[*group, *result.values()] for group, result in results.items()])
    print("Coefficient of variation over the runs, median change from a run to the next:\n")
    print_table(["machine", "workload", *ESTIMATES],
                [[*group, *(spread([estimate(row) for row in rows]) for estimate in ESTIMATES.values())]
                 for group, rows in groups.items()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    one = commands.add_parser("measure")
    one.add_argument("tbd")
    one.add_argument("out")
    one.add_argument("--runs", type=int, default=20)
    one.add_argument("--limit", default="4s")
    one.add_argument("--competitor", action="store_true")
    again = commands.add_parser("judge")
    again.add_argument("tbd")
    again.add_argument("out")
    all_ = commands.add_parser("table")
    all_.add_argument("out", nargs="+")
    options = parser.parse_args()
    {"measure": measure, "judge": judge, "table": table}[options.command](options)


if __name__ == "__main__":
    main()
