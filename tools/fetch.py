#!/usr/bin/env python3
"""Fetches, verifies and unpacks the packages of deps/frameworks.lock into the cache.

  fetch.py plan   SECTION...   print "<download bytes> <disk bytes>" still needed
  fetch.py get    SECTION...   make each section ready
  fetch.py try    SECTION...   the same; on a failure the reason alone goes to stdout, exit 1
  fetch.py verify SECTION...   compare each unpacked file with its manifest (all hashes)

A folder is ready when its manifest is there and every file has its recorded size. It is unpacked beside its final
place and renamed at the end, so a folder with a manifest is whole. Callers hold the cache's lock.
"""
import argparse
import fnmatch
import hashlib
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from pathlib import Path

MANIFEST = ".tbd-manifest"
LOCK_FILE = Path(__file__).resolve().parent.parent / "deps" / "frameworks.lock"


class FetchError(Exception):
    """One clear sentence for the person."""


@dataclass(frozen=True)
class Wheel:
    name: str
    version: str
    tag: str
    sha256: str
    size: int
    unpacked: int
    keep: tuple

    @property
    def file_name(self):
        return f"{self.name.replace('-', '_')}-{self.version}-{self.tag}.whl"

    def pip_arguments(self):
        python, abi, platforms = self.tag.split("-", 2)
        arguments = ["--python-version", "311" if python == "py3" else python[2:]]
        if abi != "none":
            arguments += ["--implementation", "cp", "--abi", abi]
        for platform in platforms.split("."):
            if platform != "any":
                arguments += ["--platform", platform]
        return arguments + [f"{self.name}=={self.version}"]


def read_lock(path):
    sections = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        words = line.split("#", 1)[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            wheels = sections[words[0].strip("[]")] = []
            continue
        try:
            name, version, tag, sha256, size, unpacked = words[:6]
            wheels.append(Wheel(name, version, tag, sha256, int(size), int(unpacked), tuple(words[6:])))
        except (ValueError, NameError):
            raise FetchError(f"{path}: line {number} is not 'name version tags sha256 bytes unpacked-bytes globs'") from None
    return sections


def sha256_of(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def say(text):
    print(f"tbd setup: {text}", file=sys.stderr, flush=True)


class Cache:
    def __init__(self, root, offline):
        self.wheels = root / "wheels"
        self.frameworks = root / "frameworks"
        self.offline = offline

    def folder(self, section):
        return self.frameworks / section

    def problem(self, section, full=False):
        """What is wrong with an unpacked folder, or None."""
        folder = self.folder(section)
        manifest = folder / MANIFEST
        if not manifest.is_file():
            return "is absent" if not folder.exists() else "is half unpacked"
        for line in manifest.read_text().splitlines():
            sha256, size, name = line.split(" ", 2)
            path = folder / name
            if not path.is_file() or path.stat().st_size != int(size):
                return f"has a damaged file {name}"
            if full and sha256_of(path) != sha256:
                return f"has a changed file {name}"
        return None

    def has_wheel(self, wheel):
        path = self.wheels / wheel.file_name
        return path.is_file() and path.stat().st_size == wheel.size

    def download(self, wheel):
        if self.offline:
            raise FetchError(f"{wheel.file_name} is not in the cache {self.wheels}, and --offline forbids to download it")
        say(f"downloading {wheel.name} {wheel.version} ({wheel.size / 1e6:.1f} MB)")
        incoming = self.wheels / f".incoming-{os.getpid()}"
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
                   "--disable-pip-version-check", "--quiet", "-d", str(incoming)] + wheel.pip_arguments()
        try:
            done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
            if done.returncode or not (incoming / wheel.file_name).is_file():
                lines = [line for line in done.stderr.splitlines() if line.startswith("ERROR")] or ["no such file came"]
                raise FetchError(f"cannot download {wheel.file_name}: is the network there? pip says: {lines[-1]}")
            os.replace(incoming / wheel.file_name, self.wheels / wheel.file_name)
        finally:
            shutil.rmtree(incoming, ignore_errors=True)

    def checked_wheel(self, wheel):
        path = self.wheels / wheel.file_name
        if not self.has_wheel(wheel):
            self.download(wheel)
        found = sha256_of(path)
        if found != wheel.sha256:
            path.unlink()
            raise FetchError(f"{wheel.file_name} is refused: its sha256 is {found}, the lock file says {wheel.sha256}")
        return path

    def unpack(self, section, wheels):
        paths = [self.checked_wheel(wheel) for wheel in wheels]  # all hashes before the first byte
        for left_over in self.frameworks.glob(".tmp-*"):
            shutil.rmtree(left_over)
        target = self.frameworks / f".tmp-{section}"
        say(f"unpacking {section}")
        lines = []
        for wheel, path in zip(wheels, paths):
            lines += unpack_wheel(path, wheel.keep, target)
        (target / MANIFEST).write_text("".join(lines))
        if self.folder(section).exists():
            shutil.rmtree(self.folder(section))
        os.replace(target, self.folder(section))

    def get(self, section, wheels):
        problem = self.problem(section)
        if problem:
            if problem != "is absent":
                say(f"{self.folder(section)} {problem}; unpacking it again")
            self.wheels.mkdir(parents=True, exist_ok=True)
            self.frameworks.mkdir(parents=True, exist_ok=True)
            self.unpack(section, wheels)

    def needs(self, sections):
        """Bytes to download and of disk; a wheel that two sections share is downloaded once."""
        wheels = [wheel for section, wheels in sections.items() if self.problem(section) for wheel in wheels]
        download = sum(wheel.size for wheel in {wheel.file_name: wheel for wheel in wheels}.values() if not self.has_wheel(wheel))
        return download, download + sum(wheel.unpacked for wheel in wheels)


def unpack_wheel(path, keep, target):
    """Writes the kept files and returns their manifest lines."""
    lines = []
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.is_dir() or not any(fnmatch.fnmatchcase(info.filename, glob) for glob in keep):
                continue
            if info.filename.startswith("/") or ".." in Path(info.filename).parts:
                raise FetchError(f"{path.name} holds the unsafe path {info.filename}")
            out = target / info.filename
            out.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with archive.open(info) as source, open(out, "wb") as sink:
                while chunk := source.read(1 << 20):
                    digest.update(chunk)
                    sink.write(chunk)
            lines.append(f"{digest.hexdigest()} {info.file_size} {info.filename}\n")
    if not lines:
        raise FetchError(f"{path.name} holds none of the files to keep")
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["plan", "get", "try", "verify"])
    parser.add_argument("sections", nargs="+")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--lock-file", type=Path, default=LOCK_FILE)
    parser.add_argument("--offline", action="store_true")
    options = parser.parse_args(arguments)
    known = read_lock(options.lock_file)
    unknown = [name for name in options.sections if name not in known]
    if unknown:
        raise FetchError(f"'{unknown[0]}' is not in the lock file; it has {', '.join(known)}")
    sections = {name: known[name] for name in options.sections}
    cache = Cache(options.cache, options.offline)
    if options.action == "plan":
        print(*cache.needs(sections))
    elif options.action in ("get", "try"):
        for name, wheels in sections.items():
            cache.get(name, wheels)
    else:
        for name in sections:
            problem = cache.problem(name, full=True)
            if problem:
                raise FetchError(f"{cache.folder(name)} {problem}; remove the folder and run ./tbd setup")
            say(f"{name} is as recorded")


def stop(sentence):
    if sys.argv[1:2] == ["try"]:
        print(sentence)
        sys.exit(1)
    sys.exit(f"tbd setup: error: {sentence}")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except FetchError as error:
        stop(str(error))
    except OSError as error:
        stop(f"{error.filename or 'cache'}: {error.strerror}")
