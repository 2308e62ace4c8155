"""The project's random numbers: Philox4x32-10 (Salmon et al. 2011), addressed by seed, name, step, sample and index."""
import hashlib

import numpy as np

LOW = np.uint64(0xFFFFFFFF)


def words(seed, name, step, sample, index):
    """32-bit words; step, sample and index are arrays that broadcast."""
    stream = int.from_bytes(hashlib.sha256(name.encode()).digest()[:4], "big")
    counter = np.broadcast_arrays(*[np.asarray(x, np.uint64) for x in (stream, step, sample, np.asarray(index) // 4)])
    key = [seed & 0xFFFFFFFF, seed >> 32]
    for _ in range(10):
        high = counter[0] * np.uint64(0xD2511F53), counter[2] * np.uint64(0xCD9E8D57)
        counter = [(high[1] >> np.uint64(32)) ^ counter[1] ^ np.uint64(key[0]), high[1] & LOW,
                   (high[0] >> np.uint64(32)) ^ counter[3] ^ np.uint64(key[1]), high[0] & LOW]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    place = np.broadcast_to(np.asarray(index) % 4, counter[0].shape)
    return np.choose(place, counter)


def uniform(seed, name, step, sample, index):
    return (words(seed, name, step, sample, index) >> np.uint64(8)) * 2.0**-24


def normal(seed, name, step, sample, index):
    """Box-Muller on words 2 index and 2 index + 1."""
    index = 2 * np.asarray(index)
    radius = np.sqrt(-2 * np.log(1 - uniform(seed, name, step, sample, index)))
    return radius * np.cos(2 * np.pi * uniform(seed, name, step, sample, index + 1))


def initial(parameter, seed, dtype):
    """A parameter's first value: element i is index 0 of sample i of the stream of its name."""
    init = {"kind": "zeros", "a": 0, **parameter.get("init", {})}
    shape, kind = parameter["shape"], init["kind"]
    sample = np.arange(int(np.prod(shape)))
    if kind == "normal":
        values = init["a"] * normal(seed, parameter["name"], 0, sample, 0)
    elif kind == "uniform":
        values = init["a"] * (2 * uniform(seed, parameter["name"], 0, sample, 0) - 1)
    elif kind in ("zeros", "ones", "constant"):
        values = np.full(sample.shape, {"zeros": 0, "ones": 1, "constant": init["a"]}[kind], float)
    else:
        raise NotImplementedError(f"parameter '{parameter['name']}': initial values '{kind}' are not drawn here")
    return values.reshape(shape).astype(dtype)


def drawn_input(spec, seed, step):
    """An input that no file gives: floats normal, integers below the number of classes, by sample."""
    samples, each = spec["shape"][0], int(np.prod(spec["shape"][1:]))
    draw = normal if spec["dtype"].kind == "f" else uniform
    values = draw(seed, spec["name"], step, np.arange(samples)[:, None], np.arange(each)[None, :])
    return (values if draw is normal else np.floor(values * spec["classes"])).reshape(spec["shape"]).astype(spec["dtype"])
