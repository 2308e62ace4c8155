"""ResNet-50, batch 8, fp32: the sessions of TensorFlow and MXNet against their own Python front-ends, interleaved.

    python3 bench/frameworks_peer.py --build BUILD --tensorflow ENVIRONMENT --mxnet ENVIRONMENT [--rounds 6] [--steps 3]

The environments are what bench/peers/setup.sh ENVIRONMENT tensorflow (or mxnet) made; one that is not named is left out.
Ratios are ours over theirs in seconds or bytes: below 1 is better.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

from interleave import PEERS, Served, environment, header, interleaved, verdict

# framework: our layout, the peer's program, bound of the step's ratio (a throughput of 0.95 is a time of 1 / 0.95)
FRAMEWORKS = {"tensorflow": ("nhwc", "resnet50_keras.py", 1.0), "mxnet": ("nchw", "resnet50_gluon.py", 1 / 0.95)}


def first_step_seconds(command, threads, times=3):
    """From the start of the process to the line that it prints after its first step."""
    seconds = []
    for _ in range(times):
        began = time.perf_counter()
        with subprocess.Popen(command, env=environment(threads), text=True, stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            seconds.append(time.perf_counter() - began)
    return statistics.median(seconds)


def compare(framework, arguments, peers):
    layout, program, bound = FRAMEWORKS[framework]
    common = ["--batch", "8", "--threads", str(arguments.threads)]
    ours = [os.path.join(arguments.build, f"bench/bench_session_{framework}"), *common, "--layout", layout]
    theirs = [os.path.join(peers, "bin/python"), os.path.join(PEERS, program), *common]
    served = [Served(ours, arguments.threads), Served(theirs, arguments.threads)]
    interleaved(served, 1, 1)  # warm
    medians, cpu = interleaved(served, arguments.rounds, arguments.steps)
    memory = [one.ask("memory") for one in served]
    for one in served:
        one.close()
    other = next(name for name in medians if name != "tbd")
    rows = [verdict(f"{framework} step s, to {other}", medians["tbd"], medians[other], bound),
            verdict(f"{framework} CPU s a step", cpu["tbd"], cpu[other], bound),
            verdict(f"{framework} peak RSS, bytes", memory[0]["rss_bytes"], memory[1]["rss_bytes"], 1)]
    first = [first_step_seconds([*ours, "--first", "1"], arguments.threads),
             first_step_seconds([*theirs, "--first"], arguments.threads)]
    rows.append(verdict(f"{framework} first step after process start, s", *first, 1))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    for framework in FRAMEWORKS:
        parser.add_argument(f"--{framework}")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    header()
    rows = []
    for framework in FRAMEWORKS:
        if getattr(arguments, framework):
            rows += compare(framework, arguments, getattr(arguments, framework))
    print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main()
