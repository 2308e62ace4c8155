#!/usr/bin/env python3
"""The set-up without root: small Debian packages, and an apt-get that serves them, on a machine that lacks some."""
import hashlib
import os
import shutil
import subprocess
import unittest

from setup_test import Machine

APT_GET = """
echo "$@" >>{folder}/apt
for word in "$@"; do case $word in Dir::Cache::archives=*) archives=${{word#*=}} ;; esac; done
case "$*" in
  *print-uris*) cat {folder}/closure ;;
  *" -d "*) cp {folder}/pool/*.deb "$archives" ;;
esac
"""
PATCHELF = """
echo "$@" >>{folder}/patchelf
case $1 in --print-rpath) ;; *) cp "$6" "$5" ;; esac
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb: this is no Debian machine")
class Rootless(Machine):
    def setUp(self):
        super().setUp()
        self.seed()
        self.pool, self.prefix = self.folder / "pool", None
        self.pool.mkdir()
        self.fake("id", "echo 1000")
        self.fake("sudo", "exit 1")
        self.fake("apt-get", APT_GET.format(folder=self.folder))
        self.fake("patchelf", PATCHELF.format(folder=self.folder))
        self.fake("dpkg-query", f'grep -qxF "$4" {self.folder}/missing || echo install ok installed')
        self.lack("cmake")
        self.package("cmake", {"usr/bin/cmake": shutil.which("true"), "usr/share/cmake/file": None})

    def lack(self, *packages):
        (self.folder / "missing").write_text("".join(f"{package}\n" for package in packages))

    def package(self, name, files, links=()):
        """A Debian package of copies of files (None: an empty one) and links, which the closure names."""
        tree = self.folder / "trees" / name
        (tree / "DEBIAN").mkdir(parents=True)
        (tree / "DEBIAN/control").write_text(f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n")
        for path, source in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, tree / path) if source else (tree / path).touch()
        for path, target in links:
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).symlink_to(target)
        deb = self.pool / f"{name}_1_all.deb"
        subprocess.run(["dpkg-deb", "--build", "-Znone", tree, deb], check=True, capture_output=True)
        sha256 = hashlib.sha256(deb.read_bytes()).hexdigest()
        with (self.folder / "closure").open("a") as closure:
            closure.write(f"'http://archive/pool/{deb.name}' {deb.name} {deb.stat().st_size} SHA256:{sha256}\n")
        return deb

    def fill(self, *arguments):
        done = self.setup(*arguments)
        prefixes = [path for path in self.cache.iterdir() if (path / ".tbd-ready").is_dir()]
        self.prefix = prefixes[0] if prefixes else None
        return done

    def apt_calls(self):
        log = self.folder / "apt"
        calls = log.read_text() if log.exists() else ""
        log.unlink(missing_ok=True)
        return calls

    def test_missing_packages_are_announced_fetched_and_unpacked_in_the_cache(self):
        done = self.fill()
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("Debian packages to install: cmake (1 MB)", done.err)
        self.assertTrue((self.prefix / "usr/share/cmake/file").exists())
        self.assertTrue(os.access(self.prefix / "usr/bin/cmake", os.X_OK))
        self.assertIn(f"--force-rpath --set-rpath {self.prefix}/usr/lib/x86_64-linux-gnu:{self.prefix}/lib/x86_64-linux-gnu",
                      (self.folder / "patchelf").read_text())
        calls = self.apt_calls()
        self.assertIn(" update\n", calls)
        self.assertIn(" -d install cmake\n", calls)

    def test_the_next_call_has_nothing_to_do(self):
        self.fill()
        self.apt_calls()
        done = self.fill("--offline")
        self.assertEqual((done.returncode, done.err), (0, ""))
        self.assertEqual(self.apt_calls(), "")

    def test_an_interrupted_unpack_begins_again(self):
        self.fake("patchelf", "kill -9 $PPID")
        self.assertEqual(self.fill().returncode, 3)
        self.assertFalse((self.prefix / ".tbd-packages").exists())
        (self.prefix / "usr/share/cmake/file").unlink()
        self.fake("patchelf", PATCHELF.format(folder=self.folder))
        done = self.fill()
        self.assertEqual(done.returncode, 0, done.err)
        self.assertTrue((self.prefix / "usr/share/cmake/file").exists())

    def test_a_package_with_another_hash_is_refused_and_nothing_is_unpacked(self):
        deb = self.package("libother", {"usr/lib/libother": None})
        with deb.open("ab") as file:
            file.write(b"x")
        done = self.fill()
        self.assertEqual(done.returncode, 3)
        self.assertIn(f"{deb.name} is refused and removed: its sha256 is", done.err)
        self.assertFalse((self.prefix / "usr").exists())
        self.assertFalse((self.cache / "apt/archives" / deb.name).exists())

    def test_offline_with_an_empty_cache_names_what_is_missing(self):
        done = self.fill("--offline")
        self.assertEqual(done.returncode, 3)
        self.assertIn("--offline forbids to install what is missing: cmake\n", done.err)
        self.assertNotIn("update", self.apt_calls())

    def test_offline_unpacks_what_the_cache_has(self):
        self.fill()
        shutil.rmtree(self.prefix)
        self.apt_calls()
        done = self.fill("--offline")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertTrue((self.prefix / "usr/bin/cmake").exists())
        calls = self.apt_calls()
        self.assertNotIn("update", calls)
        self.assertNotIn(" -d ", calls)

    def test_another_group_is_added(self):
        self.fill()
        self.apt_calls()
        self.lack("cmake", "libgtest-dev")
        self.package("libgtest-dev", {"usr/include/gtest.h": None})
        stamp = (self.prefix / "usr/share/cmake/file").stat().st_ino
        done = self.fill("--group", "test")
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn("Debian packages to install: libgtest-dev", done.err)
        self.assertIn(" -d install libgtest-dev\n", self.apt_calls())
        self.assertTrue((self.prefix / "usr/include/gtest.h").exists())
        self.assertEqual((self.prefix / "usr/share/cmake/file").stat().st_ino, stamp, "unpacked once")
        self.assertEqual(self.fill("--group", "test").err, "")
        self.assertEqual(self.fill().err, "")

    def test_a_failed_download_asks_for_the_network(self):
        self.fake("apt-get", 'case "$*" in *print-uris*) cat %s ;; *) echo "E: Failed to fetch: Could not resolve host" >&2; '
                             "exit 100 ;; esac" % (self.folder / "closure"))
        done = self.fill()
        self.assertEqual(done.returncode, 3)
        self.assertIn("the package archive cannot be reached: is the network there? Missing are: cmake", done.err)

    def test_a_compiler_and_python_must_be_there(self):
        for tool in "sh awk date df dirname flock grep ln mkdir sed setsid sleep tail tr stat dpkg-deb tar cat cp mv rm touch sha256sum".split():
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.lack("cmake", "g++", "python3")
        sentence = "a C++ compiler and Python must be installed already (neither root nor sudo here): ask for g++ and python3"
        self.assertIn(sentence, self.setup(PATH=str(self.bin)).err)
        (self.bin / "g++").symlink_to(shutil.which("true"))
        done = self.setup(PATH=str(self.bin))
        self.assertEqual(done.returncode, 0, f"both are there, but not as packages: {done.err}")
        (self.bin / "python3").unlink()
        self.lack("ninja-build", "python3")
        self.assertIn(sentence, self.setup(PATH=str(self.bin)).err)

    def test_links_resolve_to_the_prefix_or_the_system(self):
        self.package("libz", {"lib/x86_64-linux-gnu/libz.so.1.2": None},
                     links=[("usr/lib/x86_64-linux-gnu/libz.so", "/lib/x86_64-linux-gnu/libz.so.1.2"),
                            ("usr/lib/x86_64-linux-gnu/libc.so", "libc.so.6")])
        self.assertEqual(self.fill().returncode, 0)
        libraries = self.prefix / "usr/lib/x86_64-linux-gnu"
        self.assertEqual((libraries / "libz.so").resolve(), self.prefix / "lib/x86_64-linux-gnu/libz.so.1.2")
        self.assertEqual(os.readlink(libraries / "libc.so"), "/usr/lib/x86_64-linux-gnu/libc.so.6")

    def test_the_c_library_stays_the_systems(self):
        text = (self.folder / "closure").read_text()
        (self.folder / "closure").write_text(text + "'http://archive/pool/main/g/glibc/libc6.deb' libc6.deb 5 SHA256:0\n")
        done = self.fill()
        self.assertEqual(done.returncode, 0, done.err)
        self.assertNotIn("libc6", (self.prefix / ".tbd-packages").read_text())

    def test_python_modules_are_found_through_a_wrapper(self):
        module = self.folder / "module.py"
        module.write_text("word = 'here'\n")
        self.package("python3-module", {"usr/lib/python3/dist-packages/tbd_module.py": module})
        self.assertEqual(self.fill().returncode, 0)
        word = subprocess.run([self.prefix / "tools/python3", "-c", "import tbd_module; print(tbd_module.word)"],
                              capture_output=True, text=True)
        self.assertEqual(word.stdout, "here\n", word.stderr)

    def test_the_build_is_told_of_the_prefix(self):
        for folder in ("src", "cmake"):
            (self.clone / folder).mkdir()
        (self.clone / "CMakeLists.txt").write_text("")
        self.fake("cmake", f'echo "prefix=$TBD_PREFIX" >>{self.folder}/cmake-called')
        done = self.fill("--build", str(self.clone / "build"))
        self.assertEqual(done.returncode, 0, done.err)
        self.assertIn(f"prefix={self.prefix}\n", (self.folder / "cmake-called").read_text())

    @unittest.skipUnless(shutil.which("patchelf") and shutil.which("g++"), "no patchelf")
    def test_a_program_finds_its_library_and_its_children_do_not(self):
        library, program = self.folder / "libtbdtried.so", self.folder / "tried"
        (self.folder / "library.cc").write_text("int answer() { return 42; }\n")
        (self.folder / "program.cc").write_text(
            '#include <cstdlib>\nint answer();\nint main() { return std::getenv("LD_LIBRARY_PATH") ? 1 : answer(); }\n')
        subprocess.run(["g++", "-shared", "-fPIC", "-o", library, self.folder / "library.cc"], check=True)
        subprocess.run(["g++", "-o", program, self.folder / "program.cc", library.name, "-L."], check=True, cwd=self.folder)
        self.package("tried", {"usr/bin/tried": program, f"usr/lib/x86_64-linux-gnu/{library.name}": library})
        (self.bin / "patchelf").unlink()
        self.assertEqual(self.fill().returncode, 0)
        self.assertEqual(subprocess.run([self.prefix / "usr/bin/tried"], cwd="/").returncode, 42)


if __name__ == "__main__":
    unittest.main()
