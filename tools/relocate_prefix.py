#!/usr/bin/env python3
"""Makes Debian packages work that are unpacked in a folder of their own: relocate_prefix.py PREFIX.

What their installation scripts would have done, and what a place other than / needs: links that resolve, programs and
Python modules with a run path to the folder's libraries, and PREFIX/tools, which comes first in PATH. A second pass over
the same folder changes nothing. Needs patchelf, in PATH or in the folder.
"""
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

ARCHITECTURE = "x86_64-linux-gnu"
CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


class Prefix:
    def __init__(self, root):
        self.root = root
        self.libraries = [root / "usr/lib" / ARCHITECTURE, root / "lib" / ARCHITECTURE]
        self.patchelf = shutil.which("patchelf") or root / "usr/bin/patchelf"

    def files(self):
        for folder in ("usr", "lib", "bin"):
            for parent, folders, names in os.walk(self.root / folder):
                for name in names + folders:
                    yield Path(parent) / name

    def relocate(self):
        self.provide_blas()
        for path in self.files():
            if path.is_symlink():
                self.mend_link(path)
            elif path.is_file():
                self.set_run_path(path)
        self.write_tools()
        self.bundle_certificates()

    def provide_blas(self):
        """Numerical libraries lie in folders of their own, between which the system's alternatives choose."""
        for name in ("blas", "lapack"):
            library = self.libraries[0] / name / f"lib{name}.so.3"
            if library.exists():
                replace_link(self.libraries[0] / library.name, library)

    def mend_link(self, path):
        """A link names a file of the prefix, or of the system where that package is installed there."""
        target = Path(os.path.normpath(path.parent / os.readlink(path)))
        if target.is_relative_to(self.root):
            of_system = Path("/") / target.relative_to(self.root)
            if not os.path.lexists(target) and of_system.exists():
                replace_link(path, of_system)
        else:
            of_prefix = self.root / target.relative_to("/")
            if os.path.lexists(of_prefix):
                replace_link(path, of_prefix)

    def set_run_path(self, path):
        """DT_RPATH, not DT_RUNPATH: it also serves the libraries that a library needs, unless that has a path of its own."""
        if not is_dynamic_elf(path):
            return
        found = self.run(path, "--print-rpath")
        if not found and not is_program(path) and ".cpython-" not in path.name:
            return
        folders = [str(self.root) + folder if folder.startswith("/usr") else folder for folder in found.split(":") if folder]
        folders += [str(folder) for folder in self.libraries if str(folder) not in folders]
        if ":".join(folders) != found:
            beside = path.with_name(path.name + ".tbd-new")  # the program may be running, as patchelf itself does
            self.run(path, "--force-rpath", "--set-rpath", ":".join(folders), "--output", beside)
            shutil.copymode(path, beside)
            os.replace(beside, path)

    def run(self, path, *arguments):
        done = subprocess.run([self.patchelf, *arguments, path], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"patchelf {' '.join(arguments)} {path}: {done.stderr.strip()}")
        return done.stdout.strip()

    def write_tools(self):
        tools = self.root / "tools"
        tools.mkdir(exist_ok=True)
        if (self.root / "usr/lib/python3/dist-packages").is_dir():
            version = f"python{sys.version_info.major}.{sys.version_info.minor}"
            modules = f"{self.root}/usr/lib/python3/dist-packages:{self.root}/usr/lib/{version}"
            write_script(tools / "python3", f'PYTHONPATH="{modules}${{PYTHONPATH:+:$PYTHONPATH}}" exec {sys.executable} "$@"')
        if (self.root / "usr/lib/chromium/chromium").exists():
            fonts = self.root / "etc/fonts/prefix.conf"
            fonts.parent.mkdir(parents=True, exist_ok=True)
            fonts.write_text('<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n'
                             f"  <dir>/usr/share/fonts</dir>\n  <dir>{self.root}/usr/share/fonts</dir>\n"
                             '  <cachedir prefix="xdg">fontconfig</cachedir>\n</fontconfig>\n')
            write_script(tools / "chromium",
                         f'FONTCONFIG_FILE="{fonts}" exec "{self.root}/usr/lib/chromium/chromium" "$@"')
        if (self.root / "usr/games/gnugo").exists():
            replace_link(tools / "gnugo", self.root / "usr/games/gnugo")

    def bundle_certificates(self):
        certificates = sorted((self.root / "usr/share/ca-certificates").rglob("*.crt"))
        if certificates:
            bundle = self.root / CERTIFICATES
            bundle.parent.mkdir(parents=True, exist_ok=True)
            bundle.write_text("".join(certificate.read_text() for certificate in certificates))


def replace_link(path, target):
    if os.path.islink(path) and os.readlink(path) == str(target):
        return
    beside = path.with_name(path.name + ".tbd-new")
    beside.unlink(missing_ok=True)
    beside.symlink_to(target)
    os.replace(beside, path)


def write_script(path, command):
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def segment_types(path):
    """The program header types of a 64-bit ELF file; none of another file."""
    with open(path, "rb") as file:
        header = file.read(64)
        if len(header) < 64 or header[:5] != b"\x7fELF\x02":
            return []
        offset, size, count = struct.unpack_from("<Q", header, 32)[0], *struct.unpack_from("<HH", header, 54)
        file.seek(offset)
        table = file.read(size * count)
    return [struct.unpack_from("<I", table, size * index)[0] for index in range(len(table) // size)] if size else []


def is_dynamic_elf(path):
    return 2 in segment_types(path)


def is_program(path):
    return 3 in segment_types(path)  # it names its interpreter


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: relocate_prefix.py PREFIX")
    Prefix(Path(sys.argv[1]).resolve()).relocate()
