"""ResNet-50, batch 8: the session against eager Python on the same wheel, interleaved; memory, own overhead, start-up.

    python3 bench/resnet50_peer.py --build BUILD --peers ENVIRONMENT [--rounds 6] [--steps 3] [--threads 2]
                                   [--precisions fp32,bf16] [--compile]

ENVIRONMENT is what bench/peers/setup.sh made. Ratios are ours over theirs in seconds or bytes: below 1 is better.
--compile runs torch.compile beside them, for reference.
"""

import argparse
import json
import os
import statistics
import subprocess
import time

from interleave import PEERS, Served, environment, header, interleaved, verdict


def commands(arguments, precision):
    common = ["--batch", "8", "--precision", precision, "--threads", str(arguments.threads)]
    ours = [os.path.join(arguments.build, "bench/bench_pytorch_resnet"), *common, "--layout", "nhwc"]
    python = [os.path.join(arguments.peers, "bin/python"), os.path.join(PEERS, "resnet50.py"), *common]
    return ours, python


def steps_and_memory(arguments, precision):
    """Rows of one precision: the fastest of Python's optimizer forms is the one compared with."""
    ours, python = commands(arguments, precision)
    served = [Served(ours, arguments.threads)]
    served += [Served([*python, "--optimizer", form], arguments.threads) for form in ("fused", "foreach")]
    if arguments.compile:
        served.append(Served([*python, "--compile"], arguments.threads))
    interleaved(served, 1, 1)  # warm
    medians, cpu = interleaved(served, arguments.rounds, arguments.steps)
    eager = [name for name in medians if name in ("python fused", "python foreach")]
    best = min(eager, key=medians.get)
    mine, theirs = served[0].ask("memory"), served[1].ask("memory")
    for one in served:
        one.close()
    rows = [verdict(f"{precision} step s, to {best}", medians["tbd"], medians[best], 1.0),
            verdict(f"{precision} CPU s a step, to {best}", cpu["tbd"], cpu[best], 1.0),
            verdict(f"{precision} step peak bytes by the allocator", mine["peak_over_resident_bytes"], theirs["peak_over_resident_bytes"], 1.0),
            verdict(f"{precision} peak RSS over the library, bytes", mine["rss_over_library_bytes"],
                    theirs["rss_over_library_bytes"], 1.0),
            verdict(f"{precision} peak RSS of the process, bytes", mine["rss_bytes"], theirs["rss_bytes"], 1.0)]
    if "python compile" in medians:
        rows.append(verdict(f"{precision} step s, to torch.compile (reference)", medians["tbd"], medians["python compile"], 1.0))
    return medians, rows


def own_overhead(arguments, median_step):
    bench = os.path.join(arguments.build, "bench/bench_pytorch_overhead")
    line = subprocess.run([bench], env=environment(1), check=True, capture_output=True, text=True).stdout
    return verdict("own CPU s a step over the fp32 step s", json.loads(line)["own_cpu_s_per_step"], median_step, 0.003)


def first_step(arguments):
    """Seconds from process start to the end of the first step, medians of turns."""
    ours, python = commands(arguments, "fp32")
    times = ([], [])
    for _ in range(arguments.starts):
        for command, seconds in ((ours + ["--first", "1"], times[0]), (python + ["--first"], times[1])):
            start = time.perf_counter()
            process = subprocess.Popen(command, env=environment(arguments.threads), stdout=subprocess.PIPE, text=True)
            process.stdout.readline()
            seconds.append(time.perf_counter() - start)
            process.wait()
    return verdict("first step done after process start, s", statistics.median(times[0]), statistics.median(times[1]), 0.6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--peers", required=True)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--precisions", default="fp32,bf16")
    parser.add_argument("--compile", action="store_true")
    arguments = parser.parse_args()
    header()
    rows, medians = [], {}
    for precision in arguments.precisions.split(","):
        medians[precision], more = steps_and_memory(arguments, precision)
        rows += more
    if "fp32" in medians:
        rows.append(own_overhead(arguments, medians["fp32"]["tbd"]))
    rows.append(first_step(arguments))
    print(json.dumps({"threads": arguments.threads, "medians_s": medians, "rows": rows}))


if __name__ == "__main__":
    main()
