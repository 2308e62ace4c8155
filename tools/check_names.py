#!/usr/bin/env python3
"""The naming rules of .clang-tidy over the modules without framework headers. Exit 77 (skipped) without clang-tidy.

  check_names.py BUILD_DIR    needs its compile_commands.json; modules that passed and did not change are not read again

The files of a module are read together, as unity builds compile them: headers are nearly all of the work.
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def digest(files):
    """Of these files, the rules and all headers."""
    total = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for path in sorted((ROOT / "src").rglob("*.h")) + sorted(files):
        total.update(path.read_bytes())
    return total.hexdigest()


def modules(build):
    """Target: its compile commands, for files of src that are neither tests nor a back-end's."""
    groups = defaultdict(list)
    for command in json.loads((build / "compile_commands.json").read_text()):
        path = Path(command["file"])
        if path.is_relative_to(ROOT / "src") and not path.is_relative_to(ROOT / "src/backends") and not path.name.endswith("_test.cc"):
            # Each model is a file of its own, and says `Sizes` and `config` as the others do.
            alone = path.stem if path.is_relative_to(ROOT / "src/models") else ""
            groups[re.search(r" -o \S*CMakeFiles/([^/]+)\.dir/", command["command"]).group(1) + alone].append(command)
    return groups


def check(tool, commands, folder):
    """The faults of one module."""
    unit = folder / "unit.cc"
    unit.write_text("".join(f'#include "{command["file"]}"\n' for command in commands))
    words = shlex.split(commands[0]["command"])
    flags = [word for word in words if word.startswith(("-I", "-D", "-std="))]
    flags += [word for i, word in enumerate(words) if "-isystem" in words[max(0, i - 1):i + 1]]
    done = subprocess.run([tool, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", str(unit), "--", *flags, "-Wno-everything",
                           "-ferror-limit=0"], capture_output=True, text=True, check=False)
    # Only naming counts: what the other compiler cannot parse is not this check's affair.
    return sorted(set(re.findall(r"^/.*\[readability-identifier-naming.*\]$", done.stdout, re.MULTILINE)))


def check_module(tool, commands):
    with tempfile.TemporaryDirectory() as folder:
        return check(tool, commands, Path(folder))


def main():
    build = Path(sys.argv[1])
    tool = shutil.which("clang-tidy")
    if not tool:
        print("clang-tidy is not installed")
        sys.exit(77)
    groups = modules(build)
    stamps = build / "names_passed.json"
    passed = json.loads(stamps.read_text()) if stamps.exists() else {}
    key = {name: digest([Path(c["file"]) for c in commands]) for name, commands in groups.items()}
    todo = sorted((name for name in groups if passed.get(name) != key[name]), key=lambda name: -len(groups[name]))
    faults = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, found in zip(todo, pool.map(lambda name: check_module(tool, groups[name]), todo)):
            faults.update(found)
            if not found:
                passed[name] = key[name]
    stamps.write_text(json.dumps(passed))
    for fault in sorted(faults):
        print(fault.replace(f"{ROOT}/", ""))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
