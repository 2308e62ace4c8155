"""The framework of the example: programs of one phase made of linear, relu, tanh and softmax_cross_entropy, trained by
SGD with momentum. Each op is a forward function that returns its result and its own backward function."""
import numpy as np

import philox

FLOATS = {"f32": np.dtype("<f4"), "f64": np.dtype("<f8"), "i32": np.dtype("<i4"), "i64": np.dtype("<i8")}


def linear(attributes, x, weight, bias=None):
    y = x @ weight.T if bias is None else x @ weight.T + bias

    def backward(dy):
        return (dy @ weight, dy.T @ x) + (() if bias is None else (dy.sum(axis=0),))
    return y, backward


def relu(attributes, x):
    return np.maximum(x, 0), lambda dy: (dy * (x > 0),)


def tanh(attributes, x):
    y = np.tanh(x)
    return y, lambda dy: (dy * (1 - y * y),)


def softmax_cross_entropy(attributes, logits, label):
    """A sum over rows; label smoothing spreads its share over all classes."""
    smoothing, classes = attributes.get("smoothing", 0), logits.shape[1]
    log_p = logits - logits.max(axis=1, keepdims=True)
    log_p = log_p - np.log(np.exp(log_p).sum(axis=1, keepdims=True))
    target = np.full_like(logits, smoothing / classes)
    target[np.arange(len(label)), label] += 1 - smoothing
    return -(target * log_p).sum(), lambda dy: (dy * (np.exp(log_p) - target), None)


OPS = {"linear": linear, "relu": relu, "tanh": tanh, "softmax_cross_entropy": softmax_cross_entropy}


def check(program):
    return [{"phase": phase["name"], "node": node["name"], "kind": node["op"],
             "level": "native" if node["op"] in OPS else "unsupported",
             "detail": "NumPy" if node["op"] in OPS else "the example has no such op"}
            for phase in program["phases"] for node in phase["nodes"]]


def why_not(program):
    """What in a program the example cannot do; empty when it can."""
    for row in check(program):
        if row["level"] == "unsupported":
            return f"node '{row['node']}' ({row['kind']}): {row['detail']}"
    phase = program["phases"][0]
    update = phase.get("update", {})
    refused = {"more than one phase": len(program["phases"]) > 1 or program["step"][0].get("repeat", 1) != 1,
               "buffers": program.get("buffers"), "micro-batches": phase.get("accumulate", 1) != 1,
               "optimizers but sgd": update.get("optimizer", {}).get("kind", "sgd") != "sgd",
               "gradient clipping": "clip_norm" in update, "weight averages": "ema" in update,
               "loss scaling": update.get("loss_scale"),
               "schedules": set(update.get("schedule", {})) - {"kind", "base"} or
               update.get("schedule", {}).get("kind", "constant") != "constant"}
    return next((f"the example has no {what}" for what, asked in refused.items() if asked), "")


class Perceptron:
    def __init__(self, program, bindings, seed, capture):
        reason = why_not(program)
        if reason:
            raise NotImplementedError(reason)
        self.phase, self.bindings, self.seed, self.capture = program["phases"][0], bindings, seed, capture
        self.update = self.phase.get("update", {})
        self.parameters = {p["name"]: philox.initial(p, seed, FLOATS[p.get("dtype", "f32")]) for p in program["parameters"]}
        self.momentum, self.gradients, self.last = {}, {}, {}
        self.kept = {}  # of the last step, for `read`

    def inputs(self):
        """Name, shape and element type of each input, and the classes that labels are drawn from."""
        classes = [node["attributes"]["out"] for node in self.phase["nodes"] if node["op"] == "linear"][-1]
        return [{"name": spec["name"], "dtype": FLOATS[spec.get("dtype", "f32")], "classes": classes,
                 "shape": [self.bindings[d] if isinstance(d, str) else d for d in spec["shape"]]}
                for spec in self.phase["inputs"] if not spec["name"].startswith("norm/")]

    def norms(self):
        return {"norm/" + term["name"]: term.get("norm", 1) / self.bindings["N"] for term in self.phase["loss"]}

    def step(self, batch, rate):
        values, tape = {**self.parameters, **batch}, []
        for node in self.phase["nodes"]:
            values[node["name"]], backward = OPS[node["op"]](node.get("attributes", {}), *(values[n] for n in node["inputs"]))
            tape.append((node, backward))
        slopes, terms = {}, {}
        for term in self.phase["loss"]:
            norm = float(batch["norm/" + term["name"]])
            terms[term["name"]] = norm * float(values[term["value"]])
            slopes[term["value"]] = slopes.get(term["value"], 0) + norm
        for node, backward in reversed(tape):
            if node["name"] in slopes:
                for name, slope in zip(node["inputs"], backward(slopes[node["name"]])):
                    if slope is not None:
                        slopes[name] = slopes.get(name, 0) + slope
        self.gradients = {name: np.asarray(slopes.get(name, np.zeros_like(p)), p.dtype) for name, p in self.parameters.items()}
        loss = sum(terms.values())
        if self.capture:
            self.kept = {"loss": np.asarray(loss), **{"term/" + name: np.asarray(x) for name, x in terms.items()},
                         **{"output/" + name: values[of].copy() for name, of in self.phase.get("outputs", {}).items()},
                         **{"grad/" + name: g.copy() for name, g in self.gradients.items()}}
        self.train(rate)
        return loss

    def train(self, rate):
        """g += decay w; b <- momentum b + g (b = g at first); w -= rate b."""
        optimizer = self.update.get("optimizer", {})
        rate = self.update.get("schedule", {}).get("base", 0.1) if rate is None else rate
        for group in self.update.get("groups", []):
            for name in group["parameters"]:
                w = self.parameters[name]
                g = self.gradients[name] + group.get("weight_decay", 0) * w
                mu = optimizer.get("momentum", 0)
                b = mu * self.momentum[name] + g if name in self.momentum else g
                if mu:
                    self.momentum[name] = b.astype(w.dtype)
                direction = g + mu * b if optimizer.get("nesterov") else b
                w -= (rate * group.get("lr_scale", 1) * direction).astype(w.dtype)

    def tensors(self):
        return {**self.kept, **{"param/" + name: p for name, p in self.parameters.items()},
                **{f"state/{name}/momentum": b for name, b in self.momentum.items()}}

    def set(self, name, value):
        """A tensor of a file: param/NAME, NAME, or state/NAME/momentum."""
        plain = name[len("param/"):] if name.startswith("param/") else name
        if name.startswith("state/") and name.endswith("/momentum"):
            plain = name[len("state/"):-len("/momentum")]
        if plain not in self.parameters:
            raise ValueError(f"'{name}' is neither a parameter nor a state of this network")
        old = self.parameters[plain]
        if value.shape != old.shape:
            raise ValueError(f"'{name}' has shape {value.shape}, the program needs {old.shape}")
        (self.momentum if name.startswith("state/") else self.parameters)[plain] = value.astype(old.dtype)

    def first_not_finite(self):
        tensors = [("param/" + n, p) for n, p in self.parameters.items()] + [("grad/" + n, g) for n, g in self.gradients.items()]
        return next((name for name, value in tensors if not np.isfinite(value).all()), "loss")
