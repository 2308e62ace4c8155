"""Tensors by name in one file: 8 bytes of length, a JSON header of dtype, shape and offsets, then the bytes."""
import json

import numpy as np

TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "U8": "u1", "BOOL": "?"}
NAMES = {np.dtype(text): name for name, text in TYPES.items()}


def read(path):
    with open(path, "rb") as file:
        content = file.read()
    size = int.from_bytes(content[:8], "little")
    header, data = json.loads(content[8:8 + size]), memoryview(content)[8 + size:]
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        if entry["dtype"] not in TYPES:
            raise ValueError(f"{path}: '{name}' has the element type {entry['dtype']}, which is not read here")
        begin, end = entry["data_offsets"]
        flat = np.frombuffer(data[begin:end], dtype=TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"]).copy()
    return tensors


def write(path, tensors):
    header, parts, offset = {}, [], 0
    for name, tensor in sorted(tensors.items()):
        part = np.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": NAMES[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [offset, offset + len(part)]}
        parts.append(part)
        offset += len(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text + b"".join(parts))
