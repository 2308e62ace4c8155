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
import random
import time

import timm.optim
import torch
from safetensors.torch import load_file

import bert
import curve_detection
import curve_games
import curve_images
import curve_masked
import curve_sets
import curve_speech
import deep_speech_2
import efficientdet_d0
import inception_v3
import llama
import mask_rcnn
import minigo
import resnet50
import seq2seq
import training
import transformer
import wgan_gp

NETWORKS = {"resnet50": (resnet50, functools.partial(curve_sets.Photos, size=64)),
            "inception_v3": (inception_v3, functools.partial(curve_sets.Photos, size=139)),
            "llama": (llama, curve_sets.Prose),
            "transformer": (transformer, curve_sets.German),
            "seq2seq": (seq2seq, curve_sets.Vietnamese),
            "bert": (bert, curve_masked.MaskedProse),
            "deep_speech_2": (deep_speech_2, curve_speech.Prompts),
            "minigo": (minigo, curve_games.Games),
            "wgan_gp": (wgan_gp, curve_images.Crops),
            "mask_rcnn": (mask_rcnn, curve_detection.Stamps),
            "efficientdet_d0": (efficientdet_d0, curve_detection.BoxStamps)}
RISING = 0.05  # share of the steps, and of the rate at its begin (docs/training.md)


def optimizers_of(recipe, network, settings):
    """The recipe's own, but of LAMB, which torch has not, timm's."""
    if recipe is bert:
        return [timm.optim.Lamb(recipe.groups(network))]
    if recipe is wgan_gp:
        return recipe.optimizers_of(network)
    return [recipe.optimizer(network, settings["batch"])]


def factor(step, steps):
    """Of the rate; steps count from 1."""
    rising = int(RISING * steps)
    if step < rising:
        return RISING + (1 - RISING) * step / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / (steps - rising)))


def batches(data):
    while True:
        yield from map(data.batch, data.training)


def update(recipe, network, optimizers, data):
    """A step on the next of the data."""
    optimizer, bound = optimizers[0], recipe.clip(network)
    optimizer.zero_grad()
    loss = recipe.loss(network, next(data))
    loss.backward()
    if bound is not None:
        torch.nn.utils.clip_grad_norm_(network.parameters(), bound)
    optimizer.step()
    return loss.item()


def update_both(recipe, network, optimizers, data):
    """A step of the critic for each of its batches, then one of the generator."""
    generator, critic = optimizers
    for _ in range(network.critic_steps):
        real = next(data)["real"]
        z, alpha = torch.randn(len(real), network.Generator.Input.in_features), torch.rand(len(real), 1, 1, 1)
        loss = recipe.update_critic(network, critic, real, z, alpha)
    recipe.update_generator(network, generator, torch.randn_like(z))
    return loss


def evaluate(recipe, network, data):
    network.eval()
    with torch.inference_mode():
        metrics = data.evaluate(recipe, network)
    network.train()
    return metrics


def train(recipe, network, data, settings):
    steps, every = settings["steps"], settings["evaluate-every"]
    optimizers, taken = optimizers_of(recipe, network, settings), batches(data)
    run = update_both if recipe is wgan_gp else update
    averages = recipe.averages(network, steps) if hasattr(recipe, "averages") else None
    losses, spent, begin = [], 0.0, time.perf_counter()
    for step in range(1, steps + 1):
        for group in (group for optimizer in optimizers for group in optimizer.param_groups):
            group["lr"] = settings["lr"] * factor(step, steps)
        losses.append(run(recipe, network, optimizers, taken))
        if averages:
            averages.update(network)
        if step % every == 0 or step == steps:
            spent += time.perf_counter() - begin
            yield {"step": step, "training_seconds": spent, "training_loss": sum(losses) / len(losses),
                   "metrics": evaluate(recipe, averages.module if averages else network, data)}
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
    random.seed(settings["seed"])
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
