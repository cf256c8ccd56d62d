"""Job: train networks for the digits and store them, or attack the stored networks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jobs import answer, receive
from meter import metered

FOLDER, JOB = receive()

import numpy as np  # noqa: E402
import torch  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

from shoal.robust import (  # noqa: E402
    DIGITS,
    CarliniWagner,
    Ensemble,
    Training,
    every_target,
    shared,
    train,
)

SHARED = Path(JOB["shared"])
LEARNED = 1437  # rows; the rest is for tests and attacks


def main() -> None:
    torch.set_num_threads(1)
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
    labels = torch.tensor(digits.target)
    answer(FOLDER, {"train": learn, "attack": attack}[JOB["kind"]](images, labels))


def learn(images: Any, labels: Any) -> dict[str, Any]:
    """Train five networks, and store them with the rows to attack."""
    members = shared(LEARNED, [1, 2, 5, 10, 20], seed=7)
    with metered() as cost:
        networks = train(DIGITS, images, labels, members, Training(epochs=30, rate=0.05))
    held, truth = images[LEARNED:], labels[LEARNED:]
    networks.save(SHARED / "networks.safetensors")
    right = (networks.labels(held) == truth).all(dim=0).nonzero().flatten()
    np.savez(SHARED / "rows.npz", images=held[right].numpy(), labels=truth[right].numpy())
    weights = networks.stack.weights()
    apart = [{name: value[n].clone() for name, value in weights.items()} for n in range(5)]
    torch.save(apart, SHARED / "networks.pt")
    return {**cost, "accuracy": float(networks.accuracy(held, truth).mean())}


def attack(_: Any, __: Any) -> dict[str, Any]:
    """Attack the first networks with the first pictures, toward every other class."""
    networks = Ensemble.load(SHARED / "networks.safetensors").subset(range(JOB["networks"]))
    with np.load(SHARED / "rows.npz") as stored:
        images, labels = (torch.tensor(stored[name]) for name in ("images", "labels"))
    images, labels = images[: JOB["pictures"]], labels[: JOB["pictures"]]
    pictures, goals, _ = every_target(images, labels)
    with metered() as cost:
        found = CarliniWagner(**JOB["settings"]).run(networks, images[pictures], goals)
    lengths = torch.where(found.success, found.distances, 0.0)
    return {
        **cost,
        "success": float(found.success.double().mean()),
        "length": float(lengths.sum() / found.success.sum()),
        "lengths": lengths.flatten().tolist(),
    }


main()
