"""Job: foolbox's Carlini–Wagner on a network that was left, without Shoal."""

from __future__ import annotations

from pathlib import Path

import foolbox
import numpy as np
import torch
from torch import nn

from jobs import answer, receive
from meter import metered


def network(weights: dict[str, torch.Tensor]) -> nn.Module:
    """Return the network of the 8 × 8 digits with these weights, which take no gradients."""
    layers: list[nn.Module] = []
    channels = 1
    for filters in (8, 16):
        for _ in range(2):
            layers += [nn.Conv2d(channels, filters, 3, padding=1), nn.ReLU()]
            channels = filters
        layers.append(nn.MaxPool2d(2))
    layers += [nn.Flatten(), nn.Linear(64, 64), nn.ReLU(), nn.Identity()]
    layers += [nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)]
    made = nn.Sequential(*layers)
    made.load_state_dict(weights)
    return made.eval().requires_grad_(False)


def main() -> None:
    folder, job = receive()
    torch.set_num_threads(1)
    shared, count = Path(job["shared"]), job["pictures"]
    with np.load(shared / "rows.npz") as stored:
        images, labels = stored["images"][:count], stored["labels"][:count]
    pairs = [(p, goal) for p in range(len(labels)) for goal in range(10) if goal != labels[p]]
    rows = torch.tensor(images[[p for p, _ in pairs]])
    goals = torch.tensor([goal for _, goal in pairs])
    weights = torch.load(shared / "network.pt", weights_only=True)
    model = foolbox.PyTorchModel(network(weights), bounds=(0, 1), device="cpu")
    asked = job["settings"]
    attack = foolbox.attacks.L2CarliniWagnerAttack(
        binary_search_steps=asked["searches"],
        steps=asked["steps"],
        stepsize=asked["rate"],
        initial_const=asked["constant"],
    )
    with metered() as cost:
        _, found, success = attack(
            model, rows, foolbox.criteria.TargetedMisclassification(goals), epsilons=None
        )
    lengths = torch.where(success, (found - rows).flatten(1).double().norm(dim=1), 0.0)
    answer(
        folder,
        {
            **cost,
            "success": float(success.double().mean()),
            "length": float(lengths.sum() / success.sum()),
            "lengths": lengths.tolist(),
        },
    )


main()
