"""Job: foolbox's Carlini–Wagner on stored networks, one by one, without Shoal."""

from __future__ import annotations

from pathlib import Path

import foolbox
import numpy as np
import torch
from torch import nn

from jobs import answer, receive
from meter import metered


def network(weights: dict[str, torch.Tensor]) -> nn.Module:
    """Return the network of the 8 × 8 digits with these weights, without gradients."""
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
    with np.load(shared / "rows.npz") as kept:
        images, labels = kept["images"][:count], kept["labels"][:count]
    pairs = [(p, goal) for p in range(len(labels)) for goal in range(10) if goal != labels[p]]
    rows = torch.tensor(images[[p for p, _ in pairs]])
    goals = torch.tensor([goal for _, goal in pairs])
    stored = torch.load(shared / "networks.pt", weights_only=True)[: job["networks"]]
    models = [foolbox.PyTorchModel(network(w), bounds=(0, 1), device="cpu") for w in stored]
    asked = job["settings"]
    attack = foolbox.attacks.L2CarliniWagnerAttack(
        binary_search_steps=asked["searches"],
        steps=asked["steps"],
        stepsize=asked["rate"],
        initial_const=asked["constant"],
    )
    wanted = foolbox.criteria.TargetedMisclassification(goals)
    with metered() as cost:
        each = [attack(model, rows, wanted, epsilons=None) for model in models]
    found = torch.cat([adversarial for _, adversarial, _ in each])
    success = torch.cat([reached for _, _, reached in each])
    originals = rows.repeat(len(models), 1, 1, 1)
    lengths = torch.where(success, (found - originals).flatten(1).double().norm(dim=1), 0.0)
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
