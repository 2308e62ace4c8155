"""The framework of the example: programs made of the ops below, trained by SGD with momentum or Adam. Each op is a forward
function that returns its result and its own backward function. Perceptrons need four of the ops; `tbd check` weights what it
judges with mul and sum."""
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


def mul(attributes, a, b):
    """Extents of 1 are repeated; their slopes are summed up."""
    def folded(slope, shape):
        return slope.sum(axis=tuple(i for i, n in enumerate(shape) if n == 1), keepdims=True).reshape(shape)
    return a * b, lambda dy: (folded(dy * b, a.shape), folded(dy * a, b.shape))


def sum_(attributes, x):
    axes = tuple(axis % x.ndim for axis in attributes.get("axes", [])) or tuple(range(x.ndim))
    y = x.sum(axis=axes, keepdims=True)
    shape = y.shape if attributes.get("keep") else [n for axis, n in enumerate(x.shape) if axis not in axes]
    return y.reshape(shape), lambda dy: (np.broadcast_to(np.reshape(dy, y.shape), x.shape).astype(x.dtype),)


OPS = {"linear": linear, "relu": relu, "tanh": tanh, "softmax_cross_entropy": softmax_cross_entropy, "mul": mul, "sum": sum_}


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
    refused = {"buffers": program.get("buffers"), "phases that come more than once or late": any(
        entry.get("repeat", 1) != 1 or entry.get("from_step", 1) != 1 for entry in program["step"])}
    for phase in program["phases"]:
        update = phase.get("update", {})
        schedule = update.get("schedule", {})
        refused |= {"micro-batches": phase.get("accumulate", 1) != 1,
                    "optimizers but sgd and adam": update.get("optimizer", {}).get("kind", "sgd") not in ("sgd", "adam"),
                    "gradient clipping": "clip_norm" in update, "weight averages": "ema" in update,
                    "loss scaling": update.get("loss_scale"),
                    "schedules": set(schedule) - {"kind", "base"} or schedule.get("kind", "constant") != "constant"}
        reason = next((f"the example has no {what}" for what, asked in refused.items() if asked), "")
        if reason:
            return reason
    return ""


class Perceptron:
    def __init__(self, program, bindings, seed, capture):
        reason = why_not(program)
        if reason:
            raise NotImplementedError(reason)
        phases = {phase["name"]: phase for phase in program["phases"]}
        self.phases = [phases[entry["phase"]] for entry in program["step"]]  # in the order of a step
        self.bindings, self.seed, self.capture = bindings, seed, capture
        self.parameters = {p["name"]: philox.initial(p, seed, FLOATS[p.get("dtype", "f32")]) for p in program["parameters"]}
        self.slots = {"momentum": {}, "exp_avg": {}, "exp_avg_sq": {}}  # of the optimizers, by parameter
        self.gradients, self.losses = {}, {}  # of the last step
        self.kept = {}  # of the last step, for `read`

    def inputs(self):
        """Name, shape and element type of each input, and the classes that labels are drawn from."""
        nodes = [node for phase in self.phases for node in phase["nodes"]]
        classes = [node["attributes"]["out"] for node in nodes if node["op"] == "linear"] or [1]
        return [{"name": spec["name"], "dtype": FLOATS[spec.get("dtype", "f32")], "classes": classes[-1],
                 "shape": [self.bindings[d] if isinstance(d, str) else d for d in spec["shape"]]}
                for phase in self.phases for spec in phase["inputs"] if not spec["name"].startswith("norm/")]

    def norms(self):
        return {"norm/" + term["name"]: term.get("norm", 1) / self.bindings["N"] for phase in self.phases for term in phase["loss"]}

    def step(self, batch, number, rate, only=None):
        """One pass through the step's phases, or through one of them; the loss of its last."""
        self.kept = {}
        for phase in self.phases:
            if only in (None, phase["name"]):
                self.train(phase, batch, number, rate)
        return self.losses[only or self.phases[-1]["name"]]

    def train(self, phase, batch, number, rate):
        values, tape = {**self.parameters, **batch}, []
        for node in phase["nodes"]:
            values[node["name"]], backward = OPS[node["op"]](node.get("attributes", {}), *(values[n] for n in node["inputs"]))
            tape.append((node, backward))
        slopes, terms = {}, {}
        for term in phase["loss"]:
            norm = float(batch["norm/" + term["name"]])
            terms[term["name"]] = norm * float(values[term["value"]])
            slopes[term["value"]] = slopes.get(term["value"], 0) + norm
        for node, backward in reversed(tape):
            if node["name"] in slopes:
                for name, slope in zip(node["inputs"], backward(slopes[node["name"]])):
                    if slope is not None:
                        slopes[name] = slopes.get(name, 0) + slope
        groups = phase.get("update", {}).get("groups", [])
        for name in (name for group in groups for name in group["parameters"]):
            w = self.parameters[name]
            self.gradients[name] = np.asarray(slopes.get(name, np.zeros_like(w)), w.dtype)
        self.losses[phase["name"]] = sum(terms.values())
        if self.capture:
            self.keep(phase, values, terms)
        for group in groups:
            self.update(phase["update"], group, number, rate)

    def keep(self, phase, values, terms):
        loss = "loss" if len(self.phases) == 1 else "loss/" + phase["name"]
        self.kept |= {loss: np.asarray(self.losses[phase["name"]]),
                      **{"term/" + name: np.asarray(x) for name, x in terms.items()},
                      **{"output/" + name: values[of].copy() for name, of in phase.get("outputs", {}).items()},
                      **{"grad/" + name: g.copy() for name, g in self.gradients.items()}}

    def update(self, update, group, number, rate):
        """g += decay w; w -= rate * what the optimizer makes of g."""
        optimizer = update.get("optimizer", {})
        direction = self.adam if optimizer.get("kind") == "adam" else self.sgd
        rate = update.get("schedule", {}).get("base", 0.1) if rate is None else rate
        for name in group["parameters"]:
            w = self.parameters[name]
            g = self.gradients[name] + group.get("weight_decay", 0) * w
            w -= (rate * group.get("lr_scale", 1) * direction(optimizer, name, g, number)).astype(w.dtype)

    def sgd(self, optimizer, name, g, _):
        """b <- momentum b + g (b = g at first)."""
        mu, momentum = optimizer.get("momentum", 0), self.slots["momentum"]
        b = mu * momentum[name] + g if name in momentum else g
        if mu:
            momentum[name] = b.astype(g.dtype)
        return g + mu * b if optimizer.get("nesterov") else b

    def adam(self, optimizer, name, g, number):
        """Kingma and Ba 2015, arXiv:1412.6980, algorithm 1."""
        beta = {"exp_avg": optimizer.get("beta1", 0.9), "exp_avg_sq": optimizer.get("beta2", 0.999)}
        moment = {}
        for slot, of in (("exp_avg", g), ("exp_avg_sq", g * g)):
            old = self.slots[slot].get(name, np.zeros_like(g))
            self.slots[slot][name] = (beta[slot] * old + (1 - beta[slot]) * of).astype(g.dtype)
            moment[slot] = self.slots[slot][name] / (1 - beta[slot] ** number)
        return moment["exp_avg"] / (np.sqrt(moment["exp_avg_sq"]) + optimizer.get("epsilon", 1e-8))

    def tensors(self):
        return {**self.kept, **{"param/" + name: p for name, p in self.parameters.items()},
                **{f"state/{name}/{slot}": value for slot, of in self.slots.items() for name, value in of.items()}}

    def set(self, name, value):
        """A tensor of a file: param/NAME, NAME, or state/NAME/SLOT."""
        plain, place = name[len("param/"):] if name.startswith("param/") else name, self.parameters
        if name.startswith("state/") and name.rpartition("/")[2] in self.slots:
            plain, place = name[len("state/"):name.rindex("/")], self.slots[name.rpartition("/")[2]]
        if plain not in self.parameters:
            raise ValueError(f"'{name}' is neither a parameter nor a state of this network")
        old = self.parameters[plain]
        if value.shape != old.shape:
            raise ValueError(f"'{name}' has shape {value.shape}, the program needs {old.shape}")
        place[plain] = value.astype(old.dtype)

    def first_not_finite(self):
        tensors = [("param/" + n, p) for n, p in self.parameters.items()] + [("grad/" + n, g) for n, g in self.gradients.items()]
        return next((name for name, value in tensors if not np.isfinite(value).all()), "loss")
