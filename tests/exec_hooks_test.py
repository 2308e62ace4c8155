"""The hooks of exec/sitecustomize.py with frameworks of a few lines, and tbd_step in Python and C."""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "exec"

TORCH = {
    "torch/__init__.py": "__version__ = '2.1'\nfrom . import optim\n",
    "torch/optim/__init__.py": "from .optimizer import Optimizer\n",
    "torch/optim/optimizer.py": """
hooks = []
class Parameter:
    device = "cpu"
class Optimizer:
    param_groups = [{"params": [Parameter()]}]
    def step(self):
        for hook in hooks:
            hook(self, (), {})
def register_optimizer_step_post_hook(hook):
    hooks.append(hook)
""",
}
# Writes what its profiler was told to do into the file that stands for the trace.
TORCH_PROFILER = {
    "torch/__init__.py": """
__version__ = '2.1'
from . import autograd, optim, profiler
class cuda:
    is_initialized = staticmethod(lambda: False)
""",
    "torch/autograd/__init__.py": "from . import profiler\n",
    "torch/autograd/profiler.py": """
said = []
class record_function:
    def __init__(self, name): self.name = name
    def __enter__(self): said.append("+" + self.name)
    def __exit__(self, *_): said.append("-" + self.name)
""",
    "torch/profiler.py": """
from .autograd.profiler import said
class ProfilerActivity:
    CPU, CUDA = "CPU", "CUDA"
class profile:
    def __init__(self, activities): said.append("activities " + ",".join(activities))
    def start(self): said.append("start")
    def stop(self): said.append("stop")
    def export_chrome_trace(self, path): open(path, "w").write("\\n".join(said))
""",
}
KERAS = {
    "keras/callbacks.py": """
class Callback:
    def on_epoch_begin(self, epoch, logs=None): pass
    def on_train_batch_end(self, batch, logs=None): pass
""",
    "keras/__init__.py": """
from . import callbacks
__version__ = '3.0'
class Model:
    def fit(self, x=None, epochs=1, callbacks=None, steps_per_execution=1):
        for epoch in range(epochs):
            for callback in callbacks or []:
                callback.on_epoch_begin(epoch)
            for last in range(steps_per_execution - 1, x, steps_per_execution):
                for callback in callbacks or []:
                    callback.on_train_batch_end(last)
        return callbacks
    def train_on_batch(self, x):
        return 7
""",
}
MXNET = {
    "mxnet/__init__.py": "__version__ = '1.9'\nfrom . import gluon\n",
    "mxnet/gluon/__init__.py": "from .trainer import Trainer\n",
    "mxnet/gluon/trainer.py": "class Trainer:\n    def step(self, batch_size):\n        return batch_size\n",
}


class Hooks(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("hooks", "modules"):
            (self.folder / name).mkdir()
        for name in ("sitecustomize.py", "tbd_step.py"):
            shutil.copy(SOURCE / name, self.folder / "hooks")
        os.mkfifo(self.folder / "hooks" / "steps")
        self.reads = os.open(self.folder / "hooks" / "steps", os.O_RDONLY | os.O_NONBLOCK)
        self.writes = os.open(self.folder / "hooks" / "steps", os.O_WRONLY)
        self.addCleanup(os.close, self.reads)
        self.addCleanup(os.close, self.writes)

    def add(self, modules):
        for name, text in modules.items():
            path = self.folder / "modules" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def run_program(self, text, code=0):
        program = self.folder / "program.py"
        program.write_text(text)
        environment = dict(os.environ, TBD_STEP_FD=str(self.writes), PYTHONDONTWRITEBYTECODE="1",
                           PYTHONPATH=f"{self.folder / 'hooks'}:{self.folder / 'modules'}")
        if (self.folder / "traces").is_dir():
            environment["TBD_TRACE_FOLDER"] = str(self.folder / "traces")
        done = subprocess.run([sys.executable, str(program)], env=environment, pass_fds=[self.writes],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def steps(self):
        try:
            return len(os.read(self.reads, 1 << 16))
        except BlockingIOError:
            return 0

    def facts(self):
        return [line.split() for line in (self.folder / "hooks" / "facts").read_text().splitlines()]

    def fact(self, kind):
        return [words[1:] for words in self.facts() if words[0] == kind]

    def ask_for_trace(self, steps, first=0):
        (self.folder / "traces").mkdir()
        (self.folder / "hooks" / "window").write_text(f"{steps} {first}\n")

    def trace_of(self, first, last):
        """What the profiler of a window of these steps wrote."""
        self.assertEqual(self.fact("tracing"), [[str(first), str(last)]])
        self.assertEqual([fact[:2] for fact in self.fact("traced")], [[str(first), str(last)]])
        return Path(self.fact("traced")[0][2]).read_text().split("\n")

    def test_pytorch_tells_of_each_step_of_an_optimizer(self):
        self.add(TORCH)
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(3): o.step()\n")
        self.assertEqual(self.steps(), 3)
        framework, _, version, device = self.fact("steps")[0]
        self.assertEqual([framework, version, device], ["pytorch", "2.1", "cpu"])

    def test_of_two_optimizers_the_first_counts_as_long_as_it_lives(self):
        self.add(TORCH)
        self.run_program("import torch\nO = torch.optim.Optimizer\na, b = O(), O()\n"
                         "for _ in range(3): a.step(); b.step()\ndel a\nb.step()\n")
        self.assertEqual(self.steps(), 4)

    def test_a_fork_that_steps_too_does_not_count(self):
        self.add(TORCH)
        self.run_program("import os, torch\no = torch.optim.Optimizer()\no.step()\npid = os.fork()\n"
                         "for _ in range(3): o.step()\nif pid: os.waitpid(pid, 0)\n")
        self.assertEqual(self.steps(), 4)

    def test_a_child_python_that_steps_later_does_not_count(self):
        self.add(TORCH)
        self.run_program("import subprocess, sys, torch\no = torch.optim.Optimizer()\no.step()\n"
                         "subprocess.run([sys.executable, '-c', 'import torch; torch.optim.Optimizer().step()'], check=True)\n")
        self.assertEqual(self.steps(), 1)

    def test_a_program_behind_a_launcher_that_closes_descriptors_counts(self):
        self.add(TORCH)
        self.run_program("import subprocess, sys\n"
                         "subprocess.run([sys.executable, '-c', 'import torch; torch.optim.Optimizer().step()'], check=True)\n")
        self.assertEqual(self.steps(), 1)

    def test_closed_descriptors_are_opened_again_and_others_left_alone(self):
        self.add(TORCH)
        self.run_program("import os, torch\no = torch.optim.Optimizer()\no.step()\nos.closerange(3, 1024)\n"
                         "for _ in range(300): os.open('mine', os.O_WRONLY | os.O_CREAT)\n"
                         "o.step()\nassert os.path.getsize('mine') == 0\nos.unlink('mine')\n")
        self.assertEqual(self.steps(), 2)

    def test_a_program_that_tells_of_its_steps_itself_is_not_counted_twice(self):
        self.add(TORCH)
        self.run_program("import torch, tbd_step\no = torch.optim.Optimizer()\n"
                         "for _ in range(3):\n    o.step(); o.step(); tbd_step.step()\n")
        self.assertEqual(self.steps(), 3)
        self.assertEqual(self.fact("steps")[0][0], "pytorch")

    def test_keras_tells_of_each_batch_of_fit(self):
        self.add(KERAS)
        self.run_program("import keras\nm = keras.Model()\nassert len(m.fit(4, epochs=2)) == 1\n"
                         "class C(keras.callbacks.Callback): pass\nassert len(m.fit(4, callbacks=[C()])) == 2\n"
                         "assert len(m.fit(4, callbacks=C())) == 2\n")
        self.assertEqual(self.steps(), 16)
        self.assertEqual(self.fact("steps")[0][0], "keras")

    def test_keras_counts_all_steps_of_an_execution(self):
        self.add(KERAS)
        self.run_program("import keras\nkeras.Model().fit(8, epochs=2, steps_per_execution=4)\n")
        self.assertEqual(self.steps(), 16)

    def test_keras_tells_of_train_on_batch(self):
        self.add(KERAS)
        self.run_program("import keras\nassert keras.Model().train_on_batch(1) == 7\n")
        self.assertEqual(self.steps(), 1)

    def test_mxnet_tells_of_each_step_of_a_trainer(self):
        self.add(MXNET)
        self.run_program("import mxnet\nt = mxnet.gluon.Trainer()\nassert [t.step(8), t.step(8)] == [8, 8]\n")
        self.assertEqual(self.steps(), 2)

    def test_pytorchs_profiler_traces_the_steps_that_are_asked_for(self):
        self.add(TORCH | TORCH_PROFILER)
        self.ask_for_trace(2, first=4)
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(9): o.step()\n")
        self.assertEqual(self.steps(), 9)
        self.assertEqual(self.trace_of(4, 5), ["activities CPU", "start", "+ProfilerStep#4", "-ProfilerStep#4",
                                               "+ProfilerStep#5", "-ProfilerStep#5", "stop"])

    def test_a_window_without_a_first_step_begins_with_the_next(self):
        self.add(TORCH | TORCH_PROFILER)
        self.ask_for_trace(3)
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(9): o.step()\n")
        self.trace_of(2, 4)

    def test_a_window_that_is_asked_for_while_the_program_runs_begins_then(self):
        self.add(TORCH | TORCH_PROFILER)
        (self.folder / "traces").mkdir()
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(6): o.step()\n"
                         f"open({str(self.folder / 'hooks' / 'window')!r}, 'w').write('1 0')\n"
                         "for _ in range(6): o.step()\n")
        self.trace_of(8, 8)

    def test_nothing_is_traced_where_nobody_may_ask(self):
        self.add(TORCH | TORCH_PROFILER)
        (self.folder / "hooks" / "window").write_text("2 0\n")
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(9): o.step()\n")
        self.assertEqual(self.fact("tracing"), [])

    def test_a_program_that_ends_in_the_window_leaves_no_trace(self):
        self.add(TORCH | TORCH_PROFILER)
        self.ask_for_trace(5, first=3)
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(4): o.step()\n")
        self.assertEqual((len(self.fact("tracing")), self.fact("traced")), (1, []))

    def test_a_profiler_that_fails_is_noted_and_the_program_goes_on(self):
        self.add(TORCH | TORCH_PROFILER | {"torch/profiler.py": "class ProfilerActivity: CPU = 1\ndef profile(**_): raise RuntimeError('taken')\n"})
        self.ask_for_trace(2)
        self.run_program("import torch\no = torch.optim.Optimizer()\nfor _ in range(9): o.step()\n")
        self.assertEqual(self.steps(), 9)
        self.assertEqual(self.fact("untraced"), [["RuntimeError:", "taken"]])

    def test_steps_that_a_program_tells_of_itself_are_traced(self):
        self.add(TORCH | TORCH_PROFILER)
        self.ask_for_trace(2, first=3)
        self.run_program("import torch, tbd_step\no = torch.optim.Optimizer()\n"
                         "for _ in range(9):\n    o.step(); o.step(); tbd_step.step()\n")
        self.assertEqual(self.steps(), 9)
        self.assertEqual(len(self.trace_of(3, 4)), 7)

    def test_keras_is_traced_by_the_profiler_of_tensorflow(self):
        self.add(KERAS | {"keras/backend.py": "def backend(): return 'tensorflow'\n", "tensorflow.py": """
import os
said = []
class profiler:
    class experimental:
        def start(folder): experimental.folder = folder
        def stop():
            run = experimental.folder + "/plugins/profile/now"
            os.makedirs(run)
            open(run + "/host.xplane.pb", "w").write("\\n".join(said))
        class Trace:
            def __init__(self, name): self.name = name
            def __enter__(self): said.append("+" + self.name)
            def __exit__(self, *_): said.append("-" + self.name)
experimental = profiler.experimental
"""})
        self.ask_for_trace(4, first=3)
        self.run_program("import tensorflow, keras, keras.backend\n"
                         "keras.Model().fit(16, epochs=1, steps_per_execution=2)\n")
        self.assertEqual(self.trace_of(3, 6), ["+ProfilerStep#3", "-ProfilerStep#3", "+ProfilerStep#5", "-ProfilerStep#5"])

    def test_keras_on_a_framework_without_a_profiler_here_says_so(self):
        self.add(KERAS | {"keras/backend.py": "def backend(): return 'jax'\n"})
        self.ask_for_trace(4)
        self.run_program("import keras, keras.backend\nkeras.Model().fit(16)\n")
        self.assertEqual(self.steps(), 16)
        self.assertIn("the hooks know no profiler for keras on jax", " ".join(self.fact("untraced")[0]))

    def test_mxnet_is_traced_by_its_own_profiler(self):
        self.add(MXNET | {"mxnet/__init__.py": """
__version__ = '1.9'
from . import gluon
said = []
class nd:
    waitall = staticmethod(lambda: said.append("wait"))
class profiler:
    def set_config(filename, **_): profiler.filename = filename
    def set_state(state): said.append(state)
    def dump(): open(profiler.filename, "w").write("\\n".join(said))
    class Domain:
        def __init__(self, name): pass
        def new_task(self, name): return profiler.Task(name)
    class Task:
        def __init__(self, name): self.name = name
        def start(self): said.append("+" + self.name)
        def stop(self): said.append("-" + self.name)
"""})
        self.ask_for_trace(1, first=3)
        self.run_program("import mxnet\nt = mxnet.gluon.Trainer()\nfor _ in range(9): t.step(8)\n")
        self.assertEqual(self.steps(), 9)
        self.assertEqual(self.trace_of(3, 3), ["wait", "run", "+ProfilerStep#3", "-ProfilerStep#3", "wait", "stop"])

    def test_a_framework_without_what_the_hook_needs_goes_on_and_is_noted(self):
        self.add(dict(TORCH, **{"torch/optim/optimizer.py": "class Optimizer:\n    def step(self): pass\n"}))
        self.run_program("import torch\ntorch.optim.Optimizer().step()\n")
        self.assertEqual(self.steps(), 0)
        self.assertEqual(self.fact("unhooked")[0][:2], ["pytorch", "AttributeError:"])

    def test_a_framework_that_fails_to_load_fails_as_without_the_hooks(self):
        self.add({"keras/__init__.py": "raise ImportError('no back-end')\n"})
        done = self.run_program("import keras\n", code=1)
        self.assertTrue(done.stderr.endswith("ImportError: no back-end\n"), done.stderr)

    def test_another_sitecustomize_has_its_turn(self):
        self.add({"sitecustomize.py": "import sys\nsys.others = __file__\n"})
        done = self.run_program("import sys, sitecustomize\nprint(sys.others)\nprint(sitecustomize.__file__)\n")
        mine = str(self.folder / "modules" / "sitecustomize.py")
        self.assertEqual(done.stdout.split(), [mine, mine])

    def test_a_program_without_a_framework_sees_nothing_of_them(self):
        done = self.run_program("import sys, json, fcntl\nprint(sorted(set(sys.modules) & {'torch', 'keras', 'inspect'}))\n")
        self.assertEqual((done.stdout, done.stderr, self.steps()), ("[]\n", "", 0))

    def test_a_step_told_to_a_number_that_is_a_file_writes_nothing(self):
        self.run_program(f"import os, tbd_step\nos.close({self.writes})\nf = open('mine', 'w')\n"
                         f"os.dup2(f.fileno(), {self.writes})\ntbd_step.step()\n"
                         "assert os.path.getsize('mine') == 0\nos.unlink('mine')\n")

    def test_the_module_does_nothing_without_tbd(self):
        subprocess.run([sys.executable, "-c", "import tbd_step; tbd_step.step()"], cwd=SOURCE, check=True,
                       env={k: v for k, v in os.environ.items() if k != "TBD_STEP_FD"} | {"PYTHONDONTWRITEBYTECODE": "1"})

    def test_the_header_tells_of_steps_in_c(self):
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("there is no C compiler")
        (self.folder / "a.c").write_text('#include "tbd_step.h"\nint main(void) { for (int i = 0; i < 3; ++i) tbd_step(); return 0; }\n')
        subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-I", SOURCE, "-o", self.folder / "a", self.folder / "a.c"], check=True)
        subprocess.run([self.folder / "a"], env={"TBD_STEP_FD": str(self.writes)}, pass_fds=[self.writes], check=True)
        self.assertEqual(self.steps(), 3)
        subprocess.run([self.folder / "a"], env={}, check=True)


if __name__ == "__main__":
    os.chdir(tempfile.gettempdir())
    unittest.main()
