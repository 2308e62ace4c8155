#!/usr/bin/env python3
"""The acceptance run's own logic: parts, budget, resuming, its page; what it says of a torch that does not fit."""
import contextlib
import io
import json
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "bench")]  # the pack has all in one folder

import gpu_acceptance as run


class Scripted:
    """In place of a machine: nothing is started."""

    def __init__(self, pack, torch, out, device):
        self.pack, self.torch, self.out, self.device = pack, torch, out, device
        self.programs = pack / "bin"
        self.packed = {"torch": "2.11.0", "commit": "0123456789abcdef"}


class Acceptance(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.called = []

    def part(self, name, reason=None, seconds=30):
        def function(machine, seconds):
            self.called.append(name)
            if reason:
                raise reason
            return [machine.pack / "bin/tbd", name], [run.figure("rate | of it", 1.5, "GB/s")]

        return name, function, seconds

    def main(self, parts, *more):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
            code = run.main([str(self.folder), "--torch", "/torch", *more], parts, Scripted)
        return code, out.getvalue(), err.getvalue()

    def summary(self):
        return json.loads((self.folder / "out/acceptance.json").read_text())

    def test_every_part_has_a_status_and_the_page_shows_its_figures(self):
        parts = [self.part("good"), self.part("bad", run.Failed("it broke")), self.part("none", run.Absent("no GPU"))]
        code, out, _ = self.main(parts)
        self.assertEqual(code, 1)
        self.assertEqual(out.splitlines(), ["good: pass", "bad: fail: it broke", "none: absent: no GPU"])
        self.assertEqual([part["status"] for part in self.summary()["parts"]], ["pass", "fail", "absent"])
        page = (self.folder / "out/acceptance.md").read_text()
        self.assertIn("`PACK/bin/tbd good`", page)
        self.assertIn("| rate | of it | 1.5 GB/s |", page)
        self.assertIn("| bad | fail |", page)
        self.assertIn("commit 0123456789ab.", page)

    def test_a_part_that_is_done_is_not_repeated(self):
        parts = [self.part("one"), self.part("two")]
        self.assertEqual(self.main(parts, "--only", "one")[0], 0)
        self.assertEqual(self.main(parts)[0], 0)
        self.assertEqual(self.called, ["one", "two"])
        self.assertEqual(len(self.summary()["parts"]), 2)

    def test_a_part_without_time_is_absent_and_comes_next_time(self):
        parts = [self.part("one")]
        self.assertEqual(self.main(parts, "--seconds", "5")[0], 0)
        self.assertEqual(self.called, [])
        self.assertEqual(self.summary()["parts"][0]["status"], "absent")
        self.main(parts)
        self.assertEqual(self.called, ["one"])

    def test_a_fault_of_a_part_itself_ends_it_alone(self):
        code, out, _ = self.main([self.part("one", KeyError("found")), self.part("two")])
        self.assertEqual((code, out), (1, "one: fail: KeyError: 'found'\ntwo: pass\n"))

    def test_a_part_that_is_not_finished_goes_on_next_time(self):
        parts = [self.part("one", run.Unfinished("3 of 11 were checked"))]
        code, out, _ = self.main(parts)
        self.assertEqual((code, out), (0, "one: unfinished: 3 of 11 were checked: the same command goes on\n"))
        self.main(parts)
        self.assertEqual(self.called, ["one", "one"])

    def test_networks_that_were_checked_are_not_checked_again(self):
        machine = Scripted(self.folder, None, self.folder, "cuda:0")
        machine.tbd = lambda *arguments: list(arguments)
        asked = []

        def answer(command, seconds):
            asked.append(command[:2])
            if command[0] == "list":
                return 0, '{"model": "a"}\n{"model": "b"}\n{"model": "a"}\n', ""
            return 0, json.dumps({"model": command[1], "config": "tiny", "passed": command[1] == "a", "fault": ""}) + "\n", ""

        machine.run = answer
        with self.assertRaises(run.Unfinished):
            run.check_part(machine, 10)
        for _ in range(2):
            with self.assertRaisesRegex(run.Failed, "^b tiny: a gate failed$"):
                run.check_part(machine, 60)
        self.assertEqual([each for each in asked if each[0] == "check"], [["check", "a"], ["check", "b"]])

    def test_an_unknown_part_is_one_sentence(self):
        code, _, err = self.main([self.part("one")], "--only", "two")
        self.assertEqual((code, err), (2, "gpu_acceptance: error: unknown part 'two'; parts are one\n"))

    def machine(self, torch):
        (self.folder / "pack.json").write_text(json.dumps({"torch": "2.11.0", "commit": "", "libc": "2.0"}))
        with self.assertRaises(SystemExit) as ended:
            run.Machine(self.folder, torch, self.folder, "cuda:0")
        return str(ended.exception)

    def test_a_folder_without_torch_is_one_sentence(self):
        self.assertIn("holds no lib/libtorch_cpu.so", self.machine(self.folder / "torch"))

    def test_another_torch_is_one_sentence(self):
        torch = self.folder / "torch"
        (torch / "lib").mkdir(parents=True)
        (torch / "lib/libtorch_cpu.so").write_text("")
        (torch / "version.py").write_text("__version__ = '2.9.1+cu130'\n")
        self.assertIn(f"{torch} is torch 2.9.1; the pack is for 2.11.0", self.machine(torch))

    def test_each_run_with_the_packed_c_library_has_a_loader_in_a_folder_of_its_own(self):
        torch, program = self.folder / "torch", self.folder / "bin/tbd"
        for folder in (torch / "lib", program.parent, self.folder / "out"):
            folder.mkdir(parents=True)
        (torch / "lib/libtorch_cpu.so").write_text("")
        (torch / "version.py").write_text("__version__ = '2.11.0'\n")
        program.write_bytes(b"ELF" + run.MACHINE_LOADER + b"code")
        (self.folder / "pack.json").write_text(json.dumps({"torch": "2.11.0", "commit": "", "libc": "999.0"}))
        machines = [run.Machine(self.folder, torch, self.folder / "out", "cuda:0") for _ in range(2)]
        loaders = [Path(machine.loader_folder.name) / "ld" for machine in machines]
        self.assertNotEqual(loaders[0], loaders[1])
        for loader in loaders:
            self.assertEqual(loader.readlink(), self.folder / "libc/ld-linux-x86-64.so.2")
        self.assertIn(bytes(loaders[1]), (machines[1].programs / "tbd").read_bytes())
        self.assertEqual(program.read_bytes(), b"ELF" + run.MACHINE_LOADER + b"code")

    def test_versions_of_the_c_library_are_compared_by_number(self):
        self.assertTrue(run.older("2.9", "2.36"))
        self.assertFalse(run.older("2.36", "2.36"))

    def test_a_program_gets_another_loader_in_place_of_the_machines(self):
        program = b"ELF" + run.MACHINE_LOADER + b"code"
        self.assertEqual(run.with_loader(program, "/short/ld"), b"ELF/short/ld".ljust(3 + len(run.MACHINE_LOADER), b"\0") + b"code")
        with self.assertRaisesRegex(SystemExit, "too long a path"):
            run.with_loader(program, "/a/path/that/is/longer/than/it")


if __name__ == "__main__":
    unittest.main()
