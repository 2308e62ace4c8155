"""Programs that take turns: each is a process that answers one line of JSON per line (bench/serve.h)."""

import json
import os
import statistics
import subprocess

PEERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")


def environment(threads):
    """Same waiting policy for all: an OpenMP thread that waits does not spin. No other library's threads."""
    env = dict(os.environ)
    env.update(OMP_NUM_THREADS=str(threads), GOMP_SPINCOUNT="0", OMP_WAIT_POLICY="passive", KINETO_LOG_LEVEL="99")
    return env


class Served:
    def __init__(self, command, threads):
        self.process = subprocess.Popen(command, env=environment(threads), text=True, bufsize=1,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.answer()  # ready

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} ended with {self.process.wait()}")
        return json.loads(line)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def interleaved(served, rounds, steps):
    """Medians of step seconds by program; the order within a round turns."""
    times = {}
    for turn in range(rounds):
        order = served[turn % len(served):] + served[:turn % len(served)]
        for one in order:
            for name, seconds in one.ask(f"steps {steps}").items():
                times.setdefault(name, []).extend(seconds)
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def verdict(name, ours, theirs, bound):
    """One line of a table: both figures, their ratio, what it should be."""
    ratio = ours / theirs
    met = ratio <= bound
    print(f"{name:44s} {ours:>14.6g} {theirs:>14.6g} {ratio:>8.3f}  <= {bound:<6g} {'met' if met else 'not met'}", flush=True)
    return {"name": name, "ours": ours, "theirs": theirs, "ratio": ratio, "bound": bound, "met": met}


def header():
    print(f"{'':44s} {'tbd':>14s} {'other':>14s} {'ratio':>8s}  target", flush=True)
