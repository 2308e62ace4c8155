#!/usr/bin/env python3
"""A training that is killed at random moments and resumed: does it end with the bytes of one that was not?

    training_kills.py [--kills 100] [--framework pytorch] [--steps 400] [--tbd PROGRAM]

Each training is killed (SIGKILL, the program and its worker) after a random time until it ends; trainings follow each other
until there were as many kills. Prints one line; exit 1 where a resumed training ended otherwise or could not go on.
"""
import argparse
import hashlib
import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TRAINING = ["train", "resnet50", "--config", "small", "--data", "photos", "--batch", "8", "--threads", "1", "--lr", "0.05",
            "--quiet"]
EVALUATIONS = 20  # of a training; its state is kept before each


def weights(record):
    last = max((record / "launches").iterdir(), key=lambda launch: int(launch.name.split("-")[1]))
    return hashlib.sha256((last / "weights.safetensors").read_bytes()).hexdigest()


def killed(process, seconds):
    """Whether it still ran after so long; it and all that it started are gone then."""
    try:
        process.wait(seconds)
        return False
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return True


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--framework", default="pytorch")
    parser.add_argument("--steps", type=int, default=400, help="of a training [400]")
    parser.add_argument("--seed", type=int, default=1, help="of the moments [1]")
    parser.add_argument("--tbd", default=ROOT / "tbd")
    options = parser.parse_args()
    moments = random.Random(options.seed)
    training = [options.tbd, *TRAINING, "--framework", options.framework, "--steps", str(options.steps),
                "--evaluate-every", str(max(1, options.steps // EVALUATIONS))]
    faults, kills, trainings = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        began = time.monotonic()
        subprocess.run([*training, "--out", whole], check=True, stdout=subprocess.DEVNULL)
        length, expected = time.monotonic() - began, weights(whole)
        while kills < options.kills and not faults:
            trainings += 1
            record = Path(folder) / f"cut-{trainings}"
            while True:
                resumes = (record / "run.json").exists()
                command = [options.tbd, "train", "--resume", record, "--quiet"] if resumes else [*training, "--out", record]
                process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL,
                                           stderr=subprocess.PIPE, text=True)
                if killed(process, moments.uniform(0, length / 2) if kills < options.kills else 10 * length + 60):
                    kills += 1
                    continue
                said = process.stderr.read()
                if process.returncode != 0 and "a training that ended" not in said:
                    faults.append(f"training {trainings} could not go on: {said.strip()}")
                elif weights(record) != expected:
                    faults.append(f"training {trainings} ended with other weights")
                break
    for fault in faults:
        print(f"fault: {fault}")
    print(f"{kills} kills of {trainings} trainings in {options.framework}, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
