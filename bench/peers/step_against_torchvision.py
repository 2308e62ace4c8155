"""Is a step of tbd the step that torchvision's own ResNet-50 takes? Every tensor, in double.

    ENVIRONMENT/bin/python bench/peers/step_against_torchvision.py --program PROGRAM [--steps 3] [--batch 2]

ENVIRONMENT is what bench/peers/setup.sh made. Exit 1 when a relative difference exceeds --tolerance.
"""

import argparse
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import torch
import torchvision

TYPES = {"F64": torch.float64, "F32": torch.float32, "I32": torch.int32, "I64": torch.int64}


def read(path):
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    tensors = {}
    for name, entry in json.loads(content[8 : 8 + length]).items():
        begin, end = entry["data_offsets"]
        flat = torch.frombuffer(bytearray(content[8 + length + begin : 8 + length + end]), dtype=TYPES[entry["dtype"]])
        tensors[name] = flat.reshape(entry["shape"])
    return tensors


def reference(weights, batch, steps):
    """The tensors of docs/step.md, from torchvision and torch.optim."""
    model = torchvision.models.resnet50().double()
    missing, unexpected = model.load_state_dict(weights, strict=False)
    left = unexpected + [name for name in missing if not name.endswith("num_batches_tracked")]
    if left:
        sys.exit(f"names that only one side knows: {left}")
    image, label = batch["image"].double(), batch["label"].long()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * len(image) / 256, momentum=0.9, weight_decay=1e-4)
    for _ in range(steps):
        optimizer.zero_grad()
        logits = model(image)
        loss = torch.nn.functional.cross_entropy(logits, label)
        loss.backward()
        optimizer.step()
    out = {"loss": loss.detach(), "output/logits": logits.detach()}
    for name, parameter in model.named_parameters():
        out[f"grad/{name}"] = parameter.grad
        out[f"param/{name}"] = parameter.detach()
        out[f"state/{name}/momentum"] = optimizer.state[parameter]["momentum_buffer"]
    out |= {f"buffer/{name}": value for name, value in model.named_buffers() if value.is_floating_point()}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--tolerance", type=float, default=1e-12)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        weights, batch, out = (Path(folder) / name for name in ("w", "b", "o"))
        subprocess.run([arguments.program, "step", "resnet50", "--precision", "fp64", "--batch", str(arguments.batch),
                        "--steps", str(arguments.steps), "--save-weights", weights, "--save-inputs", batch, "--out", out],
                       check=True)
        ours, theirs = read(out), reference(read(weights), read(batch), arguments.steps)
    worst = {}
    for name, value in theirs.items():
        error = ((ours[name].double() - value).norm() / value.norm().clamp_min(1e-300)).item()
        group = name.split("/")[0]
        worst[group] = max(worst.get(group, (0.0, "")), (error, name))
    for group, (error, name) in worst.items():
        print(f"{group:8} worst relative difference {error:.3g} {name}")
    print(f"{len(theirs)} tensors compared")
    sys.exit(max(error for error, _ in worst.values()) > arguments.tolerance)


if __name__ == "__main__":
    main()
