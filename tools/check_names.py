#!/usr/bin/env python3
"""The naming rules of .clang-tidy over the rooms without framework headers. Exit 77 (skipped) without clang-tidy.

  check_names.py BUILD_DIR    needs its compile_commands.json; files that passed and did not change are not read again
"""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def headers_hash():
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes())
    for path in sorted((ROOT / "src").rglob("*.h")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def check(tool, build, path):
    done = subprocess.run([tool, "-p", str(build), "--quiet", "--extra-arg=-Wno-everything", str(path)],
                          capture_output=True, text=True, check=False)
    # Only naming counts: what the other compiler cannot parse is not this check's affair.
    return sorted(set(re.findall(r"^/.*\[readability-identifier-naming.*\]$", done.stdout, re.MULTILINE)))


def main():
    build = Path(sys.argv[1])
    tool = shutil.which("clang-tidy")
    if not tool:
        print("clang-tidy is not installed")
        sys.exit(77)
    commands = json.loads((build / "compile_commands.json").read_text())
    files = {Path(c["file"]) for c in commands}
    files = sorted(f for f in files if f.is_relative_to(ROOT / "src") and not f.is_relative_to(ROOT / "src/backends")
                   and not f.name.endswith("_test.cc"))
    stamps = build / "names_passed.json"
    passed = json.loads(stamps.read_text()) if stamps.exists() else {}
    headers = headers_hash()
    key = {f: hashlib.sha256(f.read_bytes() + headers.encode()).hexdigest() for f in files}
    todo = [f for f in files if passed.get(str(f)) != key[f]]
    faults = set()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for path, found in zip(todo, pool.map(lambda f: check(tool, build, f), todo)):
            faults.update(found)
            if not found:
                passed[str(path)] = key[path]
    stamps.write_text(json.dumps(passed))
    for fault in sorted(faults):
        print(fault.replace(f"{ROOT}/", ""))
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
