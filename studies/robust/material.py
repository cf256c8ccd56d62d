"""Shared by the stages of a study of robust predictions: pictures, networks, examples, a clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from shoal.robust import Classifier, Ensemble, Examples, NoisyLogit
from shoal.robust.ensemble import read_tensors
from studies.robust.images import Images, read_images
from studies.robust.setup import Setup
from studies.runs import Task, digest

MODELS = ("plain", "noisy")
CRAFTING, JUDGING = 1, 2  # seeds of the noise apart: the judged answer is a new one
AXES = {  # along which axis examples of more pictures are joined
    "originals": 0,
    "goals": 0,
    "adversarial": 1,
    "success": 1,
    "labels": 0,
    "samples": 0,
}


class Material:
    """Pictures, networks and examples of one setup, in one folder."""

    def __init__(self, setup: Setup, folder: Path, device: str) -> None:
        self.setup, self.folder, self.device = setup, folder, device

    def crafts(self, model: str) -> Iterator[Task]:
        """Return the timed pictures of the single-network attack first, then the rest."""
        first, last = self.setup.samples, self.setup.crafted
        yield self.setup.crafting(model, 0, first)
        if last > first:
            yield self.setup.crafting(model, first, last)

    @cached_property
    def images(self) -> Images:
        """The pictures."""
        return read_images(self.setup.data)

    @cached_property
    def ensemble(self) -> Ensemble:
        """The trained networks, without defence."""
        return Ensemble.load(self.kept(self.setup.training()), device=self.device)

    def noisy(self, seed: int) -> NoisyLogit:
        """Return the networks behind noise."""
        return NoisyLogit(self.ensemble, self.setup.noise, seed=seed)

    def judged_by(self, model: str) -> Classifier:
        """Return the model that classifies the examples."""
        return self.ensemble if model == "plain" else self.noisy(JUDGING)

    def examples(self, model: str, samples: int) -> tuple[Examples, Tensor, Tensor]:
        """Return examples of the first pictures, their labels, and which picture each is of."""
        tasks = [task for task in self.crafts(model) if task["first"] < samples]
        parts = [read_tensors(self.kept(task))[0] for task in tasks]
        joined = {name: torch.cat([p[name] for p in parts], dim) for name, dim in AXES.items()}
        chosen = joined["samples"] < samples
        kept = {
            name: values[:, chosen] if AXES[name] else values[chosen]
            for name, values in joined.items()
        }
        labels, places = kept.pop("labels"), kept.pop("samples")
        found = Examples(**{name: values.to(self.device) for name, values in kept.items()})
        return found, labels, places

    def kept(self, task: Task) -> Path:
        """Return where the tensors of a task are kept."""
        return self.folder / "kept" / f"{digest(task)}.safetensors"


class Clock:
    """Wall-clock seconds of a block, with the pending work of a GPU."""

    def __init__(self, device: str) -> None:
        self.device, self.seconds = device, 0.0

    def __enter__(self) -> Clock:
        self._wait()
        self._begun = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self._wait()
        self.seconds = time.perf_counter() - self._begun

    def _wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()


def mean_of(values: Tensor) -> Any:
    """Return the mean, or None without values."""
    return float(values.mean()) if len(values) else None


def name_of(device: str) -> str:
    """Return the name of the device."""
    if device == "cuda":
        return str(torch.cuda.get_device_name())
    return f"{torch.get_num_threads()} threads"
