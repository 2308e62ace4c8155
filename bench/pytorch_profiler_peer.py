"""What a trace costs: traced over untraced steps of the session, beside those of torch.profiler in Python.

    python3 bench/pytorch_profiler_peer.py --build BUILD --python ENVIRONMENT [--model resnet50] [--config ""]
                                           [--batch 4] [--pairs 10] [--threads 2]

ENVIRONMENT is what bench/peers/setup.sh made. torch.profiler records shapes and memory; the session records shapes and
nodes. Only steps are timed: starting and stopping the profiler, and handing a trace over, lie outside. Steps with and
without take turns within one process; a ratio is the median over the pairs.
"""

import argparse
import importlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

from interleave import PEERS, environment, header, verdict


def arguments_parser():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build")
    parser.add_argument("--python")
    parser.add_argument("--inputs", help=argparse.SUPPRESS)  # of the process that runs torch
    parser.add_argument("--model", default="resnet50")
    parser.add_argument("--config", default="")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    return parser


def timed(step):
    wall, cpu = time.perf_counter(), time.process_time()
    step()
    return time.perf_counter() - wall, time.process_time() - cpu


def profiled(step):
    """Times of the step, seconds of stopping, and how many events there were."""
    from torch.profiler import ProfilerActivity, profile

    seen = profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True)
    seen.start()
    times = timed(step)
    begin = time.perf_counter()
    seen.stop()
    return times, time.perf_counter() - begin, len(seen.profiler.kineto_results.events())


def python_side(arguments):
    """Runs in ENVIRONMENT."""
    sys.path.insert(0, PEERS)
    import torch
    import training

    torch.set_num_threads(arguments.threads)
    recipe = importlib.import_module(arguments.model)
    network = recipe.build(arguments.config or "canonical")
    batch = training.batch_of(arguments.inputs)
    make = getattr(recipe, "stepper", None)
    form = {"foreach" if arguments.model == "bert" else "fused": True}
    step, _ = make(network, batch, "fp32", None, **form) if make else training.stepper(recipe, network, batch, **form)
    step(), profiled(step), step()
    plain, traced, stopping, events = [], [], [], 0
    for turn in range(arguments.pairs):
        for profiling in (turn % 2 == 0, turn % 2 != 0):
            if profiling:
                times, stop, events = profiled(step)
                traced.append(times), stopping.append(stop)
            else:
                plain.append(timed(step))
    answer = {"events_per_step": events, "stop_s_per_step": statistics.median(stopping)}
    for i, clock in enumerate(("wall_s", "cpu_s")):
        answer[clock] = {"untraced_s": statistics.median(each[i] for each in plain),
                         "traced_s": statistics.median(each[i] for each in traced),
                         "ratio": statistics.median(b[i] / a[i] for a, b in zip(plain, traced))}
    print(json.dumps(answer))


def answer_of(command, threads):
    done = subprocess.run(command, env=environment(threads), check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def main():
    arguments = arguments_parser().parse_args()
    if arguments.inputs:
        return python_side(arguments)
    said = []
    for key in ("model", "config", "batch", "pairs", "threads"):
        value = str(getattr(arguments, key))
        said += [f"--{key}", value] if value else []
    with tempfile.TemporaryDirectory() as folder:
        inputs = os.path.join(folder, "batch")
        ours = answer_of([os.path.join(arguments.build, "bench/bench_pytorch_trace"), *said, "--save-inputs", inputs],
                         arguments.threads)
        theirs = answer_of([os.path.join(arguments.python, "bin/python"), __file__, *said, "--inputs", inputs],
                           arguments.threads)
    header()
    rows = [verdict(f"traced over untraced, {clock}", ours[clock]["ratio"], theirs[clock]["ratio"], 1.0)
            for clock in ("wall_s", "cpu_s")]
    print(json.dumps({"session": ours, "torch.profiler": theirs, "rows": rows}))


if __name__ == "__main__":
    main()
