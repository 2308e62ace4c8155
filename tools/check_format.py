#!/usr/bin/env python3
"""clang-format over all C++ files: names each file that differs. Exit 77 (skipped) without clang-format.
check_format.py --fix rewrites them."""
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main():
    tool = shutil.which("clang-format")
    if not tool:
        print("clang-format is not installed")
        sys.exit(77)
    files = [str(f) for d in ("src", "tests", "bench", "fuzz", "tools") for s in ("h", "cc") for f in sorted((ROOT / d).rglob(f"*.{s}"))]
    action = ["-i"] if "--fix" in sys.argv else ["--dry-run", "-Werror"]
    faulty = [name for name in files if subprocess.run([tool, *action, name], stderr=subprocess.DEVNULL, check=False).returncode]
    for name in faulty:
        print(f"{Path(name).relative_to(ROOT)}: not formatted; run tools/check_format.py --fix")
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()
