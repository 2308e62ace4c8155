#!/usr/bin/env python3
"""Enters a freshly built worker in workers.json (format: docs/setup.md). Run by the build, safe side by side."""
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


def library_hash(library, entry):
    """The hash of a 450 MB file is taken again only when its size or time changed."""
    stat = library.stat()
    if entry.get("library") == str(library) and entry.get("library_mtime_ns") == stat.st_mtime_ns:
        return entry["library_sha256"]
    return sha256_of(library)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("registry", "key", "framework", "version", "worker", "root", "library"):
        parser.add_argument(f"--{option}", required=True)
    options = parser.parse_args()
    registry = Path(options.registry)
    library = Path(options.library)
    with open(registry.with_suffix(".lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        book = json.loads(registry.read_text()) if registry.exists() else {"version": 1, "workers": {}}
        old = book["workers"].get(options.key, {})
        book["workers"][options.key] = {
            "framework": options.framework,
            "framework_version": options.version,
            "worker": options.worker,
            "root": options.root,
            "pinned": pinned(Path(options.root)),
            "library": options.library,
            "library_bytes": library.stat().st_size,
            "library_mtime_ns": library.stat().st_mtime_ns,
            "library_sha256": library_hash(library, old),
        }
        new = registry.with_suffix(f".tmp{os.getpid()}")
        new.write_text(json.dumps(book, indent=1) + "\n")
        os.replace(new, registry)


if __name__ == "__main__":
    main()
