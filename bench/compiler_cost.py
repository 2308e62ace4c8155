#!/usr/bin/env python3
"""What compilers cost, for bench/clean_build.sh.

  compiler_cost.py run LOG COMMAND...      runs a compiler and adds a line to LOG: its CPU and wall seconds, its peak memory
  compiler_cost.py report LOG [COMMANDS]   tables of a LOG; with compile_commands.json the headers, too
"""
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARKER = re.compile(r'^# \d+ "([^"]*)"(?: ([0-9 ]+))?$')
ENTER, LEAVE = "1", "2"


def run(log, command):
    began = time.monotonic()
    code = subprocess.call(command)
    wall = time.monotonic() - began
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = command[command.index("-o") + 1] if "-o" in command else ""
    line = {"output": output, "cpu_s": round(use.ru_utime + use.ru_stime, 3), "wall_s": round(wall, 3),
            "peak_kib": use.ru_maxrss}
    with open(log, "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")
    return code


def target_of(output):
    """CMakeFiles/tbd_graph.dir/src/graph/op.cc.o -> tbd_graph"""
    found = re.search(r"CMakeFiles/([^/]+)\.dir/", output)
    return found.group(1) if found else "other"


def print_table(title, columns, rows):
    print(f"\n## {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")


def report_files(lines):
    targets = defaultdict(list)
    for line in lines:
        targets[target_of(line["output"])].append(line)

    def row(name, group):
        return [name, len(group), f"{sum(l['cpu_s'] for l in group):.1f}", f"{sum(l['wall_s'] for l in group):.1f}",
                f"{max(l['peak_kib'] for l in group) / 1024:.0f}"]

    rows = sorted((row(name, group) for name, group in targets.items()), key=lambda r: -float(r[2]))
    print_table("Targets", ["target", "compilations", "CPU s", "wall s", "peak MiB"], rows + [row("all", lines)])
    worst = sorted(lines, key=lambda l: -l["cpu_s"])[:20]
    print_table("Most expensive files", ["file", "CPU s", "peak MiB"],
                [[re.sub(r".*\.dir/", "", l["output"]), f"{l['cpu_s']:.1f}", f"{l['peak_kib'] / 1024:.0f}"] for l in worst])


def header_lines(entry):
    """Lines that each header brings into one unit, with those of what it includes."""
    words = shlex.split(entry["command"])
    begin = next(i for i, word in enumerate(words) if re.search(r"(g\+\+|clang\+\+|c\+\+)[^/]*$", word))
    words = words[begin:]
    at = words.index("-o")
    done = subprocess.run(words[:at] + words[at + 2:] + ["-E"], cwd=entry["directory"], capture_output=True, text=True,
                          errors="replace", check=False)
    lines, open_files = Counter(), []
    for line in done.stdout.splitlines():
        marker = MARKER.match(line)
        if not marker:
            for name in set(open_files):
                lines[name] += 1
        elif ENTER in (marker.group(2) or "").split():
            open_files.append(marker.group(1))
        elif LEAVE in (marker.group(2) or "").split() and open_files:
            open_files.pop()
    return lines


def short(path):
    path = re.sub(r".*/(c\+\+/\d+|include|dist-info)/", r"\1/", path)
    return path.replace(f"{ROOT}/", "")


def report_headers(commands):
    total, units = Counter(), Counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for lines in pool.map(header_lines, commands):
            total.update(lines)
            units.update(lines.keys())
    rows = [[short(name), units[name], f"{total[name] // units[name]:,}", f"{total[name]:,}"]
            for name, _ in total.most_common(400) if name.endswith((".h", ".hpp")) or "/c++/" not in name][:20]
    print_table("Most expensive headers", ["header", "units", "lines a unit", "lines in all"], rows)


def main():
    if sys.argv[1] == "run":
        sys.exit(run(sys.argv[2], sys.argv[3:]))
    lines = [json.loads(line) for line in Path(sys.argv[2]).read_text(encoding="utf-8").splitlines()]
    built = {line["output"] for line in lines}
    report_files(lines)
    if len(sys.argv) > 3:
        commands = json.loads(Path(sys.argv[3]).read_text(encoding="utf-8"))
        report_headers([c for c in commands if any(o in c["command"] for o in built if o)])


if __name__ == "__main__":
    main()
