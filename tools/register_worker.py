#!/usr/bin/env python3
"""Enters a worker in workers.json (format: docs/setup.md). Run by the build, safe side by side; a worker of your own,
without a framework's library, needs neither --root nor --library."""
import argparse
import fcntl
import hashlib
import json
import os
import re
from pathlib import Path

LOCK_FILE = Path(__file__).resolve().parent.parent / "deps" / "frameworks.lock"


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def pinned(root):
    """A root is pinned when it is an unpacked section of the lock file, by its name and its manifest."""
    sections = re.findall(r"^\[(.+)\]", LOCK_FILE.read_text(), re.MULTILINE)
    return root.name in sections and (root / ".tbd-manifest").is_file()


def identity(library, old):
    """What tells one library from another. The hash of a large file is taken again only when its time changed."""
    stat = library.stat()
    same = old.get("library") == str(library) and old.get("library_mtime_ns") == stat.st_mtime_ns
    return {
        "library": str(library),
        "library_bytes": stat.st_size,
        "library_mtime_ns": stat.st_mtime_ns,
        "library_sha256": old["library_sha256"] if same else sha256_of(library),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("registry", "key", "framework", "version", "worker"):
        parser.add_argument(f"--{option}", required=True)
    for option in ("root", "library"):
        parser.add_argument(f"--{option}", default="")
    options = parser.parse_args()
    registry = Path(options.registry)
    with open(registry.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        book = json.loads(registry.read_text()) if registry.exists() else {"version": 1, "workers": {}}
        old = book["workers"].get(options.key, {})
        entry = {
            "framework": options.framework,
            "framework_version": options.version,
            "worker": str(Path(options.worker).absolute()),
            "root": options.root,
            "pinned": pinned(Path(options.root)),
        }
        if options.library:
            entry.update(identity(Path(options.library), old))
        book["workers"][options.key] = entry
        new = registry.with_suffix(f".tmp{os.getpid()}")
        new.write_text(json.dumps(book, indent=1) + "\n")
        os.replace(new, registry)


if __name__ == "__main__":
    main()
