"""The sessions of TensorFlow, MXNet and MLX against their own Python front-ends on the same batch, fp32, interleaved.

    python3 bench/frameworks_peer.py --build BUILD --tensorflow ENVIRONMENT --mxnet ENVIRONMENT --mlx ENVIRONMENT
                                     [--model resnet50]
                                     [--batch 8] [--rounds 6] [--steps 3] [--threads 2] [--starts 3]

The environments are what bench/peers/setup.sh ENVIRONMENT tensorflow (mxnet, mlx) made; one that is not named is left
out. Ratios are ours over theirs in seconds or bytes: below 1 is better. --starts 0 leaves out start-up.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

from interleave import PEERS, Served, environment, header, interleaved, verdict

FRAMEWORKS = {"tensorflow": ("nhwc", "keras"), "mxnet": ("nchw", "gluon"), "mlx": ("nhwc", "mlx")}  # our layout, ending of the peer's program
BATCHES = {"resnet50": 8, "inception_v3": 4, "transformer": 41, "seq2seq": 32}
THROUGHPUT = 1 / 0.95  # a throughput of 0.95 is a time of this
STEP_BOUNDS = {("resnet50", "tensorflow"): 1.0}


def first_step_seconds(command, threads, times):
    """From the start of the process to the line that it prints after its first step."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        with subprocess.Popen(command, env=environment(threads), text=True, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def commands(framework, arguments, peers, inputs):
    layout, ending = FRAMEWORKS[framework]
    threads = ["--threads", str(arguments.threads)]
    ours = [os.path.join(arguments.build, f"bench/bench_session_{framework}"), "--model", arguments.model, "--batch",
            str(arguments.batch), "--layout", layout, "--save-inputs", inputs, *threads]
    program = os.path.join(PEERS, f"{arguments.model}_{ending}.py")
    return ours, [os.path.join(peers, "bin/python"), program, "--inputs", inputs, *threads]


def compare(framework, arguments, ours, theirs):
    served = [Served(ours, arguments.threads), Served(theirs, arguments.threads)]
    interleaved(served, 1, 1)  # warm
    medians, cpu = interleaved(served, arguments.rounds, arguments.steps)
    memory = [one.ask("memory") for one in served]
    for one in served:
        one.close()
    bound = STEP_BOUNDS.get((arguments.model, framework), THROUGHPUT)
    other = next(name for name in medians if name != "tbd")
    rows = [verdict(f"{framework} step s, to {other}", medians["tbd"], medians[other], bound),
            verdict(f"{framework} CPU s a step", cpu["tbd"], cpu[other], bound),
            verdict(f"{framework} peak RSS, bytes", memory[0]["rss_bytes"], memory[1]["rss_bytes"], 1)]
    if arguments.starts:
        first = [first_step_seconds([*ours, "--first", "1"], arguments.threads, arguments.starts),
                 first_step_seconds([*theirs, "--first"], arguments.threads, arguments.starts)]
        rows.append(verdict(f"{framework} first step after process start, s", *first, 1))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    for framework in FRAMEWORKS:
        parser.add_argument(f"--{framework}")
    parser.add_argument("--model", default="resnet50", choices=BATCHES)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--starts", type=int, default=3)
    arguments = parser.parse_args()
    arguments.batch = arguments.batch or BATCHES[arguments.model]
    header()
    rows = []
    for framework in FRAMEWORKS:
        if getattr(arguments, framework):
            with tempfile.TemporaryDirectory() as folder:
                programs = commands(framework, arguments, getattr(arguments, framework), os.path.join(folder, "batch"))
                rows += compare(framework, arguments, *programs)
    print(json.dumps({"model": arguments.model, "batch": arguments.batch, "threads": arguments.threads, "rows": rows}))


if __name__ == "__main__":
    main()
