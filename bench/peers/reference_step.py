"""The tensors of docs/step.md as the public Python implementations compute them (step_against_reference.py)."""

import functools
import importlib

import torch

import training

SLOTS = {"momentum_buffer": "momentum", "exp_avg": "exp_avg", "exp_avg_sq": "exp_avg_sq"}
OF_FAIRSEQ = ("seq2seq", "transformer")


def chosen(model, config, own):
    """Network, loss, recipe: fairseq's class, that of torchvision or transformers, or this project's own."""
    recipe = importlib.import_module(model)
    if model in OF_FAIRSEQ and not own and not config.startswith("gnmt"):
        fairseq = importlib.import_module("fairseq_reference")
        return fairseq.build(model, config), fairseq.loss_of(model, recipe), recipe
    return recipe.build(config, dropout=False), getattr(recipe, "reference_loss", getattr(recipe, "loss", None)), recipe


def exact(network, recipe):
    """In double, parts too that a class computes in float whatever its weights' type."""
    if hasattr(network, "exact"):
        return network.exact()
    return recipe.exact(network) if hasattr(recipe, "exact") else network.double()


def tensors(model, config, own, weights, batch_path, dtype, steps):
    network, loss_of, recipe = chosen(model, config or "canonical", own)
    network = (exact(network, recipe) if dtype == torch.double else network).train()
    network.to(memory_format=torch.contiguous_format)
    training.load(network, {name: value.to(dtype) for name, value in weights.items()})
    parameters = [(name, value) for name, value in network.named_parameters() if name in weights]
    out = {}

    def on_gradients():
        out.update({f"grad/{name}": value.grad.clone() for name, value in parameters if value.grad is not None})

    batch = {name: value.contiguous() for name, value in training.batch_of(batch_path, dtype).items()}
    make = getattr(recipe, "stepper", functools.partial(training.stepper, recipe))
    step, optimizer = make(network, batch, loss_of=loss_of, on_gradients=on_gradients)
    loss = [step() for _ in range(steps)][-1]
    of_phases = loss if isinstance(loss, dict) else {"": loss}
    out |= {f"loss/{phase}".rstrip("/"): torch.tensor(each, dtype=torch.double) for phase, each in of_phases.items()}
    out |= {f"term/{name}": value.detach() for name, value in getattr(network, "terms", {}).items()}
    for name, parameter in parameters:
        out[f"param/{name}"] = parameter.detach()
        state = optimizer.state.get(parameter, {})  # none before its phase first runs
        out |= {f"state/{name}/{slot}": state[key] for key, slot in SLOTS.items() if key in state}
    return out | {f"buffer/{name}": value for name, value in network.named_buffers() if name in weights}
