#!/usr/bin/env python3
"""Holds the arrows of the rooms: who may include whom, where a framework's headers and a process's edges may appear.

  check_layers.py [--source DIR]    one line per fault on stdout; exit 1 when there is one

The table below is that of ARCHITECTURE.md; the link lines in CMakeLists.txt say the same to the linker.
"""
import argparse
import re
import sys
from pathlib import Path

BELOW_WORKER = ["base", "stats", "graph", "host", "go", "data", "quality", "record", "trace", "measure"]
MAY_INCLUDE = {
    "base": [],
    "stats": ["base"],
    "graph": ["base"],
    "models": ["base", "graph"],
    "host": ["base", "graph"],
    "go": ["base", "stats"],
    "data": ["base", "graph", "host", "go"],
    "quality": ["base", "stats", "host"],
    "record": ["base"],
    "trace": ["base", "record"],
    "measure": ["base", "stats", "graph", "record", "trace"],
    "worker": BELOW_WORKER,
    "backends": BELOW_WORKER + ["worker"],
    "runner": ["base", "stats", "graph", "models", "record", "measure"],
    "selfplay": ["base", "stats", "graph", "go", "quality", "record", "measure", "runner"],
    "analysis": ["base", "stats", "record", "trace"],
    "report": ["base", "stats", "record", "analysis"],
    "cli": BELOW_WORKER + ["models", "runner", "selfplay", "analysis", "report"],
}
# What a room may include besides: the runner and the workers share the messages.
ALSO = {"runner": r"worker/protocol[a-z_]*\.h$"}
# A back-end's tests build their programs with the models.
ALSO_IN_TESTS = {"backends": ["models"]}
FRAMEWORK_HEADERS = {
    "pytorch": r"(ATen|c10|torch|caffe2|gloo)/",
    "tensorflow": r"(tensorflow|tsl|xla)/",
    "mxnet": r"mxnet/",
    "mlx": r"mlx/",
}
# What only the program's edge may do; a worker's main is such an edge, too.
EDGE = re.compile(r"\bstd::(cout|cin|exit|getenv|quick_exit|printf|puts)\b|(?<![\w:.>])(::)?(exit|getenv|secure_getenv|printf|puts)\s*\(")
EDGE_FILES = re.compile(r"^(cli/.*|backends/[^/]+/(worker_)?main\.cc)$")
# `// edge: <reason>` on the line lets one through, e.g. _exit in a child between fork and exec.
ALLOWED = re.compile(r"//.*\bedge: \S")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT_OR_STRING = re.compile(r'//.*|"(\\.|[^"\\])*"')


def include_fault(room, path, included):
    target = included.split("/")[0]
    if target not in MAY_INCLUDE or target == room:
        if room == "backends" and target == "backends" and included.split("/")[1] != path.split("/")[1]:
            return f"includes another back-end's {included}"
        return None
    also = ALSO_IN_TESTS.get(room, []) if path.endswith(("_test.cc", "_test.h")) else []
    if target in MAY_INCLUDE[room] or target in also or re.match(ALSO.get(room, "$^"), included):
        return None
    return f"{room} may not include {included}"


def framework_fault(path, included):
    for framework, pattern in FRAMEWORK_HEADERS.items():
        if re.match(pattern, included) and not path.startswith(f"backends/{framework}/"):
            return f"{included} belongs to backends/{framework} alone"
    return None


def faults_of(path, text):
    """path is relative to src/. Yields (line number, what is wrong)."""
    room = path.split("/")[0]
    if room not in MAY_INCLUDE:
        yield 1, f"src/{room} is no room of the design"
        return
    for number, line in enumerate(text.splitlines(), 1):
        include = INCLUDE.match(line)
        if include:
            if include[1] == '"':
                fault = include_fault(room, path, include[2])
            else:
                fault = framework_fault(path, include[2])
            fault = fault or framework_fault(path, include[2])
            if fault:
                yield number, fault
        elif not EDGE_FILES.match(path) and not ALLOWED.search(line):
            code = COMMENT_OR_STRING.sub("", line)
            found = EDGE.search(code)
            if found:
                yield number, f"only src/cli prints, exits or reads the environment, found {found[0].rstrip('( ')}"


def check(source):
    count = 0
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cc"):
            continue
        name = path.relative_to(source).as_posix()
        for number, fault in faults_of(name, path.read_text(encoding="utf-8")):
            print(f"src/{name}:{number}: {fault}")
            count += 1
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).resolve().parent.parent / "src")
    options = parser.parse_args()
    if check(options.source):
        sys.exit(1)


if __name__ == "__main__":
    main()
