#!/usr/bin/env python3
"""Faults of random kinds at random moments of `tbd run --workers 2`: what is left, and what is in the record?

    rank_faults.py [--faults 20] [--framework pytorch] [--seed 1] [--tbd PROGRAM]

kill: a worker is killed. pause: a worker is stopped for a second or two, which changes nothing. interrupt: Ctrl-C.
stop: a worker is stopped for good, and the run interrupted. runner: the program itself is killed. hang: the same, while
one worker is stopped and the other waits for it inside an exchange.
After each no process, listening socket or file in /dev/shm of it may be left after 15 s, nor a temporary folder unless
the program was killed; the record is verified, and every step that all workers reported is in it. Prints a line for each
and a summary; exit 1 on any fault.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN = ["run", "resnet50", "--config", "tiny", "--batch", "2", "--threads", "1", "--workers", "2", "--effort", "quick",
       "--launches", "1", "--limit", "5s", "--no-peaks", "--no-check", "--quiet"]
KINDS = ["kill", "pause", "interrupt", "stop", "runner", "hang"]
PATIENCE = 15  # seconds until all must be gone
OUTCOMES = {"kill": "failed", "pause": "ok", "interrupt": "interrupted", "stop": "interrupted", "runner": None, "hang": None}


def read(path):
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


def processes(session):
    """Of the session, zombies left out: the program is its leader, and its workers stay in it."""
    found = []
    for folder in Path("/proc").iterdir():
        fields = read(folder / "stat").rpartition(")")[2].split() if folder.name.isdigit() else []
        if len(fields) > 3 and fields[0] != "Z" and int(fields[3]) == session:
            found.append(int(folder.name))
    return found


def links(pid):
    for each in [*Path(f"/proc/{pid}/fd").glob("*"), *Path(f"/proc/{pid}/map_files").glob("*")]:
        try:
            yield os.readlink(each)
        except OSError:
            continue


def listening():
    lines = [line.split() for name in ("tcp", "tcp6") for line in read(f"/proc/net/{name}").splitlines()[1:]]
    return {f"socket:[{fields[9]}]" for fields in lines if fields[3] == "0A"}


def workers(session):
    """By rank, as the names of their logs say."""
    found = {}
    for pid in processes(session):
        log = Path(os.readlink(f"/proc/{pid}/fd/2")) if Path(f"/proc/{pid}/fd/2").exists() else Path()
        if log.name == "worker.log" and log.parent.name.startswith("rank-"):
            found[int(log.parent.name.split("-")[1])] = pid
    return found


def rows(file):
    return max(0, read(file).count("\n") - 1)


def whole_steps(record):
    """Rows of the world, and the fewest of a rank, over all launches."""
    kept = least = 0
    for launch in record.glob("launches/clean-*"):
        kept += rows(launch / "steps.csv")
        least += min((rows(rank / "steps.csv") for rank in launch.glob("rank-*")), default=0)
    return kept, least


def record_in(out):
    return next((file.parent for file in out.rglob("run.json")), None)


def wait_for(condition, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


class Trial:
    def __init__(self, options, moments, folder):
        self.options, self.moments = options, moments
        self.out, self.temporary = folder / "out", folder / "tmp"
        self.temporary.mkdir()
        self.kind, self.held, self.complaints = moments.choice(KINDS), set(), []
        self.rank, self.before = moments.randrange(2), 0

    def run(self):
        """False where the run ended before the fault."""
        command = [self.options.tbd, *RUN, "--framework", self.options.framework, "--out", self.out]
        self.process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                        text=True, env={**os.environ, "TMPDIR": str(self.temporary)})
        wait_for(lambda: self.process.poll() is not None or len(workers(self.process.pid)) == 2, 60)
        if self.moments.random() < 0.8:
            wait_for(lambda: self.process.poll() is not None or
                     (record_in(self.out) and whole_steps(record_in(self.out))[0] > 0), 60)
        time.sleep(self.moments.uniform(0, 1.5))
        ranks = workers(self.process.pid)
        if self.process.poll() is not None or len(ranks) < 2:
            self.end()
            return False
        self.hold()
        self.before = whole_steps(record_in(self.out))[0] if record_in(self.out) else 0
        self.plant(ranks[self.rank])
        self.end()
        self.judge()
        return True

    def hold(self):
        sockets = listening()
        for pid in processes(self.process.pid):
            self.held |= {link for link in links(pid) if link in sockets or link.startswith("/dev/shm/")}

    def plant(self, victim):
        if self.kind == "kill":
            os.kill(victim, signal.SIGKILL)
        elif self.kind == "pause":
            os.kill(victim, signal.SIGSTOP)
            time.sleep(self.moments.uniform(1, 2))
            os.kill(victim, signal.SIGCONT)
        elif self.kind in ("stop", "hang"):
            os.kill(victim, signal.SIGSTOP)
            time.sleep(self.moments.uniform(0.2, 0.5))
        if self.kind in ("interrupt", "stop"):
            os.kill(self.process.pid, signal.SIGINT)
        if self.kind in ("runner", "hang"):
            os.kill(self.process.pid, signal.SIGKILL)

    def end(self):
        began = time.monotonic()
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.complaints.append("the program goes on for 60 s")
        self.seconds = time.monotonic() - began
        if not wait_for(lambda: not processes(self.process.pid), PATIENCE):
            self.complaints.append(f"processes are left: {processes(self.process.pid)}")
            for pid in processes(self.process.pid):
                os.kill(pid, signal.SIGKILL)
        self.said = self.process.communicate()[1].strip()

    def judge(self):
        def left_over():
            return {link for link in self.held if link in listening() or os.path.exists(link)}

        wait_for(lambda: not left_over(), PATIENCE)  # threads of a process that was killed end after its first
        if left := left_over():
            self.complaints.append(f"left: {', '.join(sorted(left))}")
        if self.kind not in ("runner", "hang") and any(self.temporary.iterdir()):
            self.complaints.append(f"temporary files are left: {[file.name for file in self.temporary.iterdir()]}")
        record = record_in(self.out)
        if not record:
            return self.complaints.append("there is no record")
        verified = subprocess.run([self.options.tbd, "verify", record], capture_output=True, text=True)
        if verified.returncode != 0:
            self.complaints.append(f"tbd verify: {verified.stderr.strip() or verified.stdout.strip()}")
        self.kept, least = whole_steps(record)
        expected_least = self.before if self.kind in ("runner", "hang") else max(self.before, least)
        if self.kept < expected_least:
            self.complaints.append(f"{self.kept} steps are kept of {expected_least}")
        outcome = json.loads(read(record / "run.json"))["outcome"]
        expected = OUTCOMES[self.kind]
        if expected and outcome["kind"] != expected and not (expected == "ok" and outcome["kind"] == "unsteady"):
            self.complaints.append(f"the outcome is {outcome['kind']}: {outcome.get('reason')}")
        if self.kind == "kill" and f"rank {self.rank} of 2" not in outcome.get("reason", ""):
            self.complaints.append(f"rank {self.rank} was killed, but: {outcome.get('reason')}")
        self.reason = outcome.get("reason", "")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--faults", type=int, default=20)
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--seed", type=int, default=1, help="of kinds and moments [1]")
    parser.add_argument("--tbd", default=ROOT / "tbd")
    options = parser.parse_args()
    moments, planted, late, complaints = random.Random(options.seed), {}, 0, 0
    while sum(planted.values()) < options.faults and late <= options.faults:
        with tempfile.TemporaryDirectory() as folder:
            trial = Trial(options, moments, Path(folder))
            if not trial.run():
                late += 1
                continue
            planted[trial.kind] = planted.get(trial.kind, 0) + 1
            print(f"{trial.kind} (rank {trial.rank}): ended after {trial.seconds:.1f} s, {getattr(trial, 'kept', 0)} steps kept; "
                  f"{getattr(trial, 'reason', '')}", flush=True)
            for complaint in trial.complaints:
                complaints += 1
                print(f"fault: {complaint}", flush=True)
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(planted.items()))
    print(f"{sum(planted.values())} faults of two workers in {options.framework} ({kinds}; {late} runs ended before theirs), "
          f"{complaints} complaints")
    return 1 if complaints or sum(planted.values()) < options.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
