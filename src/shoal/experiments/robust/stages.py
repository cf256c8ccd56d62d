"""The stages of a study of robust predictions: training, examples, and what becomes of them.

Networks and examples are kept as safetensors, figures as rows, each as soon as it is done.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from shoal.experiments.robust.images import Images, read_images
from shoal.experiments.robust.setup import Setup
from shoal.experiments.runs import Row, Task, digest
from shoal.robust import (
    ARCHITECTURES,
    CarliniWagner,
    Classifier,
    Ensemble,
    EnsembleVote,
    Examples,
    Judged,
    NoisyLogit,
    Training,
    attacked,
    every_target,
    judge,
    partitioned,
    scale_for,
    shared,
    superimpose,
    sweep,
    train,
)
from shoal.robust.ensemble import read_tensors, write_tensors

MODELS = ("plain", "noisy")
THREATS = ("copy", "queries", "averages")
_CONFIDENT = 1.0  # by how much, in log probability, a vote under attack is to be turned
_SHIFT = 2  # pixels
_CRAFTING, _JUDGING = 1, 2  # seeds of the noise apart: the judged answer is a new one
_DEVIATIONS = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)  # of noise, as multiples of the study's
_SHAPES = ("laplace", "normal", "uniform")


class Study:
    """Networks, examples and figures of one setup, in one folder."""

    def __init__(self, setup: Setup, folder: Path, device: str) -> None:
        self.setup, self.folder, self.device = setup, folder, device

    def tasks(self) -> Iterator[Task]:
        """Give every stage, in the order that they need each other."""
        setup = self.setup
        yield setup.training()
        if setup.moved_epochs:
            yield setup.task("moved")
        for model in MODELS:
            yield from self._crafts(model)
        yield {**setup.crafting("plain", 0, setup.samples), "stage": "closer"}
        for model in MODELS:
            yield setup.task("single", model=model)
            yield setup.task("own", model=model)
            for count in (2, 3):
                yield setup.task("superimposed", model=model, count=count)
        for threat in THREATS:
            yield setup.task("adaptive", threat=threat)
        yield setup.task("sweep")

    def measure(self, task: Task) -> Row:
        """Do one stage."""
        stage: Row = getattr(self, f"_{task['stage']}")(task)
        return stage

    def _crafts(self, model: str) -> Iterator[Task]:
        """Give the pictures of the single-network attack first, which is timed, then the rest."""
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
        return Ensemble.load(self._kept(self.setup.training()), device=self.device)

    def noisy(self, seed: int) -> NoisyLogit:
        """Return the networks behind noise."""
        return NoisyLogit(self.ensemble, self.setup.noise, seed=seed)

    def judged_by(self, model: str) -> Classifier:
        """Return the model that is put to the test."""
        return self.ensemble if model == "plain" else self.noisy(_JUDGING)

    def examples(self, model: str, samples: int) -> tuple[Examples, Tensor, Tensor]:
        """Return examples of the first pictures, their labels, and which picture each is of."""
        tasks = [task for task in self._crafts(model) if task["first"] < samples]
        parts = [read_tensors(self._kept(task))[0] for task in tasks]
        joined = {name: torch.cat([p[name] for p in parts], dim) for name, dim in _AXES.items()}
        chosen = joined["samples"] < samples
        kept = {
            name: values[:, chosen] if _AXES[name] else values[chosen]
            for name, values in joined.items()
        }
        labels, places = kept.pop("labels"), kept.pop("samples")
        found = Examples(**{name: values.to(self.device) for name, values in kept.items()})
        return found, labels, places

    def _kept(self, task: Task) -> Path:
        return self.folder / "kept" / f"{digest(task)}.safetensors"

    def _train(self, task: Task) -> Row:
        return self._learned(task, Training(epochs=task["epochs"], precision=task["precision"]))

    def _moved(self, task: Task) -> Row:
        """Ours: the same networks from pictures moved by a pixel or two, which are not attacked."""
        epochs, precision = task["moved_epochs"], task["precision"]
        return self._learned(task, Training(epochs=epochs, precision=precision, shift=_SHIFT))

    def _learned(self, task: Task, how: Training) -> Row:
        setup, images = self.setup, self.images
        learned = len(images.pictures) - setup.validation
        if setup.partitioned:
            members = partitioned(learned, setup.temperatures, size=setup.rows, seed=setup.seed)
        else:
            members = shared(min(learned, setup.rows), setup.temperatures, seed=setup.seed)
        path = self._kept(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        with _Clock(self.device) as took:
            found = train(
                ARCHITECTURES[setup.data],
                images.pictures,
                images.labels,
                members,
                how,
                device=self.device,
                checkpoint=path.with_suffix(".checkpoint"),
            )
        found.save(path, force=True)
        told = {"seconds": took.seconds, "device": _name(self.device)}
        return {**told, **self._validated(found)}

    def _validated(self, networks: Ensemble) -> Row:
        """Ask each network and the vote about the pictures held back, without noise and with."""
        count = self.setup.validation
        pictures = self.images.pictures[-count:].to(self.device)
        labels = self.images.labels[-count:]
        found: Row = {"temperatures": self.setup.temperatures}
        asked = {"plain": networks, "noisy": NoisyLogit(networks, self.setup.noise, seed=_JUDGING)}
        for model, each in asked.items():
            found[f"single_{model}"] = each.accuracy(pictures, labels).tolist()
            found[f"vote_{model}"] = float(EnsembleVote(each).accuracy(pictures, labels)[0])
        return found

    def _craft(self, task: Task) -> Row:
        """Attack every network with every picture towards every class but its own."""
        setup = self.setup
        rows = slice(task["first"], task["last"])
        pictures, labels = self.images.tests[rows], self.images.test_labels[rows]
        places, goals, truth = every_target(pictures, labels)
        model = self.ensemble if task["model"] == "plain" else self.noisy(_CRAFTING)
        attack = CarliniWagner(
            steps=setup.steps,
            searches=setup.searches,
            constant=setup.constant,
            rate=setup.rate,
            published=task["stage"] == "craft",
        )
        with _Clock(self.device) as took:
            found = attack.run(model, pictures[places], goals)
        tensors = {name: getattr(found, name) for name in _AXES if hasattr(found, name)}
        tensors |= {"labels": truth, "samples": places + task["first"]}
        write_tensors(self._kept(task), tensors, {}, force=True)
        return {
            "seconds": took.seconds,
            "device": _name(self.device),
            "examples": found.success.numel(),
            "success": float(found.success.double().mean()),
            "distance": _mean(found.distances[found.success]),
            "perturbation": _mean(found.perturbations[found.success]),
        }

    def _closer(self, task: Task) -> Row:
        """Ours: the same attack on networks without defence, by a search that ends sooner."""
        return self._craft(task)

    def _single(self, task: Task) -> Row:
        """Tables 4.3 and 4.4, figures 4.1 to 4.6: all networks and the vote on each example."""
        found, labels, samples = self.examples(task["model"], self.setup.samples)
        return _told(judge(found, labels, self.judged_by(task["model"]), samples=samples))

    def _own(self, task: Task) -> Row:
        """Section 4.4: what the attacked network itself makes of its example."""
        found, labels, samples = self.examples(task["model"], self.setup.samples)
        with torch.no_grad():
            named = self.judged_by(task["model"]).logits(found.adversarial).argmax(dim=-1).cpu()
        goals = found.goals.cpu()
        return {
            "correct": float((named == labels).double().mean()),
            "target": float((named == goals).double().mean()),
            "networks": len(named),
            "columns": {
                "sample": samples.tolist(),
                "goal": goals.tolist(),
                "label": labels.tolist(),
                "named": named.tolist(),
                "perturbation": found.perturbations.cpu().tolist(),
            },
        }

    def _superimposed(self, task: Task) -> Row:
        """Tables 4.5 to 4.8: the smallest perturbations of a picture laid over each other."""
        count = task["count"]
        pictures = {2: self.setup.twos, 3: self.setup.threes}[count]
        found, labels, samples = self.examples(task["model"], pictures)
        together = superimpose(found, count)
        return {
            "enough": float(together.success.double().mean()),
            **_told(judge(together, labels, self.judged_by(task["model"]), samples=samples)),
        }

    def _adaptive(self, task: Task) -> Row:
        """Ours: one who knows the defence attacks noise and vote as one."""
        setup = self.setup
        pictures = self.images.tests[: setup.samples]
        places, goals, truth = every_target(pictures, self.images.test_labels[: setup.samples])
        model = attacked(
            EnsembleVote(self.noisy(_CRAFTING)),
            task["threat"],
            copy=EnsembleVote(self.ensemble),
            queries=setup.queries,
        )
        attack = CarliniWagner(
            steps=setup.climbs, searches=4, rate=0.05, constant=1.0, confidence=_CONFIDENT
        )
        with _Clock(self.device) as took:
            found = attack.run(model, pictures[places], goals)
        judged = {m: _told(judge(found, truth, self.judged_by(m), samples=places)) for m in MODELS}
        return {
            "seconds": took.seconds,
            "success": float(found.success.double().mean()),
            "perturbation": _mean(found.perturbations[found.success]),
            **judged,
        }

    def _sweep(self, task: Task) -> Row:
        """Ask the thesis's open question: how much noise, of which shape, over how many networks.

        Judged on examples that carry over most: three perturbations found against copies.
        """
        found, labels, _ = self.examples("plain", self.setup.threes)
        together = superimpose(found, 3)
        tests = slice(0, 1000)
        deviations = [step * self.setup.noise * 2**0.5 for step in _DEVIATIONS]
        most = self.setup.networks
        counts = sorted({1, 3, 5, 10, 20, most} & set(range(1, most + 1)))
        rows: list[Row] = []
        for shape in _SHAPES:
            swept = sweep(
                self.ensemble,
                self.images.tests[tests].to(self.device),
                self.images.test_labels[tests],
                together,
                labels,
                scales=[scale_for(shape, deviation) for deviation in deviations],
                distributions=[shape],
                networks=counts,
            )
            rows += swept.to_pylist()
        return {"swept": rows}


_AXES = {  # along which axis examples of more pictures are joined
    "originals": 0,
    "goals": 0,
    "adversarial": 1,
    "success": 1,
    "labels": 0,
    "samples": 0,
}


class _Clock:
    """Seconds by the wall of a block, with what a GPU still has to do in it."""

    def __init__(self, device: str) -> None:
        self.device, self.seconds = device, 0.0

    def __enter__(self) -> _Clock:
        self._wait()
        self._begun = time.perf_counter()
        return self

    def __exit__(self, *_: object) -> None:
        self._wait()
        self.seconds = time.perf_counter() - self._begun

    def _wait(self) -> None:
        if self.device == "cuda":
            torch.cuda.synchronize()


def _told(judged: Judged) -> Row:
    """Return what was judged as plain values: the means, and one column a field."""
    return {
        "vote_clean": judged.accuracy_clean,
        "vote_attacked": judged.accuracy_attacked,
        "single_clean": judged.single_clean,
        "single_attacked": judged.single_attacked,
        "networks": judged.networks,
        "columns": judged.examples.to_pydict(),
    }


def _mean(values: Tensor) -> Any:
    return float(values.mean()) if len(values) else None


def _name(device: str) -> str:
    return str(torch.cuda.get_device_name()) if device == "cuda" else f"{_threads()} threads"


def _threads() -> int:
    return int(torch.get_num_threads())
