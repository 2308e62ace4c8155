"""A framework that cannot be used is absent with the reason: without a folder, with one that lacks its library, and with
the library of another version. Asks the modules in cmake/ as the build does."""
import os
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent
COLUMNS = ("name", "label", "layout", "start", "upstream", "package", "target", "root", "library", "ready")


def rows():
    lines = (SOURCE / "deps/frameworks.txt").read_text().splitlines()
    return [dict(zip(COLUMNS, line.split())) for line in lines if line.strip() and not line.startswith("#")]


def reason(row, root):
    """What the module says of a folder; empty where the framework is found."""
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "ask.cmake"
        script.write_text(f'set({row["root"]} "{root}")\n'
                          f'set(CMAKE_SYSTEM_PROCESSOR x86_64)\n'
                          f'include({SOURCE}/cmake/Find{row["package"]}.cmake)\n'
                          f'message("REASON ${{{row["package"]}_FOUND}} ${{{row["package"]}_REASON}}")\n')
        told = subprocess.run([os.environ.get("CMAKE", "cmake"), "-P", script], capture_output=True, text=True, timeout=60)
        said = [line for line in told.stderr.splitlines() if line.startswith("REASON ")]
        if not said:
            raise AssertionError(told.stderr)
        found, _, why = said[-1].removeprefix("REASON ").partition(" ")
        return "" if found == "TRUE" else why


def make(root, path, text=""):
    file = Path(root) / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


class AbsentBackends(unittest.TestCase):
    def row(self, name):
        return next(row for row in rows() if row["name"] == name)

    def test_every_framework_says_that_it_has_no_folder(self):
        for row in rows():
            with self.subTest(row["name"]):
                self.assertEqual(reason(row, ""), f'{row["root"]} is not set')

    def test_every_framework_names_what_a_folder_lacks(self):
        for row in rows():
            with self.subTest(row["name"]), tempfile.TemporaryDirectory() as root:
                self.assertRegex(reason(row, root), "does not exist")
                self.assertIn(root, reason(row, root))

    def test_cntk_names_the_library_that_is_missing(self):
        row = self.row("cntk")
        with tempfile.TemporaryDirectory() as root:
            make(root, row["library"])
            self.assertEqual(reason(row, root), f"{root}/cntk/libs/libCntk.Math-2.7.so does not exist")

    def test_cntk_of_another_version_is_absent(self):
        row = self.row("cntk")
        with tempfile.TemporaryDirectory() as root:
            for name in ("Core-2.7", "Math-2.7", "PerformanceProfiler-2.7"):
                make(root, f"cntk/libs/libCntk.{name}.so", "another")
            for name in ("iomp5", "mklml_intel"):
                make(root, f"cntk/libs/lib{name}.so")
            self.assertEqual(reason(row, root), f'{root}/{row["library"]} is not the one of cntk 2.7.post2')

    def test_mlx_of_another_version_is_absent(self):
        row = self.row("mlx")
        with tempfile.TemporaryDirectory() as root:
            make(root, row["library"])
            make(root, "scipy.libs/libopenblasp-r0.so")
            numbers = {"MAJOR": 0, "MINOR": 31, "PATCH": 2}
            make(root, "mlx/include/mlx/version.h",
                 "".join(f"#define MLX_VERSION_{part} {number}\n" for part, number in numbers.items()))
            self.assertEqual(reason(row, root), f"mlx '0.31.2' in {root} is not of the supported 0.32")

    def test_nccl_needs_both_headers_beside_torch_or_in_the_folder_for_gpus(self):
        def folders(root):
            with tempfile.TemporaryDirectory() as folder:
                script = Path(folder) / "ask.cmake"
                script.write_text(f'set(TBD_TORCH_ROOT {root})\ninclude({SOURCE}/cmake/Nccl.cmake)\n'
                                  'tbd_nccl_headers(found why)\nmessage("${found}|${why}")\n')
                told = subprocess.run([os.environ.get("CMAKE", "cmake"), "-P", script], capture_output=True, text=True,
                                      timeout=60)
                return told.stderr.strip().split("|")

        with tempfile.TemporaryDirectory() as base:
            root = f"{base}/torch-1"
            make(root, "nvidia/cu13/include/cuda_runtime_api.h")
            self.assertEqual(folders(root), ["", f"no headers of CUDA and NCCL in {root} or {root}-cuda"])
            apart = f"{root}-cuda/nvidia"
            make(apart, "cu13/include/cuda_runtime_api.h")
            make(apart, "nccl/include/nccl.h")
            self.assertEqual(folders(root), [f"{apart}/cu13/include;{apart}/nccl/include", ""])


if __name__ == "__main__":
    unittest.main()
