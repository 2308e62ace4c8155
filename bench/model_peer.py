"""One network: the session against eager Python on the same wheel and batch, interleaved; memory, overhead, start-up.

    python3 bench/model_peer.py --build BUILD --python ENVIRONMENT [--model bert] [--config base] [--batch 2]
                                [--precision fp32] [--rounds 6] [--steps 3] [--threads 2] [--starts 3]
                                [--compile default,max-autotune] [--mode eager-onednn] [--variable NAME=VALUE ...]

ENVIRONMENT is what bench/peers/setup.sh made. Ratios are ours over theirs in seconds or bytes: below 1 is better.
Dropout is on, as in training. --compile runs torch.compile beside them, in these modes of its own; --starts 0 leaves out
start-up. --mode and --variable (of the environment, as --allocator of tbd sets some) are of ours alone.
"""

import argparse
import json
import os
import statistics
import subprocess
import tempfile
import time

from interleave import PEERS, Served, environment, header, interleaved, verdict

BATCHES = {"resnet50": 8, "inception_v3": 4, "seq2seq": 32, "transformer": 41, "bert": 2, "llama": 1,
           "deep_speech_2": 4, "wgan_gp": 8, "minigo": 32, "mask_rcnn": 1, "efficientdet_d0": 1}
FORMS = {"bert": ["foreach"]}  # of the optimizer in Python; torch.optim has no LAMB, nor its fused form
OF_WEIGHTS = ("mask_rcnn",)  # how much a step has to do depends on the weights: both have ours


def commands(arguments, inputs):
    common = ["--precision", arguments.precision, "--threads", str(arguments.threads)]
    common += ["--config", arguments.config] if arguments.config else []
    ours = [os.path.join(arguments.build, "bench/bench_pytorch_model"), "--model", arguments.model, *common,
            "--batch", str(arguments.batch), "--save-inputs", inputs]
    ours += ["--mode", arguments.mode] if arguments.mode else []
    weights = inputs + "_weights"
    if arguments.model in OF_WEIGHTS:
        ours += ["--save-weights", weights]
    python = [os.path.join(arguments.python, "bin/python"), os.path.join(PEERS, f"{arguments.model}.py"), *common,
              "--inputs", inputs] + (["--weights", weights] if arguments.model in OF_WEIGHTS else [])
    return ours, python


def started(arguments, ours, python):
    forms = FORMS.get(arguments.model, ["fused", "foreach"])
    served = [Served(ours, arguments.threads, dict(each.split("=", 1) for each in arguments.variable))]
    served += [Served([*python, "--optimizer", form], arguments.threads) for form in forms]
    for mode in arguments.compile:
        served.append(Served([*python, "--compile", mode, "--optimizer", forms[0]], arguments.threads))
    return served


def steps_and_memory(arguments, ours, python):
    """The fastest of Python's optimizer forms is the one compared with."""
    served = started(arguments, ours, python)
    interleaved(served, 1, 1)  # warm
    medians, cpu = interleaved(served, arguments.rounds, arguments.steps)
    compiled = [name for name in medians if name.startswith("python compile")]
    eager = [name for name in medians if name not in ("tbd", *compiled)]
    best = min(eager, key=medians.get)
    mine, theirs = served[0].ask("memory"), served[1 + eager.index(best)].ask("memory")
    for one in served:
        one.close()
    rows = [verdict(f"step s, to {best}", medians["tbd"], medians[best], 1.0),
            verdict(f"CPU s a step, to {best}", cpu["tbd"], cpu[best], 1.0)]
    for name, key in (("step peak bytes by the allocator", "peak_over_resident_bytes"),
                      ("peak RSS over the library, bytes", "rss_over_library_bytes"),
                      ("peak RSS of the process, bytes", "rss_bytes")):
        rows.append(verdict(name, mine[key], theirs[key], 1.0))
    for name in compiled:
        rows.append(verdict(f"step s, to {name}", medians["tbd"], medians[name], 1.0))
    return medians, rows


def own_overhead(arguments, median_step):
    """The session's own CPU time: kernels of ResNet-50 replaced by nothing."""
    bench = os.path.join(arguments.build, "bench/bench_pytorch_overhead")
    line = subprocess.run([bench], env=environment(1), check=True, capture_output=True, text=True).stdout
    return verdict("own CPU s a step over the step s", json.loads(line)["own_cpu_s_per_step"], median_step, 0.003)


def first_step(arguments, ours, python):
    """Seconds from process start to the end of the first step, medians of turns."""
    times = ([], [])
    for _ in range(arguments.starts):
        for command, seconds in ((ours + ["--first", "1"], times[0]), (python + ["--first"], times[1])):
            start = time.perf_counter()
            process = subprocess.Popen(command, env=environment(arguments.threads), stdout=subprocess.PIPE, text=True)
            process.stdout.readline()
            seconds.append(time.perf_counter() - start)
            process.wait()
    mine, theirs = (statistics.median(seconds) for seconds in times)
    return verdict("first step done after process start, s", mine, theirs, 0.6)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--python", required=True)
    parser.add_argument("--model", default="resnet50", choices=BATCHES)
    parser.add_argument("--config", default="")
    parser.add_argument("--batch", type=int)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--starts", type=int, default=3)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--compile", type=lambda modes: modes.split(","), default=[])
    parser.add_argument("--mode", default="", help="of ours")
    parser.add_argument("--variable", action="append", default=[], help="of ours")
    arguments = parser.parse_args()
    arguments.batch = arguments.batch or BATCHES[arguments.model]
    header()
    with tempfile.TemporaryDirectory() as folder:
        ours, python = commands(arguments, os.path.join(folder, "batch"))
        medians, rows = steps_and_memory(arguments, ours, python)
        if arguments.starts:
            rows.append(first_step(arguments, ours, python))
    if arguments.model == "resnet50" and arguments.precision == "fp32":
        rows.append(own_overhead(arguments, medians["tbd"]))
    said = {key: getattr(arguments, key) for key in ("model", "config", "batch", "precision", "threads")}
    print(json.dumps({**said, "medians_s": medians, "rows": rows}))


if __name__ == "__main__":
    main()
