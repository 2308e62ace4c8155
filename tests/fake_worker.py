#!/usr/bin/env python3
"""A worker that trains nothing and misbehaves on request: fake_worker.py BEHAVIOUR [STEP_SECONDS].

good, wrong-version, exit-at-hello, hang-at-hello, crash-at-load, oom-at-load, wrong-batch, wrong-parameters,
unsupported, garbage, nonfinite, hang-at-step, killed-at-step, ignores-stop, chatty, hungry, hungry-crash, hungry-segfault,
hungry-exit, equal-stamps, backward-stamps, huge-stamps, skipped-steps, on-gpu, full-gpu, broken-gpu, budget-gpu,
two-gpu, apart-gpu, exchanging, uneven, killed-at-link, slow-link, ranks-of-many-builds, ranks-of-many-threads, tunable

The hungry ones take 16 MiB of memory for each sample; where it is refused, the first says so, the others crash, die by
a segmentation fault without a word or exit with code 5. Those of a GPU offer one; the second has no room for more
than four samples, the third's memory has an error where the fifth sample lies, after which nothing works in the process,
the fourth takes 16 MiB for each sample within the budget that it is given. The last two offer two, between which only
the first of them sums.

The last ones sum over ranks, in 0.2 ms and 1 ns a byte; of the second rank 1 times one exchange too many, of the third
it is killed at the second size, and the fourth takes its time.
Those that begin with ranks say what differs from process to process.

tunable takes STEP_SECONDS with passive threads and half of it with active ones, is killed where the framework's habit is
asked for, and hangs with each thread on a core of its own.
"""
import json
import math
import os
import resource
import select
import signal
import sys
import time

BEHAVIOUR = sys.argv[1]
STEP_SECONDS = float(sys.argv[2]) if len(sys.argv) > 2 else 0.002
if BEHAVIOUR == "tunable" and os.environ.get("OMP_WAIT_POLICY") == "ACTIVE":
    STEP_SECONDS /= 2
EXCHANGING = ("exchanging", "uneven", "killed-at-link", "slow-link")
ZERO_NS = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def send(type_, **content):
    sys.stdout.write(json.dumps({"type": type_, **content}) + "\n")
    sys.stdout.flush()


def now_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) - ZERO_NS


def fail(kind, sentence):
    send("failure", kind=kind, sentence=sentence, fatal=False)


def hello(_):
    if BEHAVIOUR == "exit-at-hello":
        print("libmissing.so: cannot open shared object file", file=sys.stderr)
        sys.exit(3)
    if BEHAVIOUR == "hang-at-hello":
        time.sleep(600)
    gpus = 2 if BEHAVIOUR in ("two-gpu", "apart-gpu") else int(BEHAVIOUR.endswith("-gpu"))
    devices = ["cpu", *(f"cuda:{gpu}" for gpu in range(gpus))]
    engines = ["gloo"] if gpus == 2 or BEHAVIOUR in EXCHANGING or BEHAVIOUR.startswith("ranks") else []
    send("hello", version=99 if BEHAVIOUR == "wrong-version" else 1, framework="pytorch", framework_version="0.1",
         modes=["eager"], devices=devices, precisions=["fp32", "bf16"], layouts=["nchw", "nhwc"], passes=["clean"],
         pipeline=True, exchanges=engines + (["nccl"] if BEHAVIOUR == "two-gpu" else []),
         build={"blas": "none", "pass trace": "it has no clock", "exchange nccl": "there is no library", **({"id": str(os.getpid())} if BEHAVIOUR == "ranks-of-many-builds" else {})})


def check(request):
    level = "unsupported" if BEHAVIOUR == "unsupported" else "native"
    send("check", nodes=[{"phase": "train", "node": "conv1", "kind": "conv2d", "level": level, "detail": "no kernel"}])


def load(request):
    if BEHAVIOUR == "crash-at-load":
        print("terminate called after throwing", file=sys.stderr, flush=True)
        os.abort()
    if BEHAVIOUR == "oom-at-load":
        return fail("oom", "not enough memory: you tried to allocate 1 TB")
    if BEHAVIOUR == "full-gpu" and request["bindings"]["N"] > 4:
        return fail("oom", "CUDA out of memory")
    settings, budget = {}, request.get("device_memory_bytes")
    if BEHAVIOUR == "budget-gpu" and budget:
        settings = {"device_memory_bytes": str(budget)}
        if request["bindings"]["N"] << 24 > budget:
            return fail("oom", "CUDA out of memory")
    count = sum(math.prod(p["shape"]) for p in request["program"]["parameters"])
    send("load", batch=request["bindings"]["N"] + (BEHAVIOUR == "wrong-batch"),
         parameters=count + (BEHAVIOUR == "wrong-parameters"), threads=os.getpid() if BEHAVIOUR == "ranks-of-many-threads" else request["threads"], settings=settings, seconds=0.1)
    load.batch = request["bindings"]["N"]
    load.rank = request.get("world", {}).get("rank", 0)
    if BEHAVIOUR == "two-gpu":
        print("trains on", request["device"], file=sys.stderr, flush=True)


load.memory = b""


def take_memory():
    try:
        load.memory = bytearray(load.batch << 24)
    except MemoryError:
        if BEHAVIOUR == "hungry":
            return False
        if BEHAVIOUR == "hungry-segfault":
            os.kill(os.getpid(), signal.SIGSEGV)
        if BEHAVIOUR == "hungry-exit":
            sys.exit(5)
        print("terminate called after throwing an instance of 'std::bad_alloc'", file=sys.stderr, flush=True)
        os.abort()
    load.memory[::4096] = b"x" * len(load.memory[::4096])
    return True


def break_down():
    """As a process whose CUDA context is lost: it says which node failed, then dies when it gives its memory back."""
    fail("internal", "torch: in the backward pass of phase 'train' at conv2d 'layer1.0.conv1': CUDA error: uncorrectable "
         "ECC error encountered")
    sys.stdin.readline()
    print("terminate called after throwing an instance of 'c10::AcceleratorError'", file=sys.stderr, flush=True)
    os.abort()


def stop_came():
    return BEHAVIOUR != "ignores-stop" and select.select([sys.stdin], [], [], 0)[0] and "stop" in sys.stdin.readline()


def tuned_with(name, value):
    return BEHAVIOUR == "tunable" and os.environ.get(name) == value


def train(request):
    if BEHAVIOUR.startswith("hungry") and not take_memory():
        return fail("oom", "not enough memory for the batch")
    began, first_done, rows, last_sent, ended, step = now_ns(), None, [], 0, "steps", 0
    steps = min(request["steps"], 6) if BEHAVIOUR == "two-gpu" else request["steps"]  # ranks end together: they sum nothing
    for step in range(1, steps + 1):
        if step == 4 and (BEHAVIOUR == "hang-at-step" or tuned_with("OMP_PROC_BIND", "TRUE")):
            time.sleep(600)
        if step == 4 and (BEHAVIOUR == "killed-at-step" or tuned_with("OMP_WAIT_POLICY", None)):
            os.kill(os.getpid(), signal.SIGKILL)
        if step == 4 and BEHAVIOUR == "broken-gpu" and load.batch > 4:
            break_down()
        if step == 4 and BEHAVIOUR == "garbage":
            print("Warning: something from a library", flush=True)
        time.sleep(STEP_SECONDS)
        loss = "nan" if step == 4 and BEHAVIOUR == "nonfinite" else 1.0 / step
        now = now_ns()
        row_step = 7 * step if BEHAVIOUR == "skipped-steps" else step
        stamp = {"equal-stamps": began + 1, "backward-stamps": began + 10_000_000 - step,
                 "huge-stamps": (1 << 63) - 1 - 1000 + step}.get(BEHAVIOUR, now)
        rows.append([row_step, stamp, load.batch, load.batch, None, None, 0, 1000, 1000, 0, 0, None, None, 1 << 20, loss])
        first_done = first_done or now
        if step == 1 or now - last_sent > 50_000_000:
            send("steps", rows=rows)
            rows, last_sent = [], now
        if loss == "nan":
            ended = "nonfinite"
        elif stop_came():
            ended = "stop"
        elif request["seconds"] and now - first_done > request["seconds"] * 1e9:
            ended = "seconds"
        if ended != "steps":
            break
    send("steps", rows=rows)
    send("run", steps=step, ended=ended, nonfinite="grad/fc.weight" if ended == "nonfinite" else "",
         losses={"train": loss},
         launch={"first_step_began_ns": began, "batch_seen": load.batch, "cores": 2,
                 **({"allocator_peak_bytes": load.batch << 24} if BEHAVIOUR == "budget-gpu" else {}),
                 "peak_rss_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024})


def link(request):
    link.sizes += 1
    if BEHAVIOUR == "killed-at-link" and load.rank == 1 and link.sizes == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    if BEHAVIOUR == "killed-at-link" and link.sizes == 2 or BEHAVIOUR == "slow-link":
        time.sleep(600)
    count = request["repetitions"] + (BEHAVIOUR == "uneven" and load.rank == 1)
    began = [1_000_000_000 * (i + 1) for i in range(count)]
    send("link", began_ns=began, ended_ns=[each + 200_000 + request["bytes"] for each in began],
         busy_ns=count * request["bytes"] // 4)


link.sizes = 0


def main():
    if BEHAVIOUR == "chatty":
        print("chatter of a framework", file=sys.stderr, flush=True)
    answers = {"hello": hello, "check": check, "load": load, "run": train, "link": link,
               "gemm": lambda _: send("gemm", flop_rate=1e11)}
    while line := sys.stdin.readline():
        request = json.loads(line)
        if request["type"] == "bye":
            send("bye")
            return
        if request["type"] != "stop":
            answers[request["type"]](request)


main()
