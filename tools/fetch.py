#!/usr/bin/env python3
"""Fetches, verifies and unpacks the packages of deps/frameworks.lock into the cache.

  fetch.py plan   SECTION...   print "<download bytes> <disk bytes> SECTION..." still needed
  fetch.py get    SECTION...   make each section ready
  fetch.py each   SECTION... --status DIR   make them ready one after the other, and go on after one that fails.
                               DIR/SECTION.done appears at the end of each: empty, or why it failed. DIR/now says what
                               happens: a sentence, then lines "SECTION SECONDS" of those to come (in how many seconds).
                               With --alarm PID one that fails is the last, and that process gets the signal USR1;
                               but not one of --spare SECTION...
  fetch.py verify SECTION...   compare each unpacked file with its manifest (all hashes)

A folder is ready when its manifest is there and every file has its recorded size. It is unpacked beside its final
place and renamed at the end, so a folder with a manifest is whole. Callers hold the cache's lock. INT, TERM and HUP
end it and leave nothing half-written.
"""
import argparse
import errno
import fnmatch
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

MANIFEST = ".tbd-manifest"
NOTES = ("cuda", "capability", "absent")  # lines of the lock file that the set-up itself reads
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
        if words[0] in NOTES:
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
    clear = "\r\033[K" if sys.stderr.isatty() else ""  # the progress line of tools/setup_progress.sh
    sys.stderr.write(f"{clear}tbd setup: {text}\n")
    sys.stderr.flush()


def bytes_below(folder):
    """Of the files that are there; others may come and go meanwhile."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except FileNotFoundError:
                pass
    return total


def megabytes(count):
    return f"{count / 1e6:.0f}"


@dataclass
class Task:
    section: str
    verb: str  # "downloading" or "unpacking"
    name: str
    size: int


class Status:
    """The folder of `each`. Foresees by the rates so far, which begin with a second of the assumed ones."""

    def __init__(self, folder, tasks):
        self.folder, self.tasks = folder, tasks
        self.worked = {"downloading": [20e6, 1.0], "unpacking": [80e6, 1.0]}  # bytes, seconds
        self.last_time, self.last_bytes, self.written = time.monotonic(), 0, 0.0

    def __call__(self, verb, name, done):
        while self.tasks and (self.tasks[0].verb, self.tasks[0].name) != (verb, name):
            self.tasks.pop(0)
            self.last_time, self.last_bytes = time.monotonic(), 0
        now = time.monotonic()
        if not self.tasks or now - self.written < 0.3:
            return
        done = min(done, self.tasks[0].size)
        self.worked[verb][0] += done - self.last_bytes
        self.worked[verb][1] += now - self.last_time
        self.last_time, self.last_bytes, self.written = now, done, now
        self.write("now", self.sentence(done) + self.foreseen(done))

    def sentence(self, done):
        task = self.tasks[0]
        return f"{task.verb} {task.name} {megabytes(done)} of {megabytes(task.size)} MB\n"

    def foreseen(self, done):
        seconds, ready = 0.0, {}
        for task in self.tasks:
            size, took = self.worked[task.verb]
            seconds += (task.size - done) * took / size
            ready[task.section], done = seconds, 0
        return "".join(f"{section} {seconds:.0f}\n" for section, seconds in ready.items())

    def write(self, name, text):
        (self.folder / f".{name}").write_text(text)
        os.replace(self.folder / f".{name}", self.folder / name)


class Cache:
    def __init__(self, root, offline):
        self.wheels = root / "wheels"
        self.frameworks = root / "frameworks"
        self.offline = offline
        self.status = lambda verb, name, done: None

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
        for left_over in self.wheels.glob(".incoming-*"):
            shutil.rmtree(left_over)
        incoming = self.wheels / f".incoming-{os.getpid()}"
        incoming.mkdir()
        try:
            answer = self.pip_download(wheel, incoming)
            if not (incoming / wheel.file_name).is_file():
                if os.strerror(errno.ENOSPC) in answer:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self.wheels))
                lines = [line for line in answer.splitlines() if line.startswith("ERROR")] or ["no such file came"]
                raise FetchError(f"cannot download {wheel.file_name}: is the network there? pip says: {lines[-1]}")
            os.replace(incoming / wheel.file_name, self.wheels / wheel.file_name)
        finally:
            shutil.rmtree(incoming, ignore_errors=True)

    def pip_download(self, wheel, incoming):
        """What pip wrote to stderr. Its temporary files lie in `incoming`, whose size says how far it is."""
        command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--no-cache-dir",
                   "--disable-pip-version-check", "--quiet", "-d", str(incoming)] + wheel.pip_arguments()
        with open(incoming / "stderr", "w+", encoding="utf-8", errors="replace") as stderr:
            pip = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=stderr, env={**os.environ, "TMPDIR": str(incoming)})
            try:
                while pip.poll() is None:
                    self.status("downloading", wheel.name, bytes_below(incoming))
                    time.sleep(0.1)
            finally:
                pip.kill()
                pip.wait()
            stderr.seek(0)
            return stderr.read()

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
        try:
            lines = []
            for wheel, path in zip(wheels, paths):
                lines += unpack_wheel(path, wheel.keep, target, lambda done: self.status("unpacking", wheel.name, done))
            (target / MANIFEST).write_text("".join(lines))
            if self.folder(section).exists():
                shutil.rmtree(self.folder(section))
            os.replace(target, self.folder(section))
        finally:
            shutil.rmtree(target, ignore_errors=True)

    def get(self, section, wheels):
        problem = self.problem(section)
        if problem:
            if problem != "is absent":
                say(f"{self.folder(section)} {problem}; unpacking it again")
            self.wheels.mkdir(parents=True, exist_ok=True)
            self.frameworks.mkdir(parents=True, exist_ok=True)
            self.unpack(section, wheels)

    def tasks(self, sections):
        """What is to do, in order; a wheel that two sections share is downloaded once."""
        tasks, coming = [], set()
        for section, wheels in sections.items():
            if not self.problem(section):
                continue
            for wheel in wheels:
                if not self.has_wheel(wheel) and wheel.file_name not in coming:
                    tasks.append(Task(section, "downloading", wheel.name, wheel.size))
                    coming.add(wheel.file_name)
            tasks += [Task(section, "unpacking", wheel.name, wheel.unpacked) for wheel in wheels]
        return tasks

    def each(self, sections, folder, alarm, spare):
        self.status = Status(folder, self.tasks(sections))
        for section, wheels in sections.items():
            try:
                self.get(section, wheels)
                reason = ""
            except (FetchError, OSError) as error:
                reason = sentence_of(error)
            self.status.write(f"{section}.done", reason)
            if reason and alarm and section not in spare:
                os.kill(alarm, signal.SIGUSR1)
                return
        self.status.write("now", "")


def unpack_wheel(path, keep, target, progress):
    """Writes the kept files and returns their manifest lines."""
    lines, done = [], 0
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.is_dir() or not any(fnmatch.fnmatchcase(info.filename, glob) for glob in keep):
                continue
            if info.filename.startswith("/") or ".." in Path(info.filename).parts:
                raise FetchError(f"{path.name} holds the unsafe path {info.filename}")
            out = target / info.filename
            mode = info.external_attr >> 16 & 0o111
            out.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with archive.open(info) as source, open(out, "wb") as sink:
                while chunk := source.read(1 << 20):
                    digest.update(chunk)
                    sink.write(chunk)
                    done += len(chunk)
                    progress(done)
            if mode:
                out.chmod(out.stat().st_mode | mode)
            lines.append(f"{digest.hexdigest()} {info.file_size} {info.filename}\n")
    if not lines:
        raise FetchError(f"{path.name} holds none of the files to keep")
    return lines


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["plan", "get", "each", "verify"])
    parser.add_argument("sections", nargs="+")
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--lock-file", type=Path, default=LOCK_FILE)
    parser.add_argument("--offline", action="store_true")
    parser.add_argument("--status", type=Path)
    parser.add_argument("--alarm", type=int)
    parser.add_argument("--spare", nargs="+", default=[])
    options = parser.parse_args(arguments)
    known = read_lock(options.lock_file)
    unknown = [name for name in options.sections if name not in known]
    if unknown:
        raise FetchError(f"'{unknown[0]}' is not in the lock file; it has {', '.join(known)}")
    sections = {name: known[name] for name in options.sections}
    cache = Cache(options.cache, options.offline)
    if options.action == "plan":
        tasks = cache.tasks(sections)
        download = sum(task.size for task in tasks if task.verb == "downloading")
        disk = download + sum(task.size for task in tasks if task.verb == "unpacking")
        print(download, disk, *dict.fromkeys(task.section for task in tasks))
    elif options.action == "each":
        cache.each(sections, options.status, options.alarm, options.spare)
    elif options.action == "get":
        for name, wheels in sections.items():
            cache.get(name, wheels)
    else:
        for name in sections:
            problem = cache.problem(name, full=True)
            if problem:
                raise FetchError(f"{cache.folder(name)} {problem}; remove the folder and run ./tbd setup")
            say(f"{name} is as recorded")


def sentence_of(error):
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return f"the disk of {error.filename or 'the cache'} is full; make room, then the same command goes on"
    if isinstance(error, OSError):
        return f"{error.filename or 'cache'}: {error.strerror}"
    return str(error)


def end(number, _):
    """Unwinds, so that what is half-written is removed; a second signal does not disturb that."""
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)
    sys.exit(128 + number)


if __name__ == "__main__":
    for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(each, end)
    try:
        main(sys.argv[1:])
    except (FetchError, OSError) as error:
        sys.exit(f"tbd setup: error: {sentence_of(error)}")
