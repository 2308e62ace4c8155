#!/usr/bin/env python3
"""Keeps the build from growing: how many files see a heavy header, and how many lines a hot header brings.

  check_headers.py [--compiler COMMAND] [--print]   one line per fault on stdout; exit 1 when there is one

A heavy header costs a second or more of each compilation. Both figures follow from the text of the sources alone, so they
are the same on every machine with one compiler and the same packages; what is measured is in docs/performance.md. A
figure that falls is lowered here in the same change; one that has to rise is raised here, with the reason in the commit.
"""
import argparse
import os
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Header: most files of src that may see it, most of them tests beside the code. Of OF_EVERY_BACKEND the files of
# back-ends do not count: every lowering sees these, so that each new back-end would move the bound.
SEEN_BY = {
    "nlohmann/json.hpp": (143, 101),
    "nlohmann/json_fwd.hpp": (387, 156),
    "CLI/CLI.hpp": (1, 0),
    "simdjson.h": (2, 0),
    "gmock/gmock.h": (0, 204),
    "ATen/core/Tensor.h": (25, 5),
    "ATen/record_function.h": (5, 1),
    "tensorflow/cc/framework/grad_op_registry.h": (2, 0),
    "regex": (1, 0),
    "sstream": (3, 13),
    "filesystem": (345, 143),
    "graph/op.h": (135, 48),
}
OF_EVERY_BACKEND = ("nlohmann/json_fwd.hpp", "filesystem", "graph/op.h")
# Header of src: most thousands of preprocessed lines (g++ 12, Debian 12).
THOUSAND_LINES = {
    "base/error.h": 26,
    "base/json.h": 96,
    "graph/op.h": 47,
    "graph/program.h": 47,
    "graph/graph.h": 47,
    "record/record.h": 54,
    "runner/plan.h": 54,
    "analysis/table.h": 26,
    "cli/command.h": 55,
    "worker/session.h": 58,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


@lru_cache(maxsize=None)
def includes(name):
    path = ROOT / "src" / name
    return tuple(INCLUDE.findall(path.read_text(encoding="utf-8"))) if path.is_file() else ()


def seen(name):
    """All that a file of src includes, directly or not."""
    found, waiting = set(), [name]
    while waiting:
        for header in includes(waiting.pop()):
            if header not in found:
                found.add(header)
                waiting.append(header)
    return found


def count_users():
    users = {header: [0, 0] for header in SEEN_BY}
    for path in sorted((ROOT / "src").rglob("*.cc")):
        found = seen(str(path.relative_to(ROOT / "src")))
        of_backend = path.is_relative_to(ROOT / "src" / "backends")
        for header in users:
            if header in found and not (of_backend and header in OF_EVERY_BACKEND):
                users[header][path.name.endswith("_test.cc")] += 1
    return users


def preprocessed_lines(compiler, header):
    prefix = os.environ.get("TBD_PREFIX")  # where packages lie that an ordinary user has unpacked (docs/setup.md)
    unpacked = ["-isystem", f"{prefix}/usr/include"] if prefix else []
    done = subprocess.run([compiler, "-std=c++20", "-E", "-P", "-x", "c++", *unpacked, "-I", str(ROOT / "src"), "-"],
                          input=f'#include "{header}"\n', capture_output=True, text=True, check=True)
    return done.stdout.count("\n")


def faults(compiler):
    for header, found in count_users().items():
        for kind, count, most in zip(("files", "tests"), found, SEEN_BY[header]):
            if count > most:
                yield f"{header}: {count} {kind} see it, at most {most} may: include it where it is used"
    for header, most in THOUSAND_LINES.items():
        lines = preprocessed_lines(compiler, header)
        if lines > 1000 * most:
            yield f"src/{header}: {lines:,} lines when preprocessed, at most {most},000 may be: which include grew?"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--print", action="store_true", help="print the figures as they are now")
    options = parser.parse_args()
    if not shutil.which(options.compiler):
        print(f"{options.compiler} is not installed")
        sys.exit(77)
    if options.print:
        for header, (files, tests) in count_users().items():
            print(f"{header}: {files} files, {tests} tests")
        for header in THOUSAND_LINES:
            print(f"{header}: {preprocessed_lines(options.compiler, header):,} lines")
        return
    found = list(faults(options.compiler))
    print("\n".join(found))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
