"""Tells tbd exec of each training step of a Python program, which need not know of it (docs/exec.md).

tbd exec puts this folder first on PYTHONPATH, so that Python runs this file before the program. It imports no framework:
it waits until the program imports one and then asks that to call back after each step. Another sitecustomize has its
turn as it would have had without this one. Nothing here may break the program: a hook that fails is noted and left out.
"""
import importlib.machinery
import importlib.util
import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))


def note(*words):
    """A line for tbd, written at once so that those of several processes do not mix."""
    try:
        fd = os.open(os.path.join(FOLDER, "facts"), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, (" ".join(str(word) for word in words).replace("\n", " ")[:1000] + "\n").encode())
        os.close(fd)
    except OSError:
        pass


class Steps:
    """Writes a byte for each step into a pipe of tbd's, from the process and the framework that stepped first."""

    def __init__(self):
        self.pid = None  # of the process that looked whether it is the first
        self.framework = None
        self.fd = self.inode = -1

    def done(self, framework, count, facts):
        if self.pid != os.getpid():  # the first step here, or in a fork
            self.pid, self.framework, self.fd = os.getpid(), framework, -1
            if self.is_first(framework):
                note("steps", framework, self.pid, *facts())
                self.open()
        # A program that tells of its steps itself knows better.
        if self.fd >= 0 and framework == self.framework and "tbd_step" not in sys.modules:
            self.write(b"\0" * count)
            WINDOW.done(framework, count)

    def told_by_program(self):
        """A step of a program that imports tbd_step: its framework's profiler can trace it all the same."""
        if self.pid == os.getpid() and self.fd >= 0:
            WINDOW.done(self.framework, 1)
        else:
            WINDOW.steps += 1

    def is_first(self, framework):
        try:
            os.close(os.open(os.path.join(FOLDER, "stepping"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        except OSError:
            return False
        return True

    def open(self):
        import fcntl
        try:
            fd = os.open(os.path.join(FOLDER, "steps"), os.O_WRONLY | os.O_NONBLOCK)
            self.fd = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 200)  # where few programs close or open anything
            os.close(fd)
            os.set_blocking(self.fd, True)
            self.inode = os.fstat(self.fd).st_ino
        except OSError:
            self.fd = -1

    def write(self, data):
        try:
            if not self.is_open():
                self.open()
            if self.fd >= 0:
                os.write(self.fd, data)
        except OSError:  # tbd reads no more
            self.fd = -1

    def is_open(self):
        try:
            return os.fstat(self.fd).st_ino == self.inode  # else the number is a file of the program's by now
        except OSError:
            return False


STEPS = Steps()


class Window:
    """A few steps that the framework's own profiler traces, once tbd asks for them by a file (tbd profile --exec)."""

    def __init__(self):
        self.folder = os.environ.get("TBD_TRACE_FOLDER")  # where the trace goes; without it nobody asks
        self.is_over = not self.folder
        self.request = os.path.join(FOLDER, "window")
        self.wanted = None  # how many steps, and the first of them or 0
        self.steps = self.first = self.last = 0
        self.profiler = None

    def done(self, framework, count):
        if self.is_over:
            return
        self.steps += count
        try:
            if self.profiler:
                self.go_on()
            elif self.is_due():
                self.begin(framework)
        except Exception as error:
            self.is_over = True
            note("untraced", type(error).__name__ + ":", error)

    def is_due(self):
        if not self.wanted:
            if not os.access(self.request, os.F_OK):
                return False
            with open(self.request) as file:
                self.wanted = [int(word) for word in file.read().split()]
        return self.steps + 1 >= self.wanted[1]

    def begin(self, framework):
        self.first, self.last = self.steps + 1, self.steps + self.wanted[0]
        self.profiler = profiler_of(framework)(self.folder)
        note("tracing", self.first, self.last)
        self.profiler.begin_step(step_name(self.first))

    def go_on(self):
        self.profiler.end_step()
        if self.steps < self.last:
            self.profiler.begin_step(step_name(self.steps + 1))
        else:
            self.is_over = True
            note("traced", self.first, self.steps, self.profiler.stop())


def step_name(number):
    return f"ProfilerStep#{number}"  # as torch.profiler calls it: what reads its traces knows steps by that


class PytorchProfiler:
    def __init__(self, folder):
        import torch.profiler
        activities = [torch.profiler.ProfilerActivity.CPU]
        if torch.cuda.is_initialized():
            torch.cuda.synchronize()  # so that no kernel of an earlier step is in the trace
            activities.append(torch.profiler.ProfilerActivity.CUDA)
        self.torch = torch
        self.file = os.path.join(folder, "trace.json.gz")
        self.profile = torch.profiler.profile(activities=activities)
        self.profile.start()

    def begin_step(self, name):
        self.range = self.torch.autograd.profiler.record_function(name)
        self.range.__enter__()

    def end_step(self):
        self.range.__exit__(None, None, None)

    def stop(self):
        self.profile.stop()
        self.profile.export_chrome_trace(self.file)
        return self.file


class TensorflowProfiler:
    def __init__(self, folder):
        self.profiler = sys.modules["tensorflow"].profiler.experimental
        self.folder = folder
        self.profiler.start(folder)

    def begin_step(self, name):
        self.range = self.profiler.Trace(name)
        self.range.__enter__()

    def end_step(self):
        self.range.__exit__(None, None, None)

    def stop(self):
        import glob
        self.profiler.stop()
        return glob.glob(os.path.join(glob.escape(self.folder), "plugins", "profile", "*", "*.xplane.pb"))[0]


class MxnetProfiler:
    def __init__(self, folder):
        self.mxnet = sys.modules["mxnet"]
        self.file = os.path.join(folder, "profile.json")
        self.mxnet.nd.waitall()
        self.mxnet.profiler.set_config(filename=self.file, profile_symbolic=True, profile_imperative=True,
                                       profile_memory=False, profile_api=False, aggregate_stats=False)
        self.mxnet.profiler.set_state("run")
        self.domain = self.mxnet.profiler.Domain("tbd")

    def begin_step(self, name):
        self.range = self.domain.new_task(name)
        self.range.start()

    def end_step(self):
        self.range.stop()

    def stop(self):
        self.mxnet.nd.waitall()
        self.mxnet.profiler.set_state("stop")
        self.mxnet.profiler.dump()
        return self.file


PROFILERS = {"pytorch": PytorchProfiler, "torch": PytorchProfiler, "tensorflow": TensorflowProfiler,
             "mxnet": MxnetProfiler}


def profiler_of(framework):
    """Keras has none of its own: the framework that it runs on has."""
    name = sys.modules["keras"].backend.backend() if framework == "keras" else framework
    if name not in PROFILERS:
        raise LookupError(f"the hooks know no profiler for {framework} on {name}")
    return PROFILERS[name]


WINDOW = Window()


class TheFirst:
    """Of several optimizers the one that stepped first, as long as it lives: a step of a GAN is no two steps."""

    def __init__(self):
        self.reference = lambda: None

    def is_it(self, candidate):
        import weakref
        if self.reference() is None:
            self.reference = weakref.ref(candidate)
        return self.reference() is candidate


def hook_pytorch(module):
    first = TheFirst()

    def stepped(optimizer, args, kwargs):
        def facts():
            return sys.modules["torch"].__version__, optimizer.param_groups[0]["params"][0].device
        if first.is_it(optimizer):
            STEPS.done("pytorch", 1, facts)

    module.register_optimizer_step_post_hook(stepped)


def hook_keras(module):
    import functools
    import inspect

    def facts():
        return (module.__version__,)

    class Teller(module.callbacks.Callback):
        last = -1

        def on_epoch_begin(self, epoch, logs=None):
            self.last = -1

        def on_train_batch_end(self, batch, logs=None):  # one call for several steps, with steps_per_execution
            STEPS.done("keras", max(1, batch - self.last), facts)
            self.last = batch

    def wrap(name, make):
        original = getattr(module.Model, name)
        setattr(module.Model, name, functools.wraps(original)(make(original)))

    def telling_fit(original):
        signature = inspect.signature(original)

        def fit(*args, **kwargs):
            try:
                bound = signature.bind(*args, **kwargs)
            except TypeError:
                return original(*args, **kwargs)  # which says what is wrong
            given = bound.arguments.get("callbacks")
            if hasattr(given, "append") and not isinstance(given, list):
                given.append(Teller())  # a CallbackList
            else:
                many = list(given) if isinstance(given, (list, tuple)) else [given] if given else []
                bound.arguments["callbacks"] = many + [Teller()]
            return original(*bound.args, **bound.kwargs)
        return fit

    def telling_train_on_batch(original):
        def train_on_batch(*args, **kwargs):
            result = original(*args, **kwargs)
            STEPS.done("keras", 1, facts)
            return result
        return train_on_batch

    wrap("fit", telling_fit)
    wrap("train_on_batch", telling_train_on_batch)


def hook_mxnet(module):
    first = TheFirst()
    original = module.Trainer.step

    def step(self, *args, **kwargs):
        result = original(self, *args, **kwargs)
        if first.is_it(self):
            STEPS.done("mxnet", 1, lambda: (sys.modules["mxnet"].__version__,))
        return result

    module.Trainer.step = step


def hook_tbd_step(module):
    module.told = STEPS.told_by_program


HOOKS = {
    "torch.optim.optimizer": ("pytorch", hook_pytorch),
    "keras": ("keras", hook_keras),
    "mxnet.gluon.trainer": ("mxnet", hook_mxnet),
    "tbd_step": (None, hook_tbd_step),
}


class HookFinder:
    """Lets the other finders find a module, and hooks it once it is loaded."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name not in HOOKS:
            return None
        spec = None
        for finder in list(sys.meta_path):
            if finder is not HookFinder and hasattr(finder, "find_spec"):
                spec = spec or finder.find_spec(name, path, target)
        if spec is not None and hasattr(spec.loader, "exec_module"):
            hook_after(spec.loader, *HOOKS[name])
        return spec


def hook_after(loader, framework, hook):
    load = loader.exec_module

    def exec_module(module):
        load(module)
        try:
            hook(module)
            if framework:
                note("hooked", framework)
        except Exception as error:  # an older or newer framework, without what the hook needs
            note("unhooked", framework, type(error).__name__ + ":", error)

    try:
        loader.exec_module = exec_module
    except AttributeError as error:
        note("unhooked", framework, "its loader takes no hook:", error)


def run_other_sitecustomize():
    others = [folder for folder in sys.path if os.path.abspath(folder) != FOLDER]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


note("python", sys.version.split()[0], os.getpid())
sys.meta_path.insert(0, HookFinder)
run_other_sitecustomize()
