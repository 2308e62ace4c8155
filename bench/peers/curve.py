"""Trains a network on a small real set in idiomatic PyTorch, as a plan says; driven by bench/curve_peers.py.

    python bench/peers/curve.py --data FOLDER --out FILE [--weights FILE] SETTINGS

SETTINGS is a JSON object of the plan's settings: model, config, data, batch, steps, lr, evaluate-every, seed, threads.
FOLDER has the small sets. The metrics of each evaluation go to --out. --weights: evaluates these and does not train.
"""

import argparse
import functools
import json
import math
import pathlib
import time

import timm.optim
import torch
from safetensors.torch import load_file

import bert
import curve_games
import curve_masked
import curve_sets
import curve_speech
import deep_speech_2
import inception_v3
import llama
import minigo
import resnet50
import seq2seq
import training
import transformer

NETWORKS = {"resnet50": (resnet50, functools.partial(curve_sets.Photos, size=64)),
            "inception_v3": (inception_v3, functools.partial(curve_sets.Photos, size=139)),
            "llama": (llama, curve_sets.Prose),
            "transformer": (transformer, curve_sets.German),
            "seq2seq": (seq2seq, curve_sets.Vietnamese),
            "bert": (bert, curve_masked.MaskedProse),
            "deep_speech_2": (deep_speech_2, curve_speech.Prompts),
            "minigo": (minigo, curve_games.Games)}
RISING = 0.05  # share of the steps, and of the rate at its begin (docs/training.md)


def optimizer_of(recipe, network, settings):
    """The recipe's own, but of LAMB, which torch has not, timm's."""
    if recipe is bert:
        optimizer = timm.optim.Lamb(recipe.groups(network))
    else:
        optimizer = recipe.optimizer(network, settings["batch"])
    for group in optimizer.param_groups:
        group["lr"] = settings["lr"]
    return optimizer


def factor(step, steps):
    """Of the rate; steps count from 1."""
    rising = int(RISING * steps)
    if step < rising:
        return RISING + (1 - RISING) * step / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / (steps - rising)))


def batches(data):
    while True:
        yield from map(data.batch, data.training)


def evaluate(recipe, network, data):
    network.eval()
    with torch.inference_mode():
        metrics = data.evaluate(recipe, network)
    network.train()
    return metrics


def train(recipe, network, data, settings):
    steps, every = settings["steps"], settings["evaluate-every"]
    optimizer, bound = optimizer_of(recipe, network, settings), recipe.clip(network)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda done: factor(done + 1, steps))
    losses, spent, begin = [], 0.0, time.perf_counter()
    for step, batch in zip(range(1, steps + 1), batches(data)):
        optimizer.zero_grad()
        loss = recipe.loss(network, batch)
        loss.backward()
        if bound is not None:
            torch.nn.utils.clip_grad_norm_(network.parameters(), bound)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % every == 0 or step == steps:
            spent += time.perf_counter() - begin
            yield {"step": step, "training_seconds": spent, "training_loss": sum(losses) / len(losses),
                   "metrics": evaluate(recipe, network, data)}
            losses, begin = [], time.perf_counter()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--weights")
    parser.add_argument("settings", type=json.loads)
    arguments = parser.parse_args()
    settings = arguments.settings
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(settings["seed"])
    recipe, read = NETWORKS[settings["model"]]
    network = recipe.build(settings["config"])
    data = read(arguments.data / settings["data"], network, settings["batch"])
    if arguments.weights:
        training.load(network, load_file(arguments.weights))
        evaluations = [{"metrics": evaluate(recipe, network, data)}]
    else:
        evaluations = list(train(recipe, network, data, settings))
    result = {"settings": settings, "torch": torch.__version__, "resolution": data.resolution}
    arguments.out.write_text(json.dumps(result | {"evaluations": evaluations}) + "\n")


if __name__ == "__main__":
    main()
