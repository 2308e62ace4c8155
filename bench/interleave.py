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
    def __init__(self, command, threads, variables=None):
        self.process = subprocess.Popen(command, env=environment(threads) | (variables or {}), text=True, bufsize=1,
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

    def cpu_seconds(self):
        """CPU time of the process so far, all threads: what other work on the machine changes least."""
        with open(f"/proc/{self.process.pid}/stat") as stat:
            fields = stat.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def interleaved(served, rounds, steps):
    """Medians of step seconds by program, and CPU seconds a step by program; the order within a round turns.

    A process that runs several programs has no CPU time of one.
    """
    times, cpu = {}, {}
    for turn in range(rounds):
        order = served[turn % len(served):] + served[:turn % len(served)]
        for one in order:
            before = one.cpu_seconds()
            answer = one.ask(f"steps {steps}")
            for name, seconds in answer.items():
                times.setdefault(name, []).extend(seconds)
            if len(answer) == 1:
                cpu.setdefault(name, []).append((one.cpu_seconds() - before) / steps)
    medians = {name: statistics.median(seconds) for name, seconds in times.items()}
    return medians, {name: statistics.median(seconds) for name, seconds in cpu.items()}


def verdict(name, ours, theirs, bound):
    """One line of a table: both figures, their ratio, what it should be."""
    ratio = ours / theirs
    met = ratio <= bound
    said = "met" if met else "not met"
    print(f"{name:44s} {ours:>14.6g} {theirs:>14.6g} {ratio:>8.3f}  <= {bound:<6g} {said}", flush=True)
    return {"name": name, "ours": ours, "theirs": theirs, "ratio": ratio, "bound": bound, "met": met}


def header():
    print(f"{'':44s} {'tbd':>14s} {'other':>14s} {'ratio':>8s}  target", flush=True)
