#!/usr/bin/env python3
"""The run of tools/gpu_acceptance.sh on a machine with a GPU: parts, each with a verdict, figures and its command.

    gpu_acceptance.py PACK --torch PATH [--only PART,...] [--out OUT] [--seconds 600] [--device cuda:0]

A part's result is OUT/<part>.json; one that is there is not repeated. OUT/acceptance.json has them all, and
OUT/acceptance.md is the page. Exit: 0 no part failed, 1 one did, 2 bad usage.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from interleave import Served, interleaved

MACHINE_LOADER = b"/lib64/ld-linux-x86-64.so.2\0"  # as our programs name it, and as an x86-64 machine has it


class Absent(Exception):
    """One clause: why a part cannot be run here."""


class Unfinished(Exception):
    """One clause: how far a part came before its time ended. The next call goes on."""


class Failed(Exception):
    """One clause: what went wrong."""


class Machine:
    """The pack, made to run with this machine's torch."""

    def __init__(self, pack, torch, out, device):
        self.pack, self.torch, self.out, self.device = pack, torch, out, device
        self.packed = json.loads((pack / "pack.json").read_text())
        self.check_torch()
        self.programs = pack / "bin"
        self.libraries = [str(torch / "lib"), str(pack / "lib")]
        if older(machine_libc(), self.packed["libc"]):
            self.bring_own_loader()
        self.write_worker()

    def check_torch(self):
        library = self.torch / "lib/libtorch_cpu.so"
        if not library.is_file():
            raise SystemExit(f"gpu_acceptance: error: {self.torch} holds no lib/libtorch_cpu.so: --torch names the folder "
                             "torch/ of an installed PyTorch")
        version = re.search(r"__version__ = ['\"]([^'\"+]+)", (self.torch / "version.py").read_text())
        found = version.group(1) if version else "unknown"
        if found != self.packed["torch"]:
            raise SystemExit(f"gpu_acceptance: error: {self.torch} is torch {found}; the pack is for {self.packed['torch']}")

    def bring_own_loader(self):
        """This machine's C library is older than the one that our programs were linked with: copies of them take the
        packed one, by a link whose path is short enough to stand in its place."""
        self.loader_folder = tempfile.TemporaryDirectory(prefix="")
        loader = Path(self.loader_folder.name) / "ld"
        loader.symlink_to(self.pack / "libc/ld-linux-x86-64.so.2")
        self.programs = self.out / "bin"
        self.programs.mkdir(exist_ok=True)
        for program in (self.pack / "bin").iterdir():
            copy = self.programs / program.name
            copy.write_bytes(with_loader(program.read_bytes(), str(loader)))
            copy.chmod(0o755)
        self.libraries.append(str(self.pack / "libc"))

    def environment(self):
        return {**os.environ, "LD_LIBRARY_PATH": ":".join(self.libraries), "KINETO_LOG_LEVEL": "99",
                "XDG_CACHE_HOME": str(self.out / "cache"), "TBD_WORKERS": str(self.out / "workers.json"),
                "TBD_CONFORMANCE_BUILD": str(self.out), "NO_COLOR": "1"}

    def script(self, program):
        """One that sets LD_LIBRARY_PATH for the program: who starts it may pass none on, or have another."""
        script = self.out / f"{program}.sh"
        script.write_text(f"#!/bin/sh\nLD_LIBRARY_PATH='{':'.join(self.libraries)}'\nexport LD_LIBRARY_PATH\n"
                          f"exec '{self.programs / program}' \"$@\"\n")
        script.chmod(0o755)
        return script

    def write_worker(self):
        worker = self.script("tbd-worker-pytorch")
        library = self.torch / "lib/libtorch_cpu.so"
        stat = library.stat()
        entry = {"framework": "pytorch", "framework_version": self.packed["torch"], "worker": str(worker),
                 "root": str(self.torch.parent), "pinned": False, "library": str(library),
                 "library_bytes": stat.st_size, "library_mtime_ns": stat.st_mtime_ns, "library_sha256": ""}
        (self.out / "workers.json").write_text(json.dumps({"version": 1, "workers": {"pytorch": entry}}))

    def run(self, command, seconds):
        """Its stdout; both streams are kept in OUT/logs."""
        log = self.out / "logs" / f"{len(list((self.out / 'logs').glob('*.out'))):03}"
        with open(f"{log}.out", "w+") as out, open(f"{log}.err", "w+") as err:
            try:
                code = subprocess.run(command, env=self.environment(), stdout=out, stderr=err, stdin=subprocess.DEVNULL,
                                      timeout=max(seconds, 1), cwd=self.out, check=False).returncode
            except subprocess.TimeoutExpired:
                raise Failed(f"'{' '.join(map(str, command[:4]))} …' took more than {seconds:.0f} s") from None
            out.seek(0), err.seek(0)
            said, complained = out.read(), err.read()
        return code, said, complained

    def tbd(self, *arguments):
        return [str(self.programs / "tbd"), *arguments]


def machine_libc():
    return os.confstr("CS_GNU_LIBC_VERSION").split()[-1]


def older(a, b):
    return [int(x) for x in a.split(".")] < [int(x) for x in b.split(".")]


def with_loader(program, loader):
    """The bytes of a program that names another loader."""
    place = loader.encode() + b"\0"
    if len(place) > len(MACHINE_LOADER):
        raise SystemExit(f"gpu_acceptance: error: {loader} is too long a path for a program's loader: set TMPDIR to a folder "
                         "with a short one")
    return program.replace(MACHINE_LOADER, place.ljust(len(MACHINE_LOADER), b"\0"), 1)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "it said nothing"


def rows_of(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith("{")]


def figure(what, value, unit=""):
    return {"what": what, "value": value, "unit": unit}


def device_part(machine, seconds):
    command = machine.tbd("doctor", "--all", "--json")
    code, out, err = machine.run(command, seconds)
    if code:
        raise Failed(last_line(err))
    rows = [row for row in rows_of(out) if str(row.get("item", "")).startswith("GPU")]
    if machine.device != "cpu" and not any(row["item"] == "GPU 0" and row["available"] for row in rows):
        raise Failed("the doctor sees no GPU")
    return command, [figure(row["item"], row["reason"]) for row in rows]


def conformance_part(machine, seconds):
    suffix = "" if machine.device == "cpu" else "_on_gpu"
    report = machine.out / "conformance-tests.json"
    command = [str(machine.programs / "conformance_test"), f"--gtest_filter=*Conformance.*/pytorch{suffix}",
               f"--gtest_output=json:{report}"]
    code, out, _ = machine.run(command, seconds)
    if not report.is_file():
        raise Failed(f"the tests ended with {code}: {last_line(out)}")
    tests = [test for suite in json.loads(report.read_text())["testsuites"] for test in suite["testsuite"]]
    skipped = [test for test in tests if test.get("result") == "SKIPPED" and "Matrix" not in test["name"]]
    if len(skipped) == len([test for test in tests if "Matrix" not in test["name"]]):
        raise Absent(last_line(out.split("Skipped")[-1].splitlines()[1]) if "Skipped" in out else "every test was skipped")
    failures = [line for line in out.splitlines() if " error " in line and "tolerance" in line]
    figures = [figure("cases outside their tolerance", len(failures))]
    for file in sorted(machine.out.glob("conformance-*.txt")):
        figures.append(figure(f"ops compared, {file.stem.split('-', 1)[1]}", len(file.read_text().splitlines())))
    figures += [figure("outside", line.strip()[:200]) for line in failures[:20]]
    if code:
        raise Failed(f"{len(failures)} cases are outside their tolerance; first: {failures[0].strip() if failures else last_line(out)}")
    return command, figures


def tests_part(machine, seconds):
    """Tests of the back-end that need a GPU."""
    if machine.device == "cpu":
        raise Absent("these tests need a GPU")
    report = machine.out / "tests.json"
    command = [str(machine.programs / "test_pytorch"), "--gtest_filter=*OnGpu*", f"--gtest_output=json:{report}"]
    code, out, err = machine.run(command, seconds)
    if not report.is_file():
        raise Failed(f"the tests ended with {code}: {last_line(out + err)}")
    tests = [test for suite in json.loads(report.read_text())["testsuites"] for test in suite["testsuite"]]
    failed = [test["name"] for test in tests if test.get("failures")]
    skipped = [test["name"] for test in tests if test.get("result") == "SKIPPED"]
    if failed:
        raise Failed(f"failed: {', '.join(failed)}")
    if skipped or not tests:
        raise Absent(f"skipped: {', '.join(skipped) or 'all'}")
    return command, [figure("tests of a GPU that pass", len(tests))]


def check_part(machine, seconds):
    """Every network in its first tiny configuration, one after the other: what is done is kept for the next call."""
    ends, bad, done = time.monotonic() + seconds, [], 0
    code, out, err = machine.run(machine.tbd("list", "--json"), 20)
    models = sorted({row["model"] for row in rows_of(out) if "model" in row})
    if code or not models:
        raise Failed(f"tbd list: {last_line(err)}")
    for model in models:
        kept = machine.out / f"check-{model}.jsonl"
        if not kept.is_file():
            left = ends - time.monotonic()
            if left < 15:
                raise Unfinished(f"{done} of {len(models)} networks were checked")
            _, out, err = machine.run(check_command(machine, model), left)
            if not rows_of(out):
                raise Failed(f"{model}: {last_line(err)}")
            kept.write_text(out)
        rows = rows_of(kept.read_text())
        bad += [f"{row['model']} {row['config']}: {row['fault'] or 'a gate failed'}" for row in rows if not row["passed"]]
        done += 1
    if bad:
        raise Failed("; ".join(bad))
    return check_command(machine, "MODEL"), [figure("networks that are equal", done)]


def check_command(machine, model):
    return machine.tbd("check", model, "--device", machine.device, "--framework", "pytorch", "--json")


def throughput_of(machine, model, config, batch, precision, mode, rounds=6, steps=5):
    """Median step times of ours and of eager Python, interleaved."""
    inputs = machine.out / f"{model}-{batch}.safetensors"
    common = ["--precision", precision, "--device", machine.device]
    ours = [str(machine.script("bench_pytorch_model")), "--model", model, "--batch", str(batch), "--save-inputs", str(inputs),
            *(["--config", config] if config else []), *common, *(["--mode", mode] if mode else [])]
    theirs = ["env", f"PYTHONPATH={machine.torch.parent}", sys.executable, str(machine.pack / "plain.py"), "--model", model,
              "--inputs", str(inputs), *common]
    served, threads = [], len(os.sched_getaffinity(0))
    try:
        for command in (ours, theirs):
            served.append(Served(command, threads))
        interleaved(served, 1, 5)  # warm
        medians, _ = interleaved(served, rounds, steps)
    except SystemExit as reason:  # a program ended; what it said stands on stderr
        raise Failed(str(reason)) from None
    finally:
        for one in served:
            one.close()
    return medians["tbd"], medians["python"]


def throughput_part(machine, seconds):
    began, figures, missed = time.monotonic(), [], []
    cases = [("resnet50", "", 64, "fp32", "", 1.0), ("resnet50", "", 64, "tf32", "", 1.0), ("resnet50", "", 64, "bf16", "", 1.0),
             ("resnet50", "", 4, "fp32", "cuda-graph", 1.2), ("bert", "squad", 8, "bf16", "", 1.0),
             ("bert", "squad", 1, "bf16", "cuda-graph", 1.2)]
    if machine.device == "cpu":
        cases = [("resnet50", "", 2, "fp32", "", 1.0)]
    for model, config, batch, precision, mode, goal in cases:
        what = f"{model} {config} batch {batch} {precision} {mode or 'eager'}".replace("  ", " ")
        if time.monotonic() - began > seconds - 30:
            figures.append(figure(what, "no time was left"))
            continue
        try:
            mine, theirs = throughput_of(machine, model, config, batch, precision, mode)
        except Failed as reason:
            figures.append(figure(what, f"absent: {reason}"))
            continue
        figures.append(figure(f"{what}: throughput over eager Python's (goal {goal})", round(theirs / mine, 3)))
        figures.append(figure(f"{what}: our step, eager Python's step", f"{1e3 * mine:.2f}, {1e3 * theirs:.2f}", "ms"))
        if theirs / mine < goal:
            missed.append(what)
    measured = [each for each in figures if not isinstance(each["value"], str)]
    if not measured:
        raise Absent(figures[0]["value"])
    if missed:
        figures.append(figure("goals missed", ", ".join(missed)))
    return ["plain.py and bench_pytorch_model, by turns"], figures


def analyse(machine, command, seconds):
    """`tbd profile` or `tbd memory` of ResNet-50: what it ran, and what it says as JSON."""
    batch = "2" if machine.device == "cpu" else "32"
    whole = machine.tbd(command, "resnet50", "--framework", "pytorch", "--device", machine.device, "--batch", batch,
                        "--effort", "smoke", "--json", "--out", str(machine.out / "results" / command))
    code, out, err = machine.run(whole, seconds)
    if code or not rows_of(out):
        raise Failed(last_line(err))
    return whole, rows_of(out)[0]


def profiler_part(machine, seconds):
    command, profile = analyse(machine, "profile", seconds)
    cost = profile["overhead"]
    figures = [figure("a traced step over a clean one", round(cost["ratio"], 3)),
               figure("95 % interval", f"{cost['low']:.3f} to {cost['high']:.3f}"),
               figure("compute utilization", profile["compute_utilization"])]
    return command, figures


def closure_part(machine, seconds):
    began, figures = time.monotonic(), []
    for command in ("profile", "memory"):
        folder = machine.out / "results" / command
        if not folder.exists():
            analyse(machine, command, seconds - (time.monotonic() - began))
        code, out, err = machine.run(machine.tbd("verify", str(folder), "--all", "--json"), seconds)
        rows = rows_of(out)
        if code or not rows:
            raise Failed(f"tbd verify of the {command} record: {last_line(err)}")
        figures.append(figure(f"checks of the {command} record that hold", len(rows)))
    return machine.tbd("verify", str(machine.out / "results")), figures


def peaks_part(machine, seconds):
    if machine.device == "cpu":
        raise Absent("peaks of a GPU need a GPU")
    command = machine.tbd("gpu-peaks", "--device", machine.device, "--json")
    nvrtc = next(iter(sorted(machine.torch.parent.glob("nvidia/*/lib/libnvrtc.so.1?"))), None)
    if nvrtc:
        command += ["--nvrtc", str(nvrtc)]
    code, out, err = machine.run(command, seconds)
    if code:
        raise Failed(last_line(err))
    return command, [figure(f"{row['kernel']} {row['type']}", (row["all_threads"] or {}).get("median") or row["reason"],
                            "B/s" if row["unit"] == "memory" else "FLOP/s") for row in json.loads(out)["kernels"]]


# Name, function, the most seconds of it.
PARTS = [("device", device_part, 20), ("peaks", peaks_part, 60), ("conformance", conformance_part, 120),
         ("tests", tests_part, 60), ("throughput", throughput_part, 160), ("profiler", profiler_part, 50),
         ("closure", closure_part, 50), ("check", check_part, 280)]


def result_of(part, machine, seconds):
    name, function, _ = part
    began = time.monotonic()
    result = {"part": name, "status": "pass", "reason": "", "figures": [], "command": ""}
    try:
        command, result["figures"] = function(machine, seconds)
        shown = " ".join(map(str, command))
        for folder, name in ((machine.programs, "PACK/bin"), (machine.pack, "PACK"), (machine.out, "OUT")):
            shown = shown.replace(str(folder), name)
        result["command"] = shown
    except Absent as reason:
        result.update(status="absent", reason=str(reason))
    except Unfinished as reason:
        result.update(status="unfinished", reason=f"{reason}: the same command goes on")
    except Failed as reason:
        result.update(status="fail", reason=str(reason))
    except Exception as reason:  # a fault of the part itself: the others go on
        result.update(status="fail", reason=f"{type(reason).__name__}: {reason}")
    result["seconds"] = round(time.monotonic() - began, 1)
    return result


def page(summary):
    lines = [f"# GPU acceptance run, {summary['date']}", "",
             f"torch {summary['torch']}, device {summary['device']}, commit {summary['commit'][:12]}.", "",
             "| part | status | seconds | reason |", "|---|---|---|---|"]
    for result in summary["parts"]:
        lines.append(f"| {result['part']} | {result['status']} | {result['seconds']} | {result['reason'].replace('|', '/')} |")
    for result in summary["parts"]:
        if result["figures"]:
            lines += ["", f"## {result['part']}", "", f"`{result['command']}`", "", "| figure | value |", "|---|---|"]
            lines += [f"| {each['what']} | {each['value']} {each['unit']} |".replace(" |", " |") for each in result["figures"]]
    return "\n".join(lines) + "\n"


def run_parts(parts, machine, out, seconds):
    """All results, those that were there included. A part that the time does not suffice for is absent, and not kept."""
    began, results = time.monotonic(), []
    for part in parts:
        kept = out / f"{part[0]}.json"
        if kept.is_file():
            results.append(json.loads(kept.read_text()))
            continue
        left = seconds - (time.monotonic() - began)
        if left < 10:
            results.append({"part": part[0], "status": "absent", "reason": "no time was left: the same command goes on",
                            "figures": [], "command": "", "seconds": 0})
            continue
        print(f"gpu_acceptance: {part[0]}, at most {min(left, part[2]):.0f} s", file=sys.stderr, flush=True)
        result = result_of(part, machine, min(left, part[2]))
        if result["status"] != "unfinished":
            kept.write_text(json.dumps(result, indent=1))
        results.append(result)
    return results


def main(arguments, parts=PARTS, make_machine=Machine):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pack", type=Path)
    parser.add_argument("--torch", type=Path, required=True)
    parser.add_argument("--only")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--seconds", type=float, default=590)
    parser.add_argument("--device", default="cuda:0")
    options = parser.parse_args(arguments)
    known = [part[0] for part in parts]
    wanted = options.only.split(",") if options.only else known
    unknown = [name for name in wanted if name not in known]
    if unknown:
        print(f"gpu_acceptance: error: unknown part '{unknown[0]}'; parts are {', '.join(known)}", file=sys.stderr)
        return 2
    out = (options.out or options.pack / "out").resolve()
    (out / "logs").mkdir(parents=True, exist_ok=True)
    machine = make_machine(options.pack.resolve(), options.torch.resolve(), out, options.device)
    results = run_parts([part for part in parts if part[0] in wanted], machine, out, options.seconds)
    summary = {"date": time.strftime("%Y-%m-%d"), "torch": machine.packed["torch"], "commit": machine.packed["commit"],
               "device": options.device, "parts": results}
    (out / "acceptance.json").write_text(json.dumps(summary, indent=1) + "\n")
    (out / "acceptance.md").write_text(page(summary))
    for result in results:
        print(f"{result['part']}: {result['status']}{': ' + result['reason'] if result['reason'] else ''}")
    return 1 if any(result["status"] == "fail" for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
