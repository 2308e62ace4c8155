#!/usr/bin/env python3
"""How the set-up builds: what goes on beside, what it says meanwhile, how it ends and goes on."""
import fcntl
import hashlib
import http.server
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import termios
import threading
import time
import unittest
import zipfile
from pathlib import Path

import setup_test

LIBRARIES = {"torch": "torch/lib/libtorch_cpu.so", "tensorflow-cpu": "tensorflow/libtensorflow_cc.so.2",
             "mxnet": "mxnet/libmxnet.so"}
SECTIONS = {"torch": "pytorch-2.15.0", "tensorflow-cpu": "tensorflow-2.21.0", "mxnet": "mxnet-1.9.1"}


def wait_until(true, what):
    end = time.monotonic() + 30
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"{what} did not happen")
        time.sleep(0.05)


def is_alive(process):
    try:
        return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


class Build(setup_test.Clone):
    def setUp(self):
        super().setUp()
        self.cmake("")
        for made in ("photos", "crops", "crops-16"):
            (self.cache / "data" / made).mkdir(parents=True)
            (self.cache / "data" / made / ".ready").write_text("")
        self.build = self.clone / "build/release"
        os.utime(self.build / "ready/.core", (1, 1))  # a source is newer

    def cmake(self, building):
        """A cmake that notes its arguments, and runs this shell script where it builds."""
        self.fake("cmake", f'echo "$@" >>{self.folder}/cmake-called\ncase "$*" in *--build*) : ;; *) exit 0 ;; esac\n{building}')

    @property
    def calls(self):
        called = self.folder / "cmake-called"
        return called.read_text().splitlines() if called.exists() else []

    def built(self):
        return [call.split("--target ")[1] for call in self.calls if "--build" in call]

    def lock_frameworks(self, *names):
        """Small wheels of the frameworks in the index; the lock file has these and the plotly of the cache."""
        lines = (self.clone / "deps/frameworks.lock").read_text().splitlines()[:2]
        for name in names:
            wheel = self.index / f"{name.replace('-', '_')}-9.9.9-py3-none-any.whl"
            with zipfile.ZipFile(wheel, "w") as archive:
                archive.writestr(LIBRARIES[name], os.urandom(200000))
                info = f"{name.replace('-', '_')}-9.9.9.dist-info"
                archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 9.9.9\n")
                archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
                archive.writestr(f"{info}/RECORD", "")
            sha256 = hashlib.sha256(wheel.read_bytes()).hexdigest()
            lines += [f"[{SECTIONS[name]}]", f"{name} 9.9.9 py3-none-any {sha256} {wheel.stat().st_size} 200000 {LIBRARIES[name]}"]
        (self.clone / "deps/frameworks.lock").write_text("\n".join(lines) + "\n")

    def serve(self, gate):
        """An index that gives the second half of a file only when gate(its name) is true."""
        index = self.index

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *arguments):
                super().__init__(*arguments, directory=str(index))

            def copyfile(self, source, outputfile):
                data = source.read()
                outputfile.write(data[:len(data) // 2])
                outputfile.flush()
                if self.path.endswith(".whl"):
                    wait_until(lambda: gate(self.path), "the gate")
                outputfile.write(data[len(data) // 2:])

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads, server.handle_error = True, lambda *_: None
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        return {"PIP_FIND_LINKS": f"http://127.0.0.1:{server.server_port}/", "NO_PROXY": "*"}

    def run_tbd(self, *arguments, **environment):
        process = self.start(*arguments, script="tbd", **environment)
        process.out, process.err = process.communicate(timeout=60)
        return process

    def seed_all(self, *names):
        """Frameworks that are unpacked, and plotly."""
        places = {SECTIONS[name]: LIBRARIES[name] for name in names} | {"plotly-9.9.9": setup_test.KEPT}
        for section, file in places.items():
            folder = self.cache / "frameworks" / section
            (folder / file).parent.mkdir(parents=True)
            (folder / file).write_text("12345")
            (folder / ".tbd-manifest").write_text("")


class Overlap(Build):
    def test_the_program_is_built_while_frameworks_are_downloaded(self):
        self.lock_frameworks("torch", "mxnet")
        environment = self.serve(lambda path: ("tbd-worker-pytorch" if "mxnet" in path else "tbd") in self.built())
        done = self.run_tbd("run", "resnet50", "--framework", "pytorch,mxnet", **environment)
        self.assertEqual(done.returncode, 7, done.err)
        self.assertEqual(self.built(), ["tbd", "tbd-worker-pytorch", "tbd-worker-mxnet"])
        configured = [call for call in self.calls if "--build" not in call]
        roots = [[bool(re.search(f"-DTBD_{name}_ROOT=/", call)) for name in ("TORCH", "MXNET")] for call in configured]
        self.assertEqual(roots, [[False, False], [True, False], [True, True]])
        self.assertFalse((self.cache / "setup").exists())

    def test_photographs_are_made_beside_the_workers(self):
        self.seed_all("torch")
        shutil.rmtree(self.cache / "data")
        self.lock_photos()
        program = self.build / "bin/tbd"
        program.write_text(f'#!/bin/sh\nwhile ! grep -q worker-pytorch {self.folder}/cmake-called; do sleep 0.1; done\n'
                           f'for out; do :; done; mkdir -p "$out"; touch {self.folder}/made\n')
        self.cmake(f'case "$*" in *worker*) while [ ! -f {self.folder}/made ]; do sleep 0.1; done ;; esac')
        done = self.run_tbd("setup", "--frameworks", "pytorch")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(self.built(), ["tbd", "tbd-worker-pytorch"])
        self.assertTrue((self.cache / "data/crops/.ready").exists())

    def test_photographs_that_cannot_be_made_end_the_set_up_after_the_build(self):
        self.seed_all("torch")
        shutil.rmtree(self.cache / "data")
        self.lock_photos()
        (self.build / "bin/tbd").write_text("#!/bin/sh\necho no picture; exit 3\n")
        done = self.run_tbd("setup", "--frameworks", "pytorch")
        self.assertEqual(done.returncode, 3)
        self.assertIn("tbd setup: no picture\n", done.err)
        self.assertTrue(done.err.endswith("tbd setup: error: the data set photos could not be made\n"), done.err)
        self.assertEqual(self.built(), ["tbd", "tbd-worker-pytorch"])
        self.assertFalse((self.cache / "data/photos").exists())

    def lock_photos(self):
        (self.cache / "debs").mkdir()
        (self.cache / "debs/pictures.deb").write_text("deb")
        sha256 = hashlib.sha256(b"deb").hexdigest()
        (self.clone / "deps/debian.txt").write_text(f"data pictures 1 {sha256} 3 usr/pictures\n")
        self.fake("dpkg-deb", "exit 0")

    def test_a_download_that_fails_ends_the_build_unless_it_is_optional(self):
        self.lock_frameworks("torch", "mxnet")
        next(self.index.glob("mxnet*")).unlink()
        self.cmake(f'[ -f {self.folder}/quick ] || exec sleep 50')
        began = time.monotonic()
        done = self.run_tbd("run", "resnet50", "--framework", "mxnet,pytorch")
        self.assertLess(time.monotonic() - began, 40)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.err.count("error"), 1, done.err)
        self.assertIn("tbd setup: error: cannot download mxnet-9.9.9-py3-none-any.whl: is the network there?", done.err)
        (self.folder / "quick").write_text("")
        done = self.setup("--build", str(self.build), "--frameworks", "mxnet,pytorch", "--optional")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("mxnet is left out: cannot download mxnet-9.9.9-py3-none-any.whl", done.err)
        self.assertIn("cannot download", (self.build / "absent/mxnet").read_text())
        self.assertEqual(self.built()[-1], "tbd-worker-pytorch")

    def test_wheels_are_downloaded_while_packages_are_installed(self):
        self.lock_frameworks("torch")
        self.fake("dpkg-query", '[ "$4" = cmake ] || echo install ok installed')
        self.fake("id", "echo 0")
        self.fake("dpkg", "exit 0")
        self.fake("apt-get", f'case "$*" in *--fix-broken*) touch {self.folder}/apt; '
                             f'while [ ! -d {self.cache}/frameworks/pytorch-2.15.0 ]; do sleep 0.1; done ;; esac')
        environment = self.serve(lambda path: (self.folder / "apt").exists())
        done = self.setup("--frameworks", "pytorch", **environment)
        self.assertEqual(done.returncode, 0, done.err)


class Interrupt(Build):
    def test_a_signal_ends_all_that_was_started_and_the_next_call_goes_on(self):
        self.lock_frameworks("torch")
        environment = self.serve(lambda path: False)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.cmake(f"sleep 77 & echo $! $$ >{self.folder}/pids; wait")
            process = self.start("run", "resnet50", script="tbd", **environment)
            pids = self.folder / "pids"
            wait_until(lambda: pids.exists() and pids.read_text().endswith("\n"), "the build")
            wait_until(lambda: list(self.cache.glob("wheels/.incoming-*/*")), "the download")
            started = [int(word) for word in pids.read_text().split()] + self.descendants(process.pid)
            self.assertGreater(len(started), 4)
            process.send_signal(number)
            _, err = process.communicate(timeout=30)
            self.assertEqual(process.returncode, -number)
            self.assertIn("interrupted; the same command goes on from here", err)
            self.assertEqual([pid for pid in started if is_alive(pid)], [])
            self.assertEqual(list(self.cache.glob("wheels/.incoming-*")) + list(self.cache.glob("frameworks/.tmp-*")), [])
            self.assertFalse((self.cache / "setup").exists())
            self.assertFalse((self.build / "unclean").exists())
            pids.unlink()
        self.cmake("")
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 7, done.err)

    @staticmethod
    def descendants(process):
        children = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parent = int(stat.read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
            children.setdefault(parent, []).append(int(stat.parent.name))
        found, open_ = [], [process]
        while open_:
            below = children.get(open_.pop(), [])
            found += below
            open_ += below
        return found

    def test_what_a_killed_build_wrote_is_built_again(self):
        whole, half, header, empty = (self.build / name for name in ("whole.o", "half.o", "cmake_pch.hxx.gch", "empty.o"))
        self.seed_all("torch")
        empty.write_text("")
        whole.write_text("whole")
        os.utime(whole, (1, 1))
        self.cmake(f"echo ha >{half}; echo ha >{header}; while [ ! -s {self.folder}/pid ]; do sleep 0.1; done; kill -9 $(cat {self.folder}/pid)")
        process = self.start("run", "resnet50", script="tbd")
        (self.folder / "pid").write_text(str(process.pid))
        process.communicate(timeout=30)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.cmake(f"ls {self.build} >{self.folder}/found")
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 7, done.err)
        self.assertIn("was not ended properly; what it wrote is built again", done.err)
        found = (self.folder / "found").read_text().split()
        self.assertIn("whole.o", found)
        for gone in (half, header, empty):
            self.assertNotIn(gone.name, found)
        self.assertFalse((self.build / "unclean").exists())
        self.assertTrue((self.build / "bin/tbd").exists(), "it is older than the build")


class Said(Build):
    SLOW = "for i in 1 2 3; do echo \"[$i/3] Building CXX object\"; sleep 1.3; done"

    def setUp(self):
        super().setUp()
        self.seed_all("torch")
        self.folder.joinpath("cmake-called").unlink(missing_ok=True)

    def test_a_build_that_needs_nothing_says_nothing(self):
        done = self.run_tbd("setup", "--frameworks", "pytorch")
        self.assertEqual((done.returncode, done.err), (0, ""))

    def test_lines_where_there_is_no_terminal(self):
        self.cmake(self.SLOW)
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 7)
        self.assertRegex(done.err, r"^tbd setup: building tbd, tbd-worker-pytorch: [123] of 3 units; [^\n]* left\n$")

    def test_a_line_a_second_on_a_terminal(self):
        self.cmake(self.SLOW)
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 50, 0, 0))
        process = subprocess.Popen(["sh", str(self.clone / "tbd"), "run", "resnet50"], env=self.environment(),
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs)
        os.close(theirs)
        shown = b""
        while True:
            try:
                shown += os.read(ours, 1000)
            except OSError:  # the other end is closed
                break
        os.close(ours)
        self.assertEqual(process.wait(timeout=60), 7)
        lines = [line for line in shown.decode().replace("\x1b[K", "").split("\r") if line.strip()]
        self.assertGreaterEqual(len(lines), 3, shown)
        self.assertTrue(all(len(line) < 50 for line in lines), lines)
        self.assertTrue(any(line.startswith("tbd setup: building tbd, tbd-worker-pytorch: 2 of") for line in lines), lines)
        self.assertTrue(shown.endswith(b"\r\x1b[K"), "the line goes with the set-up")

    def describe(self, journal, fetching="", log=""):
        """The line of tools/setup_progress.sh; times of the journal count back from now."""
        folder = self.folder / "state"
        (folder / "fetch").mkdir(parents=True, exist_ok=True)
        now = int(time.time())
        (folder / "journal").write_text(re.sub(r"@(\d+)", lambda ago: str(now - int(ago[1])), journal))
        (folder / "fetch/now").write_text(fetching)
        (folder / "log").write_text(log)
        script = (self.clone / "tools/setup_progress.sh").read_text()
        loop = script.index("parent_lives()")
        done = subprocess.run(["sh", "-c", script[:loop] + "describe", "sh", str(folder), "0"], capture_output=True, text=True,
                              check=True)
        return done.stdout.splitlines()[1]

    def test_the_line_says_what_how_far_and_how_long(self):
        plan = "plan tbd\nplan tbd-worker-tensorflow tensorflow-2.21.0\n"
        line = self.describe(plan + "begin tbd @90 building tbd\n", "downloading tensorflow-cpu 61 of 273 MB\ntensorflow-2.21.0 20\n",
                             "[30/60] Building CXX object\n")
        self.assertEqual(line, "building tbd: 30 of 60 units; downloading tensorflow-cpu 61 of 273 MB; about 2 min left")
        slow = self.describe(plan + "begin tbd @360 building tbd\n", log="[30/60] Building CXX object\n")
        self.assertRegex(slow, r"about [789] min left")
        waiting = self.describe(plan + "begin tbd @200 building tbd\nend tbd @20\n", "downloading x 1 of 2 MB\ntensorflow-2.21.0 300\n")
        self.assertRegex(waiting, r"^downloading x 1 of 2 MB; about [56] min left$")
        apt = self.describe("plan packages\nbegin packages @10 installing Debian packages\n",
                            log="0 upgraded, 12 newly installed, 0 to remove\nGet:1 a\nUnpacking b (1) ...\nSetting up b (1) ...\n")
        self.assertEqual(apt, "installing Debian packages: 1 of 12; about 60 s left")
        self.assertEqual(self.describe("begin tbd @9 building tbd\nend tbd @1\n"), "")


class BadMachine(Build):
    def setUp(self):
        super().setUp()
        self.seed_all("torch")

    def jobs(self, available, cores, path="0::/a/b\n", limits=()):
        """compile_jobs of a machine with so much memory and cores and these files of control groups."""
        proc, cgroups = self.folder / "proc", self.folder / "cgroup"
        shutil.rmtree(cgroups, ignore_errors=True)
        (proc / "self").mkdir(parents=True, exist_ok=True)
        (proc / "meminfo").write_text(f"MemTotal: 99 kB\nMemAvailable: {available * 1024} kB\n")
        (proc / "self/cgroup").write_text(path)
        for name, value in limits:
            (cgroups / name).parent.mkdir(parents=True, exist_ok=True)
            (cgroups / name).write_text(f"{value}\n")
        self.fake("nproc", f"echo {cores}")
        command = f"here={self.clone}; . {self.clone}/tools/setup_lib.sh; proc={proc} cgroups={cgroups}; compile_jobs"
        done = subprocess.run(["sh", "-c", command], env=self.environment(), capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        return int(done.stdout)

    def test_as_many_compilers_as_memory_holds(self):
        self.assertEqual(self.jobs(64000, 8), 8)
        self.assertEqual(self.jobs(4000, 8), 2)
        self.assertEqual(self.jobs(500, 8), 1)

    def test_memory_of_control_groups_counts(self):
        group = [("a/memory.max", 5000 << 20), ("a/memory.current", 2500 << 20), ("a/memory.stat", f"anon 1\ninactive_file {1000 << 20}"),
                 ("a/b/memory.max", "max")]
        self.assertEqual(self.jobs(64000, 8, limits=group), 2)
        self.assertEqual(self.jobs(64000, 8, limits=[("a/memory.max", "max")]), 8)
        old = [("memory/x/memory.limit_in_bytes", 4000 << 20), ("memory/x/memory.usage_in_bytes", 100 << 20),
               ("memory/x/memory.stat", "total_inactive_file 0")]
        self.assertEqual(self.jobs(64000, 8, "4:cpuset,memory:/x\n0::/\n", old), 2)

    def test_a_killed_compiler_is_tried_again_alone(self):
        message = "g++: fatal error: Killed signal terminated program cc1plus"
        self.cmake(f'case "$*" in *"-j 1 "*) exit 0 ;; esac\necho "{message}"; exit 1')
        self.fake("nproc", "echo 4")
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 7, done.err)
        self.assertIn("a compiler was killed, most likely for lack of memory; going on with one at a time\n", done.err)
        os.utime(self.build / "ready/.core", (1, 1))
        self.cmake(f'echo "{message}"; exit 1')
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.err, r"error: a compiler needs up to 1536 MB of memory and was killed with \d+ MB free; end other programs")
        self.assertEqual(done.err.count("error"), 1)

    def test_a_disk_that_fills_while_building_is_one_sentence(self):
        self.cmake('echo "cc1plus: fatal error: cannot write: No space left on device"; exit 1')
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.err, f"tbd setup: error: the disk of {self.build} is full; make room (a build takes 600 MB), "
                                   "then the same command goes on\n")
        self.assertTrue((self.build / "unclean").exists(), "what was written may be there in part")
        self.cmake("")
        self.assertEqual(self.run_tbd("run", "resnet50").returncode, 7)

    def test_a_clone_that_cannot_be_written_is_known_before_the_download(self):
        self.fake("touch", f'case "$*" in {self.clone}/*) echo "touch: Read-only file system" >&2; exit 1 ;; esac\nexec /usr/bin/touch "$@"')
        shutil.rmtree(self.cache / "frameworks")
        done = self.run_tbd("run", "resnet50")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.err, f"tbd setup: error: {self.build} cannot be written; copy the clone to a folder of yours and run it there\n")

    def test_a_second_build_waits_for_the_first_and_goes_on(self):
        with open(self.build / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            second = self.start("run", "resnet50", script="tbd")
            time.sleep(1.5)
            self.assertEqual(self.built(), [])
        _, err = second.communicate(timeout=30)
        self.assertEqual(second.returncode, 7, err)
        self.assertEqual(err, f"tbd setup: another build holds {self.build}/lock; waiting for it\n")


if __name__ == "__main__":
    unittest.main()
