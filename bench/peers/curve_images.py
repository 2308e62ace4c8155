"""Images without labels as a Python program reads them, and the distance of made ones from them."""

import torch
from torch.nn import functional
from torch.utils.data import DataLoader
from torchvision import transforms
from torchvision.datasets import ImageFolder

PATCH, PATCHES, DIRECTIONS, COMPARED = 7, 128, 512, 128
DRAWS = 8  # of held-out images, of which there are not many more than are compared


def patches(images, rows, columns):
    """Of each image those that begin there, each channel with mean 0 and deviation 1 over all of them."""
    every = functional.unfold(images, PATCH).unflatten(1, (images.shape[1], -1))
    places = (rows * (images.shape[3] - PATCH + 1) + columns)[:, None, None].expand(-1, *every.shape[1:3], -1)
    points = every.gather(3, places).permute(1, 2, 0, 3).flatten(2)
    points = points - points.mean((1, 2), keepdim=True)
    return (points / points.std((1, 2), keepdim=True, correction=0)).flatten(0, 1)


def patch_distance(made, real):
    """Sliced Wasserstein distance times 1000 (Karras et al. 2018, arXiv:1710.10196, section 5)."""
    rows, columns = torch.randint(made.shape[3] - PATCH + 1, (2, len(made), PATCHES))
    axes = functional.normalize(torch.randn(DIRECTIONS, made.shape[1] * PATCH**2), dim=1)
    along = [(axes @ patches(images, rows, columns)).sort(1).values for images in (made, real)]
    return 1000 * (along[0] - along[1]).abs().mean().item()


class Crops:
    """One folder of images of a split, in [-1, 1]."""

    resolution = {}

    def __init__(self, folder, network, batch):
        numbers = transforms.Compose([transforms.ToTensor(), transforms.Normalize((0.5,) * 3, (0.5,) * 3)])
        images = [image for image, _ in ImageFolder(folder, numbers, allow_empty=True)]
        parts = ImageFolder(folder, allow_empty=True).targets
        training, self.held_out = (torch.stack([image for image, part in zip(images, parts) if part == wanted])
                                   for wanted in (0, 1))  # train_16x16, valid_16x16
        self.training = DataLoader(training, batch, shuffle=True, drop_last=True)
        self.noise = torch.randn(COMPARED, network.Generator.Input.in_features).split(batch)

    def batch(self, loaded):
        return {"real": loaded.contiguous(memory_format=torch.channels_last)}

    def evaluate(self, recipe, network):
        made = torch.cat([network.Generator(z) for z in self.noise])
        distances = [patch_distance(made, self.held_out[torch.randperm(len(self.held_out))[:COMPARED]])
                     for _ in range(DRAWS)]
        return {"patch_swd": sum(distances) / DRAWS}
