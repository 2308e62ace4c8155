#!/usr/bin/env python3
"""Every mutant of detection is caught: its source compiles, and each test that is to see it fails with it."""
import json
import os
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

from detection_mutants import MUTANTS

ROOT = Path(__file__).resolve().parent.parent
BUILD = Path(os.environ.get("TBD_BUILD", ROOT / "build/dev"))


def compiler_of(file):
    """The command that compiles a source file, without its two last words: -c FILE."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        if entry["file"] == str(ROOT / file):
            words = shlex.split(entry["command"])
            del words[words.index("-o"):]
            return words
    raise AssertionError(f"{file}: {BUILD} does not compile it alone")


def linker_of(target):
    """The command that links an executable: the compiler, options, objects, -o TARGET, libraries."""
    commands = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "-s", target], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
    words = shlex.split(commands.strip().splitlines()[-1])
    return words[words.index(":") + 2:-2]  # between ": &&" and "&& :"


def edited(text, edits):
    for old, new in edits:
        if old not in text:
            raise AssertionError(f"no longer in the source: {old}")
        text = text.replace(old, new)
    return text


class DetectionMutants(unittest.TestCase):
    """A room's test executable is linked with the mutant's object, which goes before that of the room's library."""

    def run_command(self, words):
        done = subprocess.run(words, cwd=BUILD, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"{shlex.join(map(str, words))}\n{done.stdout}")

    def failures(self, file, edits, tests):
        """The names among `tests` that fail when `file` is edited."""
        with tempfile.TemporaryDirectory() as folder:
            source, program = Path(folder) / Path(file).name, Path(folder) / "test"
            source.write_text(edited((ROOT / file).read_text(), edits))
            self.run_command([*compiler_of(file), "-O0", "-g0", "-w", "-o", f"{source}.o", "-c", source])
            link = linker_of(f"test_{Path(file).parts[1]}")
            link[link.index("-o"):link.index("-o") + 2] = [f"{source}.o", "-o", program]
            self.run_command(link)
            done = subprocess.run([program, f"--gtest_filter={':'.join(tests)}"], cwd=BUILD, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        ran = set(re.findall(r"^\[ RUN      \] (\S+)", done.stdout, re.M))
        self.assertEqual(ran, set(tests), "unknown tests" + done.stdout)
        return ran - set(re.findall(r"^\[       OK \] (\S+)", done.stdout, re.M))

    def test_each_is_caught(self):
        for rule, mutants in MUTANTS.items():
            for mutant in mutants:
                with self.subTest(f"{rule}: {mutant.name}"):
                    missed = set(mutant.caught_by) - self.failures(mutant.file, mutant.edits, mutant.caught_by)
                    self.assertEqual(missed, set(), "these tests do not see it")

    def test_the_sources_as_they_are_pass(self):
        tests = {}
        for mutant in sum(MUTANTS.values(), []):
            tests.setdefault(mutant.file, set()).update(mutant.caught_by)
        for file, names in tests.items():
            with self.subTest(file):
                self.assertEqual(self.failures(file, [], names), set())


if __name__ == "__main__":
    unittest.main()
