#!/usr/bin/env python3
"""A worker in Python with NumPy alone: the protocol of docs/protocol.md, spoken for perceptrons. Start here to write a
worker of your own: keep this file, replace perceptron.py."""
import json
import math
import os
import queue
import resource
import sys
import threading
import time

import numpy as np

import philox
import safetensors
from perceptron import Perceptron, check

VERSION = 1
# Keys that a request must have, and their types. Unknown keys are ignored.
REQUESTS = {"hello": {"version": int}, "check": {"program": dict}, "write": {"file": str}, "stop": {}, "bye": {},
            "load": {"program": dict, "bindings": dict, "device": str, "layout": str, "mode": str, "precision": str, "dropout": str,
                     "threads": int, "seed": int, "capture": bool, "pass": str},
            "read": {"prefixes": list, "file": str}, "gemm": {"precision": str, "seconds": (int, float)},
            "run": {"steps": int, "seconds": (int, float), "first_step": int, "input": dict}}


def raw_ns():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)


def process_start_ns():
    """The start of this process on the raw clock, to a tick of the system."""
    with open("/proc/self/stat", encoding="utf-8") as stat:
        ticks = int(stat.read().rsplit(")", 1)[1].split()[19])
    return raw_ns() - int(1e9 * (time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")))


def number(value):
    """JSON has no NaN and no infinity."""
    return value if math.isfinite(value) else "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


class Channel:
    """Lines in and out. A thread reads, so that `stop` is heard during a run; libraries that print reach stderr."""

    def __init__(self):
        self.out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        self.stop, self.lines = threading.Event(), queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in sys.stdin:
            try:
                request = parsed(line)
            except ValueError as error:
                request = error
            if isinstance(request, dict) and request["type"] == "stop":
                self.stop.set()
                continue
            if isinstance(request, dict) and request["type"] == "run":
                self.stop.clear()
            self.lines.put(request)
        self.stop.set()
        self.lines.put(None)

    def send(self, type_, **content):
        self.out.write(json.dumps({"type": type_, **content}, allow_nan=False) + "\n")
        self.out.flush()


def parsed(line):
    try:
        request = json.loads(line)
    except json.JSONDecodeError as error:
        raise ValueError(f"request: not JSON: {error}") from None
    if not isinstance(request, dict) or request.get("type") not in REQUESTS:
        raise ValueError("request: neither of " + ", ".join(REQUESTS))
    for key, type_ in REQUESTS[request["type"]].items():
        if key not in request:
            raise ValueError(f"request '{request['type']}': '{key}' is missing")
        if not isinstance(request[key], type_) or isinstance(request[key], bool) and type_ is not bool:
            raise ValueError(f"request '{request['type']}': '{key}' has another type")
    return request


class Worker:
    def __init__(self):
        self.zero_ns, self.channel, self.model = process_start_ns(), Channel(), None

    def serve(self):
        while (request := self.channel.lines.get()) is not None:
            try:
                if isinstance(request, ValueError):
                    raise request
                reply = getattr(self, "on_" + request["type"])(request)
            except NotImplementedError as error:
                self.fail("unsupported", error)
            except MemoryError as error:
                self.fail("oom", f"out of memory: {error}")
            except OSError as error:
                self.fail("io", f"{error.filename}: {error.strerror}")
            except (ValueError, KeyError, TypeError) as error:
                self.fail("invalid", error)
            else:
                self.channel.send(request["type"], **reply)
                if request["type"] == "bye":
                    return

    def fail(self, kind, sentence):
        self.channel.send("failure", kind=kind, sentence=str(sentence), fatal=False)

    def now_ns(self):
        return raw_ns() - self.zero_ns

    def loaded(self):
        if self.model is None:
            raise ValueError("nothing is loaded")
        return self.model

    def on_hello(self, _):
        return {"version": VERSION, "framework": "numpy", "framework_version": np.__version__, "modes": ["eager"],
                "devices": ["cpu"], "precisions": ["fp64", "fp32"], "layouts": ["nchw"], "passes": ["clean"], "pipeline": False,
                "build": {"python": sys.version.split()[0]}}

    def on_check(self, request):
        return {"nodes": check(request["program"])}

    def on_load(self, request):
        if self.model is not None:
            raise ValueError("a program is loaded already; a worker loads one")
        if request["device"] != "cpu" or request["layout"] != "nchw" or request["mode"] not in ("", "eager"):
            raise NotImplementedError(f"no {request['layout']} {request['mode']} on {request['device']} here")
        if request["pass"] != "clean":
            raise NotImplementedError(f"no pass {request['pass']} here")
        self.model = Perceptron(request["program"], request["bindings"], request["seed"], request["capture"])
        count = sum(p.size for p in self.model.parameters.values())
        return {"batch": request["bindings"]["N"], "parameters": count, "threads": request["threads"], "settings": {},
                "seconds": 1e-9 * self.now_ns()}

    def on_write(self, request):
        tensors = safetensors.read(request["file"])
        for name, value in tensors.items():
            self.loaded().set(name, value)
        return {"tensors": len(tensors)}

    def on_read(self, request):
        prefixes = tuple(request["prefixes"])
        tensors = {name: value for name, value in self.loaded().tensors().items() if name.startswith(prefixes)}
        safetensors.write(request["file"], tensors)
        return {"tensors": len(tensors)}

    def on_gemm(self, request):
        size = 512
        a = np.ones((size, size), np.float64 if request["precision"] == "fp64" else np.float32)
        best, end = math.inf, time.monotonic() + request["seconds"]
        while best == math.inf or time.monotonic() < end:
            began = raw_ns()
            a @ a  # pylint: disable=expression-not-assigned
            best = min(best, raw_ns() - began)
        return {"flop_rate": 2e9 * size**3 / best}

    def on_bye(self, _):
        return {}

    def batch(self, plan, step):
        """The inputs of a run: from a file, which may leave the norms out, else drawn."""
        if plan["mode"] != "resident":
            raise NotImplementedError("this worker cannot feed itself from a data set")
        given = safetensors.read(plan["file"]) if plan["file"] else {}
        batch = {**self.model.norms(), **{k: v for k, v in given.items() if k.startswith("norm/")}}
        for spec in self.model.inputs():
            name = spec["name"]
            if given and name not in given:
                raise ValueError(f"{plan['file']}: input '{name}' is missing")
            batch[name] = given[name].astype(spec["dtype"]) if given else philox.drawn_input(spec, self.model.seed, step)
            if list(batch[name].shape) != spec["shape"]:
                raise ValueError(f"{plan['file']}: input '{name}' has shape {batch[name].shape}, the program needs {spec['shape']}")
        unknown = set(given) - set(batch)
        if unknown:
            raise ValueError(f"{plan['file']}: '{unknown.pop()}' is no input of this program")
        if plan["save"]:
            safetensors.write(plan["save"], {name: np.asarray(value) for name, value in batch.items()})
        return batch

    def on_run(self, request):
        units, first = self.loaded().bindings["N"], request["first_step"]
        batch = self.batch({"file": "", "save": "", **request["input"]}, first)
        began, first_done, sent, rows, ended = self.now_ns(), None, 0, [], "steps"
        used, loss, done = resource.getrusage(resource.RUSAGE_SELF), 0.0, 0
        later = (request.get("at_step") or first) - first  # what updates count the first step as
        for step in range(first, first + request["steps"]):
            loss = self.model.step(batch, step + later, request.get("lr"), request.get("phase"))
            now, before, used = self.now_ns(), used, resource.getrusage(resource.RUSAGE_SELF)
            rows.append([step, now, units, units, None, None, 0, int(1e9 * (used.ru_utime - before.ru_utime)),
                         int(1e9 * (used.ru_stime - before.ru_stime)), used.ru_minflt - before.ru_minflt,
                         used.ru_majflt - before.ru_majflt, None, None, None, number(loss)])
            done, first_done = done + 1, first_done or now
            if step == first or now - sent > 250_000_000:
                self.channel.send("steps", rows=rows)
                rows, sent = [], now
            if not math.isfinite(loss):
                ended = "nonfinite"
            elif self.channel.stop.is_set():
                ended = "stop"
            elif 0 < request["seconds"] <= 1e-9 * (now - first_done) and done < request["steps"]:
                ended = "seconds"
            if ended != "steps":
                break
        self.channel.send("steps", rows=rows)
        return {"steps": done, "ended": ended, "losses": {phase: number(loss) for phase, loss in self.model.losses.items()},
                "nonfinite": self.model.first_not_finite() if ended == "nonfinite" else "",
                "launch": {"first_step_began_ns": began, "first_step_seconds": 1e-9 * first_done, "batch_seen": units,
                           "peak_rss_bytes": 1024 * used.ru_maxrss}}


if __name__ == "__main__":
    Worker().serve()
