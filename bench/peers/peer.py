"""What the Python peers share: timed steps on request, one line of JSON per line of stdin (bench/serve.h)."""

import argparse
import json
import os
import sys
import time

answers = sys.stdout  # of requests


def status_bytes(key):
    """A line of /proc/self/status in bytes."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(key + ":"))


def anonymous_bytes():
    """Memory of the process's own, files mapped by libraries left out."""
    return status_bytes("RssAnon")


def peak_anonymous_bytes():
    return status_bytes("VmHWM") - status_bytes("RssFile")


def rss(library):
    """Peak memory of the process, whole and over what was there before the network (anonymous_bytes)."""
    return {"rss_bytes": status_bytes("VmHWM"), "rss_over_library_bytes": peak_anonymous_bytes() - library}


def safetensors_entries(path):
    """Name, type as the file spells it, shape and bytes of each tensor, where the safetensors package is not at hand."""
    with open(path, "rb") as file:
        content = file.read()
    start = 8 + int.from_bytes(content[:8], "little")
    for name, entry in json.loads(content[8:start]).items():
        begin, end = (start + offset for offset in entry["data_offsets"])
        yield name, entry["dtype"], entry["shape"], content[begin:end]


def read_safetensors(path):
    """Arrays by name."""
    import numpy

    types = {"F32": numpy.float32, "I32": numpy.int32}
    return {name: numpy.frombuffer(data, types[dtype]).reshape(shape)
            for name, dtype, shape, data in safetensors_entries(path)}


def timed(step):
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def say(answer):
    print(json.dumps(answer), file=answers, flush=True)


def answers_alone():
    """From here on stdout has answers alone: what libraries print goes to stderr."""
    global answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)


def arguments_parser():
    """The arguments of every peer that trains a network on a batch of tbd and answers requests alone."""
    answers_alone()
    parser = argparse.ArgumentParser()
    parser.add_argument("--inputs", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--first", action="store_true")
    return parser


def train(name, step, memory, first):
    """The first step, then further ones on request; `first`: that one alone."""
    step()
    if first:
        say({"first_step_done": True})
    else:
        serve({name: step}, memory)


def serve(programs, memory=None):
    say({"ready": True})
    for line in sys.stdin:
        verb, *rest = line.split()
        if verb == "memory":
            say(memory())
            continue
        times = {name: [] for name in programs}
        for _ in range(int(rest[0])):
            for name, step in programs.items():
                times[name].append(timed(step))
        say(times)
