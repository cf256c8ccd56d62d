"""Recipes: what the published description of training on CIFAR-10 leaves open, one by one.

The published mean accuracy of one network is 0.795; Table 4.2, as printed, gives less. Each variant
changes what the table does not state: how pixels are centred, the kind of momentum, the starting
weights, the number of filters, the edges of pictures, dropout, moved pictures.
Run by `python -m studies.robust.recipes`; on one H200 ten networks take six minutes.
Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, chapter 4.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from studies.robust.images import read_images

_RATE, _DECAY, _MOMENTUM, _BATCH = 0.01, 1e-6, 0.9, 128
_CLASSES, _HIDDEN, _TESTED = 10, 256, 1_000


@dataclass(frozen=True)
class Recipe:
    """One way to train; the defaults are Shoal's.

    centred: pixels from −0.5 to 0.5 instead of 0 to 1. nesterov: the kind of momentum.
    glorot: starting weights of Glorot & Bengio instead of He et al. padded: keep the edges.
    dropout_twice: dropout behind both hidden layers instead of the first. mirrored: flip half of
    the pictures at each step. shift: move them by up to this many pixels.
    """

    centred: bool = False
    nesterov: bool = False
    glorot: bool = False
    filters: tuple[int, ...] = (64, 64, 64, 64)
    padded: bool = False
    dropout_twice: bool = False
    mirrored: bool = False
    shift: int = 0


RECIPES = {
    "as printed": Recipe(),
    "centred": Recipe(centred=True),
    "Nesterov": Recipe(nesterov=True),
    "Glorot": Recipe(glorot=True),
    "centred, Nesterov, Glorot": Recipe(centred=True, nesterov=True, glorot=True),
    "128 filters": Recipe(filters=(64, 64, 128, 128)),
    "centred, padded": Recipe(centred=True, padded=True),
    "centred, dropout twice": Recipe(centred=True, dropout_twice=True),
    "centred, mirrored": Recipe(centred=True, mirrored=True),
    "centred, mirrored, shifted": Recipe(centred=True, mirrored=True, shift=3),
}


def build(recipe: Recipe, shape: Sequence[int]) -> nn.Sequential:
    """Return the network of Table 4.1 with its starting weights."""
    layers: list[nn.Module] = []
    channels, side = shape[0], shape[1]
    for index, filters in enumerate(recipe.filters):
        layers += [nn.Conv2d(channels, filters, 3, padding=int(recipe.padded)), nn.ReLU()]
        channels, side = filters, side if recipe.padded else side - 2
        if index % 2:
            layers.append(nn.MaxPool2d(2))
            side //= 2
    layers += [nn.Flatten(), nn.Linear(channels * side * side, _HIDDEN), nn.ReLU()]
    layers += [nn.Dropout(0.5), nn.Linear(_HIDDEN, _HIDDEN), nn.ReLU()]
    layers += [nn.Dropout(0.5)] if recipe.dropout_twice else []
    network = nn.Sequential(*layers, nn.Linear(_HIDDEN, _CLASSES))
    for layer in network:
        if isinstance(layer, nn.Conv2d | nn.Linear):
            if recipe.glorot:
                nn.init.xavier_uniform_(layer.weight)
            else:
                nn.init.kaiming_uniform_(layer.weight, nonlinearity="relu")
            nn.init.zeros_(layer.bias)
    return network


def move(pictures: Tensor, recipe: Recipe) -> Tensor:
    """Return the pictures of one step, mirrored and shifted at random."""
    count, side = len(pictures), pictures.shape[2]
    if recipe.mirrored:
        flipped = torch.rand(count, 1, 1, 1, device=pictures.device) < 0.5
        pictures = torch.where(flipped, pictures.flip(3), pictures)
    if recipe.shift:
        width, grid = recipe.shift, torch.arange(side, device=pictures.device)
        wide = functional.pad(pictures, (width,) * 4, mode="replicate")
        down, right = torch.randint(0, 2 * width + 1, (2, count, 1, 1), device=pictures.device)
        rows = torch.arange(count, device=pictures.device).view(-1, 1, 1)
        moved = wide[rows, :, grid.view(1, -1, 1) + down, grid.view(1, 1, -1) + right]
        pictures = moved.permute(0, 3, 1, 2)
    return pictures


def validate(
    recipe: Recipe,
    pictures: Tensor,
    labels: Tensor,
    *,
    temperature: float,
    epochs: int,
    validation: int,
    seed: int = 0,
) -> float:
    """Train one network and return its accuracy on rows that were held back.

    Parameters:
        recipe: How to train.
        pictures: (rows, channels, height, width) pixels from 0 to 1.
        labels: (rows,) their classes.
        temperature: Divides the logits in training.
        epochs: Passes over the training rows.
        validation: Number of rows held back.
        seed: Of the split, the starting weights, the order and the moves.

    Returns:
        The share of the rows held back that the network classifies correctly.
    """
    torch.manual_seed(seed)
    pictures = pictures - 0.5 if recipe.centred else pictures
    order = torch.randperm(len(pictures), device=pictures.device)
    held, rows = order[:validation], order[validation:]
    network = build(recipe, pictures.shape[1:]).to(pictures.device)
    descent = torch.optim.SGD(
        network.parameters(), lr=_RATE, momentum=_MOMENTUM, nesterov=recipe.nesterov
    )
    decayed = torch.optim.lr_scheduler.LambdaLR(descent, lambda step: 1 / (1 + _DECAY * step))
    for _ in range(epochs):
        shuffled = rows[torch.randperm(len(rows), device=rows.device)]
        for batch in shuffled.split(_BATCH):
            logits = network(move(pictures[batch], recipe))
            loss = functional.cross_entropy(logits / temperature, labels[batch])
            descent.zero_grad()
            loss.backward()
            descent.step()
            decayed.step()
    network.eval()
    with torch.no_grad():
        right = [
            int((network(pictures[part]).argmax(1) == labels[part]).sum())
            for part in held.split(_TESTED)
        ]
    return sum(right) / validation


def main(arguments: Sequence[str] | None = None) -> None:
    """Train a network by each recipe and temperature, and print its accuracy."""
    parser = argparse.ArgumentParser(prog="python -m studies.robust.recipes")
    parser.add_argument("--data", default="cifar10")
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--validation", type=int, default=5_000)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--temperatures", type=float, nargs="+", default=[10.0, 500.0])
    given = parser.parse_args(arguments)
    images = read_images(given.data)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    pictures, labels = images.pictures.to(device), images.labels.to(device)
    for name, recipe in RECIPES.items():
        for temperature in given.temperatures:
            for seed in range(given.seeds):
                right = validate(
                    recipe,
                    pictures,
                    labels,
                    temperature=temperature,
                    epochs=given.epochs,
                    validation=given.validation,
                    seed=seed,
                )
                sys.stdout.write(f"{name}, T = {temperature:g}, seed {seed}: {right:.3f}\n")


if __name__ == "__main__":
    main()
