"""What the Python peers share: timed steps on request, one line of JSON per line of stdin (bench/serve.h)."""

import json
import resource
import sys
import time


def peak_rss_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def timed(step):
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def say(answer):
    print(json.dumps(answer), flush=True)


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
