#!/usr/bin/env python3
"""The set-up on machines in every state: a copy of its scripts with small wheels, a cache and a PATH of its own."""
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WHEEL = "plotly-9.9.9-py3-none-any.whl"
KEPT = "plotly/plotly.min.js"
TOOLS = "sh awk cat cut date dirname df flock grep ln mkdir rm sed setsid sleep touch tr".split()  # of every Debian


def frameworks(ready=""):
    """Of each framework, or of those that are made ready so, its name, the CMake variable of its root, its library, and its newest section of the lock file."""
    lock = (ROOT / "deps/frameworks.lock").read_text()
    for row in (ROOT / "deps/frameworks.txt").read_text().splitlines():
        if row[:1].isalpha():
            name, *_, root, library, when = row.split()
            if when.startswith(ready):
                yield name, root, library, re.search(rf"^\[({name}-[^]]*)\]", lock, re.M)[1]


class Machine(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp(prefix="tbd-setup-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.clone, self.cache = self.folder / "clone", self.folder / "cache/tbd"
        self.index, self.bin = self.folder / "index", self.folder / "bin"
        for folder in (self.clone / "deps", self.index, self.bin):
            folder.mkdir(parents=True)
        shutil.copytree(ROOT / "tools", self.clone / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "tbd", self.clone / "tbd")
        for table in ("debian.txt", "frameworks.txt"):
            shutil.copy(ROOT / "deps" / table, self.clone / "deps" / table)
        self.fake("dpkg-query", "echo install ok installed")
        (self.bin / "python3").symlink_to(sys.executable)
        self.lock_wheel(self.make_wheel())

    def make_wheel(self):
        path = self.index / WHEEL
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(KEPT, "kept " * 1000)
            wheel.writestr("plotly/left_out.py", "left out")
            wheel.writestr("plotly-9.9.9.dist-info/METADATA", "Metadata-Version: 2.1\nName: plotly\nVersion: 9.9.9\n")
            wheel.writestr("plotly-9.9.9.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
            wheel.writestr("plotly-9.9.9.dist-info/RECORD", "")
        return path

    def lock_wheel(self, path, sha256=None):
        sha256 = sha256 or hashlib.sha256(path.read_bytes()).hexdigest()
        line = f"plotly 9.9.9 py3-none-any {sha256} {path.stat().st_size} 8192 {KEPT}\n"
        absent = line.replace("plotly 9.9.9", "mxnet 1.9.1")  # of a wheel that is not in the index
        sections = {"plotly-9.9.9": line, **{section: line for *_, section in frameworks()}, "pytorch-2.11.0": line,
                    "mxnet-1.9.1": absent}
        (self.clone / "deps/frameworks.lock").write_text("".join(f"[{name}]\n{text}" for name, text in sections.items()))

    def fake(self, name, script):
        (self.bin / name).unlink(missing_ok=True)  # never write through a link to a tool of this machine
        (self.bin / name).write_text(f"#!/bin/sh\n{script}\n")
        (self.bin / name).chmod(0o755)

    def environment(self, **more):
        keep = {key: os.environ[key] for key in ("HOME", "LANG", "PYTHONPATH") if key in os.environ}
        return {**keep, "PATH": f"{self.bin}:{os.environ['PATH']}", "XDG_CACHE_HOME": str(self.folder / "cache"),
                "PIP_CONFIG_FILE": "/dev/null", "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.index), **more}

    def start(self, *arguments, script="tools/setup.sh", **environment):
        return subprocess.Popen(["sh", str(self.clone / script), *arguments], env=self.environment(**environment),
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def setup(self, *arguments, **environment):
        process = self.start(*arguments, **environment)
        process.out, process.err = process.communicate(timeout=60)
        return process

    def seed(self):
        """The wheel as if it had been downloaded."""
        (self.cache / "wheels").mkdir(parents=True)
        shutil.copy(self.index / WHEEL, self.cache / "wheels")

    @property
    def unpacked(self):
        return self.cache / "frameworks/plotly-9.9.9"


TWO_GPUS = """nvmlSystemGetDriverVersion {driver}
nvmlSystemGetCudaDriverVersion_v2 {cuda}
nvmlDeviceGetCount_v2 2
0 nvmlDeviceGetName NVIDIA H100 80GB HBM3
1 nvmlDeviceGetName NVIDIA H100 80GB HBM3
0 nvmlDeviceGetCudaComputeCapability 9.0
1 nvmlDeviceGetCudaComputeCapability 9.0
"""
BUILD = os.environ.get("TBD_BUILD")  # of CMake: there lies the scripted library of a driver


@unittest.skipIf(BUILD is None, "TBD_BUILD is not set: run by ctest")
class Gpus(Machine):
    """What the set-up does under a driver for GPUs; the driver's library is scripted."""

    def setUp(self):
        super().setUp()
        lock = self.clone / "deps/frameworks.lock"
        wheel = lock.read_text().splitlines()[1]
        lock.write_text(lock.read_text() + f"[pytorch-2.15.0-cuda]\ncuda 13.0\n{wheel}\n"
                        "[mxnet-1.9.1-cuda]\nabsent its code is too old\n")

    def setup_under(self, script, *arguments):
        path = self.folder / "nvml"
        path.write_text(script)
        done = self.setup(*(arguments or ("--frameworks", "pytorch")), LD_LIBRARY_PATH=f"{BUILD}/scripted",
                          TBD_SCRIPTED_NVML=str(path))
        return done, [line.removeprefix("tbd setup: ") for line in done.err.splitlines() if "GPU" in line or "CPU" in line]

    def libraries(self):
        return (self.cache / "frameworks/pytorch-2.15.0-cuda" / KEPT).exists()

    def test_two_gpus_get_their_libraries(self):
        done, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(said, ["GPUs: 2 x NVIDIA H100 80GB HBM3; driver 580.65.06, CUDA 13.0"])
        self.assertIn("libraries for them: pytorch-2.15.0-cuda (0 MB to download, 1 MB of disk; --device cpu leaves them out)",
                      done.err)  # the wheel is the framework's own
        self.assertTrue(self.libraries())
        again, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000))
        self.assertNotIn("libraries for them", again.err)

    def test_on_the_cpu_no_library_of_gpus_is_fetched(self):
        done, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000),
                                      "--frameworks", "pytorch", "--device", "cpu")
        self.assertEqual((done.returncode, said, self.libraries()), (0, [], False), done.err)

    def test_an_old_driver_is_one_sentence_with_both_versions(self):
        done, said = self.setup_under(TWO_GPUS.format(driver="550.54.15", cuda=12040))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(said, ["GPUs: 2 x NVIDIA H100 80GB HBM3; driver 550.54.15, CUDA 12.4",
                                "pytorch-2.15.0 trains on the CPU alone: the driver 550.54.15 serves CUDA 12.4, "
                                "its libraries need 13.0 or newer"])
        self.assertFalse(self.libraries())

    def test_a_driver_that_does_not_answer_is_one_sentence(self):
        done, said = self.setup_under("nvmlInit_v2 !9\n")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(said, ["an NVIDIA driver is here but does not answer (nvmlInit_v2: An error of the script): "
                                "training goes on the CPU; ./tbd doctor says more"])

    def test_a_driver_without_a_gpu_is_one_sentence(self):
        done, said = self.setup_under("nvmlSystemGetDriverVersion 580.65.06\nnvmlSystemGetCudaDriverVersion_v2 13000\n"
                                      "nvmlDeviceGetCount_v2 0\n")
        self.assertEqual((done.returncode, said), (0, ["the NVIDIA driver 580.65.06 shows no GPU: training goes on the CPU"]))

    def test_no_driver_is_silence(self):
        done = self.setup("--frameworks", "pytorch")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertNotIn("GPU", done.err)

    def test_a_framework_whose_code_is_too_old_says_so(self):
        self.seed()
        done, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000), "--frameworks", "mxnet", "--optional")
        self.assertEqual(said[1], "mxnet-1.9.1 trains on the CPU alone: its code is too old")

    def fit_code_to(self, first, last):
        lock = self.clone / "deps/frameworks.lock"
        lock.write_text(lock.read_text().replace("cuda 13.0\n", f"cuda 11.2\ncapability {first} {last}\n"))

    def test_libraries_whose_code_fits_no_gpu_are_left_out(self):
        self.fit_code_to("5.0", "8.6")
        done, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertEqual(said[1:], ["pytorch-2.15.0 trains on the CPU alone: its code is for compute capability 5.0 to 8.6, "
                                    "the GPUs have 9.0"])
        self.assertFalse(self.libraries())

    def test_one_gpu_that_the_code_fits_is_enough(self):
        self.fit_code_to("5.0", "10.0")
        older = TWO_GPUS.format(driver="580.65.06", cuda=13000).replace("1 nvmlDeviceGetCudaComputeCapability 9.0",
                                                                        "1 nvmlDeviceGetCudaComputeCapability 12.0")
        done, _ = self.setup_under(older)
        self.assertEqual(done.returncode, 0, done.err)
        self.assertTrue(self.libraries())

    def test_a_driver_that_tells_no_capability_gets_no_code_of_some(self):
        self.fit_code_to("5.0", "8.6")
        silent = "".join(line + "\n" for line in TWO_GPUS.format(driver="580.65.06", cuda=13000).splitlines()
                         if "Capability" not in line)
        done, said = self.setup_under(silent)
        self.assertEqual(done.returncode, 0, done.err)
        self.assertTrue(said[1].endswith("5.0 to 8.6, the GPUs have another"), said)

    def test_without_network_the_cpu_goes_on(self):
        self.setup("--frameworks", "pytorch")
        (self.index / WHEEL).unlink()
        (self.cache / "wheels" / WHEEL).unlink()
        done, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn(f"pytorch-2.15.0-cuda is left out: cannot download {WHEEL}", said[-1])
        self.assertTrue(said[-1].endswith("; pytorch-2.15.0 trains on the CPU"), said)

    def test_a_full_disk_leaves_the_libraries_out(self):
        self.setup("--frameworks", "pytorch")
        self.fake("df", "echo; echo / 100 100 0 100% /")
        done, said = self.setup_under(TWO_GPUS.format(driver="580.65.06", cuda=13000))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertRegex(said[-1], "are left out: .* has 0 MB free, 1 MB are needed; training goes on the CPU")

    def test_the_libraries_wait_for_python(self):
        self.fake("dpkg-query", f'[ "$4" = python3 ] && [ ! -e {self.folder}/installed ] || echo install ok installed')
        self.fake("id", "echo 0")
        self.fake("dpkg", "exit 0")
        self.fake("apt-get", f'case "$*" in *--fix-broken*) touch {self.folder}/installed; ln -sf {sys.executable} {self.bin}/python3;; esac')
        (self.bin / "python3").unlink()
        for tool in (*TOOLS, "sort", "uniq", "head", "id", "stat", "paste", "chmod", "cp", "mv", "nproc", "readlink", "kill",
                     "basename", "cmp", "tail", "env"):
            found = shutil.which(tool)
            if found and not (self.bin / tool).exists():
                (self.bin / tool).symlink_to(found)
        path = self.folder / "nvml"
        path.write_text(TWO_GPUS.format(driver="580.65.06", cuda=13000))
        done = self.setup("--frameworks", "pytorch", "--yes", PATH=str(self.bin), LD_LIBRARY_PATH=f"{BUILD}/scripted",
                          TBD_SCRIPTED_NVML=str(path))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertTrue(self.libraries(), done.err)


class Setup(Machine):
    """tools/setup.sh without a build."""

    def test_the_script_takes_the_small_sets_and_nothing_unknown(self):
        refused = self.start("setup", "--gmaes", script="tbd")
        _, error = refused.communicate(timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("setup knows no '--gmaes'", error)
        self.assertFalse(self.cache.exists(), "nothing was set up")

    def test_says_what_it_will_do_then_keeps_what_the_lock_file_names(self):
        done = self.setup()
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("in all 1 MB to download, 1 MB of disk", done.err)
        kept = sorted(str(path.relative_to(self.unpacked)) for path in self.unpacked.rglob("*") if path.is_file())
        self.assertEqual(kept, [".tbd-manifest", KEPT])
        self.assertEqual(done.out, "")

    def test_a_second_call_needs_no_network_and_says_nothing(self):
        self.seed()
        self.setup()
        done = self.setup("--offline", PIP_FIND_LINKS="/nonexistent")
        self.assertEqual((done.returncode, done.err), (0, ""))

    def test_a_wheel_with_another_hash_is_refused_and_named(self):
        self.lock_wheel(self.index / WHEEL, sha256="0" * 64)
        self.seed()
        done = self.setup()
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{WHEEL} is refused: its sha256 is", done.err)
        self.assertFalse(self.unpacked.exists())
        self.assertEqual(list(self.cache.glob("wheels/*.whl")), [])

    def test_no_network_is_one_sentence(self):
        done = self.setup(PIP_FIND_LINKS=str(self.bin))
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.err.count("error"), 1, done.err)
        self.assertIn(f"cannot download {WHEEL}: is the network there?", done.err)

    def test_offline_with_an_empty_cache_says_so(self):
        done = self.setup("--offline")
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{WHEEL} is not in the cache", done.err)

    def test_a_half_unpacked_folder_is_repaired(self):
        self.seed()
        self.setup()
        (self.unpacked / ".tbd-manifest").unlink()
        done = self.setup("--offline")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("is half unpacked; unpacking it again", done.err)
        self.assertTrue((self.unpacked / ".tbd-manifest").exists())

    def test_a_damaged_file_is_repaired(self):
        self.seed()
        self.setup()
        (self.unpacked / KEPT).write_text("short")
        done = self.setup("--offline")
        self.assertIn(f"has a damaged file {KEPT}", done.err)
        self.assertEqual((self.unpacked / KEPT).stat().st_size, 5000)

    def test_verify_finds_a_change_that_keeps_the_size(self):
        self.seed()
        self.setup()
        (self.unpacked / KEPT).write_text("KEPT " * 1000)
        self.assertEqual(self.setup().returncode, 0)
        done = self.setup("--verify")
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"has a changed file {KEPT}", done.err)

    def test_a_second_set_up_waits_for_the_first(self):
        self.cache.mkdir(parents=True)
        with open(self.cache / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            done = self.setup(TBD_LOCK_WAIT_S="1")
        self.assertEqual(done.returncode, 3)
        self.assertIn("another set-up holds", done.err)

    def test_two_set_ups_at_once_both_succeed(self):
        self.seed()
        both = [self.start(), self.start()]
        for process in both:
            err = process.communicate(timeout=60)[1]
            self.assertEqual(process.returncode, 0, err)

    def test_without_root_and_sudo_it_names_the_packages_to_ask_for(self):
        self.fake("dpkg-query", '[ "$4" = cmake ] || echo install ok installed')
        self.fake("id", "echo 1000")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        done = self.setup(PATH=str(self.bin))
        self.assertEqual(done.returncode, 3)
        self.assertIn("ask for these packages (neither root nor sudo here): apt-get install cmake\n", done.err)

    def test_offline_names_missing_packages(self):
        self.fake("dpkg-query", '[ "$4" = cmake ] || echo install ok installed')
        done = self.setup("--offline")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--offline forbids to install what is missing: cmake", done.err)

    def test_a_package_that_is_half_installed_is_installed_again(self):
        self.fake("dpkg-query", '[ "$4" = cmake ] && echo install ok half-configured || echo install ok installed')
        self.fake("id", "echo 0")
        self.fake("dpkg", "exit 0")
        self.seed()
        self.fake("apt-get", f'echo "$@" >>{self.folder}/apt')
        done = self.setup()
        self.assertEqual(done.returncode, 0, done.err)
        self.assertRegex((self.folder / "apt").read_text(), "install cmake\n")

    def test_a_failed_package_download_asks_for_the_network(self):
        self.fake("dpkg-query", '[ "$4" = cmake ] || echo install ok installed')
        self.fake("id", "echo 0")
        self.fake("apt-get", 'echo "E: Failed to fetch: Could not resolve host" >&2; exit 100')
        done = self.setup()
        self.assertEqual(done.returncode, 3)
        self.assertIn("the package archive cannot be reached: is the network there?", done.err)

    def test_a_full_disk_is_seen_before_anything_changes(self):
        self.fake("df", "echo; echo / 100 100 0 100% /")
        done = self.setup()
        self.assertEqual(done.returncode, 3)
        self.assertIn("MB are needed", done.err)
        self.assertFalse((self.cache / "wheels").exists())

    def test_a_cache_that_cannot_be_written_is_named(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        done = self.setup(XDG_CACHE_HOME=str(blocked))
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{blocked}/tbd cannot be written", done.err)

    def test_an_unknown_framework_is_bad_usage(self):
        for name in ("caffe", "pytorch@1.0", "pytorch@/nonexistent", "pytorch,caffe", "mxnet@2", "tensorflow@/nonexistent"):
            self.assertEqual(self.setup("--frameworks", name).returncode, 2, name)
        self.assertIn("no mxnet/libmxnet.so in /nonexistent", self.setup("--frameworks", "mxnet@/nonexistent").err)

    def test_a_version_is_whole_numbers(self):
        done = self.setup("--frameworks", "pytorch@2.1")  # neither 2.15.0 nor 2.11.0
        self.assertEqual(done.returncode, 2)
        self.assertIn("it has pytorch@2.15.0 pytorch@2.11.0", done.err)

    def test_a_list_of_frameworks_is_unpacked(self):
        self.seed()
        done = self.setup("--frameworks", "pytorch@2.11,tensorflow")
        self.assertEqual(done.returncode, 0, done.err)
        unpacked = sorted(path.name for path in (self.cache / "frameworks").iterdir())
        self.assertEqual(unpacked, ["plotly-9.9.9", "pytorch-2.11.0", "tensorflow-2.21.0"])

    def test_a_framework_that_cannot_be_fetched_ends_the_set_up_unless_it_is_optional(self):
        self.seed()
        done = self.setup("--frameworks", "tensorflow,mxnet")
        self.assertEqual(done.returncode, 3)
        self.assertIn("cannot download mxnet-1.9.1-py3-none-any.whl", done.err)
        done = self.setup("--frameworks", "mxnet,tensorflow", "--optional")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("mxnet is left out: cannot download mxnet-1.9.1-py3-none-any.whl", done.err)
        self.assertTrue((self.cache / "frameworks/tensorflow-2.21.0").exists())

    def test_an_own_framework_lies_where_its_library_does(self):
        own = self.folder / "my env"
        library = own / "lib/python3.11/site-packages/mxnet/libmxnet.so"
        library.parent.mkdir(parents=True)
        library.write_text("")
        for place in (own, library.parent.parent, library.parent):
            done = self.setup("--frameworks", f"mxnet@{place}")
            self.assertEqual(done.returncode, 0, done.err)

    def test_sizes_are_known_without_python(self):
        self.fake("dpkg-query", '[ "$4" = python3 ] || echo install ok installed')
        (self.bin / "python3").unlink()
        self.fake("id", "echo 1000")
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        wheel = (self.index / WHEEL).stat().st_size
        lock = (self.clone / "deps/frameworks.lock").read_text().replace(f" {wheel} 8192", " 2000000000 3000000000")
        (self.clone / "deps/frameworks.lock").write_text(lock)
        self.fake("df", "echo; echo / 100 100 9000000000 0% /")
        done = self.setup("--frameworks", "pytorch@2.11", PATH=str(self.bin))
        self.assertIn("plotly-9.9.9 pytorch-2.11.0 (4000 MB to download)", done.err)

    def test_the_photographs_package_is_refused_when_changed(self):
        self.seed()
        (self.cache / "debs").mkdir()
        (self.cache / "debs/mate-backgrounds.deb").write_text("other")
        done = self.setup("--photos")
        self.assertEqual(done.returncode, 3)
        self.assertIn("mate-backgrounds is refused: its sha256 is", done.err)

    def test_of_the_sets_of_photographs_only_the_missing_one_is_made(self):
        self.lock_texts()
        sha256 = hashlib.sha256(b"deb").hexdigest()
        (self.clone / "deps/debian.txt").write_text(f"data git 1:2.39 {sha256} 3 usr/pictures\n")
        pictures = f"--source {self.cache}/data/source/git/usr/pictures --out {self.cache}/data"
        commands = {"photos": f"photos {pictures}/photos", "crops": f"crops {pictures}/crops",
                    "crops-16": f"crops --size 16 {pictures}/crops-16"}
        for name in commands:
            (self.cache / "data" / name).mkdir(parents=True)
            (self.cache / "data" / name / ".ready").write_text("")
        for missing, command in commands.items():
            with self.subTest(missing):
                (self.cache / "data" / missing / ".ready").unlink()
                (self.folder / "made").write_text("")
                done = self.setup("--photos", "--offline", "--program", str(self.bin / "program"))
                self.assertEqual(done.returncode, 0, done.err)
                self.assertEqual((self.folder / "made").read_text(), f"data {command}\n")
                self.assertTrue((self.cache / "data" / missing / ".ready").exists())

    def lock_texts(self):
        """The packages of the text data sets as small files in the cache; dpkg-deb and what makes sets only log."""
        self.seed()
        (self.cache / "debs").mkdir()
        deb = self.cache / "debs/git.deb"
        deb.write_text("deb")
        sha256 = hashlib.sha256(b"deb").hexdigest()
        lines = f"messages git 1:2.39 {sha256} 3\nprose faq 11 {sha256} 2000000\n"
        (self.clone / "deps/debian.txt").write_text(lines)
        shutil.copy(deb, self.cache / "debs/faq.deb")
        self.fake("dpkg-deb", f'echo "$@" >>{self.folder}/unpacked')
        self.fake("program", f'echo "$@" >>{self.folder}/made; for out; do :; done; mkdir -p "$out"')
        (self.clone / "tools/make_text_set.py").write_text(
            f"import subprocess, sys\nsubprocess.run([{str(self.bin / 'program')!r}, *sys.argv[1:]], check=True)\n")

    def test_text_packages_are_unpacked_and_made_into_data_sets(self):
        self.lock_texts()
        done = self.setup("--text", "--offline")
        self.assertEqual(done.returncode, 0, done.err)
        source, data = self.cache / "data/source/text", self.cache / "data"
        unpacked = (self.folder / "unpacked").read_text().splitlines()
        self.assertEqual(unpacked, [f"-x {self.cache}/debs/git.deb {source}/messages/git",
                                    f"-x {self.cache}/debs/faq.deb {source}/prose/faq"])
        made = (self.folder / "made").read_text().splitlines()
        self.assertEqual(made, [f"messages --language de --source {source}/messages --out {data}/messages-de",
                                f"messages --language vi --source {source}/messages --out {data}/messages-vi",
                                f"prose --source {source}/prose --out {data}/prose",
                                f"cloze --source {source}/prose --out {data}/cloze"])
        self.assertFalse(source.exists())
        again = self.setup("--text", "--offline")
        self.assertEqual((again.returncode, again.err), (0, ""))

    def test_recordings_are_unpacked_and_made_into_a_data_set(self):
        self.lock_texts()
        sha256 = hashlib.sha256(b"deb").hexdigest()
        with (self.clone / "deps/debian.txt").open("a") as lines:
            lines.write(f"prompts sounds 1.6 {sha256} 5000000\n")
        refused = self.setup("--speech", "--offline", "--program", str(self.bin / "program"))
        self.assertEqual(refused.returncode, 3)
        self.assertIn("--offline: packages of the speech data set are not in the cache", refused.err)
        (self.cache / "debs/sounds.deb").write_text("deb")
        done = self.setup("--speech", "--offline", "--program", str(self.bin / "program"))
        self.assertEqual(done.returncode, 0, done.err)
        source, data = self.cache / "data/source/speech", self.cache / "data"
        self.assertEqual((self.folder / "unpacked").read_text(),
                         f"-x {self.cache}/debs/sounds.deb {source}/prompts/sounds\n")
        self.assertEqual((self.folder / "made").read_text(),
                         f"data prompts --source {source}/prompts --out {data}/prompts\n")
        self.assertFalse(source.exists())
        again = self.setup("--speech", "--offline")
        self.assertEqual((again.returncode, again.err), (0, ""))

    def test_cut_out_pictures_are_unpacked_beside_the_photographs_and_made_into_a_data_set(self):
        self.lock_texts()
        sha256 = hashlib.sha256(b"deb").hexdigest()
        with (self.clone / "deps/debian.txt").open("a") as lines:
            lines.write(f"data photos 1.2 {sha256} 3000000 usr/share\nstamps cutouts 1.6 {sha256} 5000000\n")
        refused = self.setup("--detection", "--offline", "--program", str(self.bin / "program"))
        self.assertEqual(refused.returncode, 3)
        self.assertIn("pictures with boxes to make from Debian packages (8 MB to download)", refused.err)
        self.assertIn("--offline: packages of the pictures with boxes are not in the cache", refused.err)
        for name in "photos", "cutouts":
            (self.cache / f"debs/{name}.deb").write_text("deb")
        done = self.setup("--detection", "--offline", "--program", str(self.bin / "program"))
        self.assertEqual(done.returncode, 0, done.err)
        source, data = self.cache / "data/source/detection", self.cache / "data"
        self.assertEqual((self.folder / "unpacked").read_text(),
                         f"-x {self.cache}/debs/photos.deb {source}/data/photos\n"
                         f"-x {self.cache}/debs/cutouts.deb {source}/stamps/cutouts\n")
        small = f"data stamps --size 128x128 --categories 3 --images 600 --sides 24-64 --objects 4 --source {source} --out {data}/stamps-3\n"
        self.assertEqual((self.folder / "made").read_text(),
                         f"data stamps --source {source} --out {data}/stamps\n" + small +
                         f"data stamps --size 128x128 --categories 5 --images 2400 --sides 40-110 --source {source} "
                         f"--out {data}/stamps-5\n")
        self.assertFalse(source.exists())
        again = self.setup("--detection", "--offline")
        self.assertEqual((again.returncode, again.err), (0, ""))
        (data / "stamps-3/.ready").unlink()
        (self.folder / "made").write_text("")
        one = self.setup("--detection", "--offline", "--program", str(self.bin / "program"))
        self.assertEqual(one.returncode, 0, one.err)
        self.assertEqual((self.folder / "made").read_text(), small)

    def test_text_packages_that_are_missing_or_changed_are_named(self):
        self.lock_texts()
        (self.cache / "debs/git.deb").write_text("other")
        done = self.setup("--text")
        self.assertEqual(done.returncode, 3)
        self.assertIn("git is refused: its sha256 is", done.err)
        (self.cache / "debs/faq.deb").unlink()
        done = self.setup("--text", "--offline")
        self.assertEqual(done.returncode, 3)
        self.assertIn("text data sets to prepare from Debian packages (3 MB to download)", done.err)
        self.assertIn("--offline: packages of the text data sets are not in the cache", done.err)


class Clone(Machine):
    """A clone that is built: a program that prints its arguments."""

    def setUp(self):
        super().setUp()
        self.seed()
        build = self.clone / "build/release"
        (build / "ready").mkdir(parents=True)
        (build / "bin").mkdir()
        for folder in ("src", "cmake"):
            (self.clone / folder).mkdir()
        (self.clone / "CMakeLists.txt").write_text("")
        (build / "bin/tbd").write_text('#!/bin/sh\nfor word; do echo "<$word>"; done\nexit 7\n')
        (build / "bin/tbd").chmod(0o755)
        (build / "ready/.core").write_text("")
        self.fake("cmake", f'echo "$@" >>{self.folder}/cmake-called')
        self.library = self.folder / "libtorch_cpu.so"
        self.library.write_text("12345")
        (build / "ready/pytorch").mkdir()
        (build / "ready/pytorch/.ready").write_text(f"5 {self.library}\n")

    def cmake_that_builds_all_but(self, target):
        """A build that works, but for one target; the frameworks' libraries are in their sections."""
        self.fake("cmake", f'echo "$@" >>{self.folder}/cmake-called\n'
                           f'case "$*" in *"--build"*{target}*) echo compiler says no; exit 1 ;; esac')
        self.assertEqual(self.setup().returncode, 0)
        for _, _, library, section in frameworks():
            folder = self.cache / "frameworks" / section
            (folder / library).parent.mkdir(parents=True)
            (folder / library).write_text("12345")
            (folder / ".tbd-manifest").write_text("")
        for made in ("photos", "crops", "crops-16"):
            (self.cache / "data" / made).mkdir(parents=True)
            (self.cache / "data" / made / ".ready").write_text("")

    def tbd(self, *arguments):
        process = self.start(*arguments, script="tbd")
        out, err = process.communicate(timeout=60)
        return process.returncode, out.split("\n")[:-1], err, (self.folder / "cmake-called").exists()


class Start(Clone):
    """./tbd on a clone that is built."""

    def test_starts_the_program_with_its_own_arguments_and_code(self):
        code, words, err, built = self.tbd("describe", "--yes", "two words", "--offline", "--frameworks", "none", "")
        self.assertEqual((code, words, built), (7, ["<describe>", "<two words>", "<>"], False), err)

    def test_leaves_the_words_after_exec_alone(self):
        self.assertEqual(self.tbd("run", "--exec", "x", "--yes")[1], ["<run>", "<--exec>", "<x>", "<--yes>"])

    def test_a_ready_framework_starts_at_once(self):
        self.assertEqual(self.tbd("run", "resnet50", "--framework", "pytorch")[0], 7)

    def test_a_library_of_another_size_is_set_up_again(self):
        self.library.write_text("123")
        code, _, _, built = self.tbd("run", "resnet50")
        self.assertTrue(built)
        self.assertEqual(code, 3)  # the fake build leaves no library

    def test_a_newer_source_is_built(self):
        os.utime(self.clone / "build/release/ready/.core", (1, 1))
        self.assertTrue(self.tbd("list")[3])

    def test_the_first_frameworks_are_built_at_once_and_others_where_they_are_named(self):
        self.cmake_that_builds_all_but("nothing")
        code, _, err, _ = self.tbd("setup")
        self.assertEqual(code, 0, err)
        calls = (self.folder / "cmake-called").read_text().splitlines()
        for _, root, _, section in frameworks():
            self.assertIn(f"-D{root}={self.cache}/frameworks/{section}", calls[0])
        workers = [f"tbd-worker-{name}" for name, *_ in frameworks("first")]
        self.assertTrue(calls[1].endswith(f"--target {' '.join(['tbd', *workers])}"), calls)
        self.assertNotIn("TBD_WORKER_KEY", calls[0])
        (self.folder / "cmake-called").unlink()
        self.assertEqual(self.tbd("quickstart")[0::3], (7, False))  # ready: starts at once
        self.assertEqual(self.tbd("run", "resnet50", "--framework", "tensorflow,mxnet")[0::3], (7, False))

    def test_a_worker_that_cannot_be_built_is_left_out_with_the_reason(self):
        self.cmake_that_builds_all_but("tbd-worker-mxnet")
        code, words, err, _ = self.tbd("quickstart")
        self.assertEqual((code, words), (7, ["<quickstart>"]), err)
        self.assertIn("mxnet is left out: building its worker failed; see", err)
        build = self.clone / "build/release"
        self.assertIn("building its worker failed; see", (build / "absent/mxnet").read_text())
        self.assertTrue((build / "ready/tensorflow/.ready").exists())
        self.assertFalse((build / "ready/mxnet").exists())
        self.assertEqual(self.tbd("quickstart", "--framework", "mxnet")[0], 3)  # named: it must be there

    def test_another_framework_leaves_the_stamps_of_the_first(self):
        self.cmake_that_builds_all_but("nothing")
        self.assertEqual(self.tbd("run", "resnet50", "--framework", "mxnet")[0], 7)
        (self.folder / "cmake-called").unlink()
        self.assertEqual(self.tbd("run", "resnet50", "--framework", "pytorch")[0::3], (7, False))
        os.utime(self.clone / "build/release/ready/.core", (1, 1))  # a source is newer now: all are built again
        self.tbd("run", "resnet50", "--framework", "mxnet")
        self.assertFalse((self.clone / "build/release/ready/pytorch").exists())

    def test_a_driver_that_is_new_here_is_looked_at_once(self):
        self.cmake_that_builds_all_but("nothing")
        driver = self.folder / "driver"
        for script in ("tbd", "tools/setup_gpu.sh"):
            path = self.clone / script
            text = path.read_text()
            self.assertIn("/proc/driver/nvidia/version", text)
            path.write_text(text.replace("/proc/driver/nvidia/version", str(driver)))
        run = ("run", "resnet50", "--framework", "mxnet")
        self.tbd(*run)

        def set_up(*arguments):
            (self.folder / "cmake-called").unlink(missing_ok=True)
            return self.tbd(*arguments)[3]

        self.assertFalse(set_up(*run), "no driver: ready")
        driver.write_text("580.65.06\n")
        self.assertFalse(set_up(*run, "--device", "cpu"), "the CPU needs no look")
        self.assertTrue(set_up(*run))
        self.assertFalse(set_up(*run), "it was looked at")
        driver.write_text("590.1\n")
        self.assertTrue(set_up(*run), "the driver changed")

    def test_another_version_gets_a_worker_of_its_own(self):
        self.cmake_that_builds_all_but("nothing")
        own = self.folder / "own"
        (own / "mxnet").mkdir(parents=True)
        (own / "mxnet/libmxnet.so").write_text("1234")
        code, _, err, _ = self.tbd("run", "resnet50", "--framework", f"mxnet,mxnet@{own}")
        self.assertEqual(code, 7, err)
        calls = (self.folder / "cmake-called").read_text()
        self.assertRegex(calls, f"-DTBD_ONLY_WORKER=ON .*-DTBD_MXNET_ROOT={own} -DTBD_WORKER_KEY=mxnet@{own} ")
        self.assertIn("--target tbd-worker-mxnet\n", calls)
        stamp = self.clone / f"build/release/ready/mxnet@{own}/.ready"
        self.assertEqual(stamp.read_text(), f"4 {own}/mxnet/libmxnet.so\n")

    def test_a_record_names_its_framework_by_its_command_line(self):
        record = self.folder / "record"
        record.mkdir()
        run = '{"workload": {"framework": "pytorch", "repro": "tbd run resnet50 --framework mxnet@/a:b=7 --batch 8"}}'
        (record / "run.json").write_text(run)
        code, _, err, _ = self.tbd("run", "--like", str(record))
        self.assertEqual(code, 2)
        self.assertIn("/a:b=7", err)

    def test_a_worker_of_the_persons_own_needs_no_set_up(self):
        self.assertEqual(self.tbd("run", "net.json", "--framework", "mine")[0::3], (7, False))

    def test_help_needs_no_framework(self):
        shutil.rmtree(self.clone / "build/release/ready/pytorch")
        self.assertFalse(self.tbd("run", "--help")[3])

    def test_a_plan_names_its_frameworks(self):
        plan = self.folder / "plan"
        plan.write_text("model = resnet50\n[elsewhere]\nframework = caffe, pytorch@9.9  # a set of its own\n")
        code, _, err, _ = self.tbd("run", "--plan", str(plan))
        self.assertEqual(code, 2)
        self.assertIn("pytorch@9.9 is not in the lock file", err)


if __name__ == "__main__":
    unittest.main()
