"""The stages of a study of robust predictions: training, examples, and their evaluation.

Networks and examples are kept as safetensors, figures as rows, each as soon as it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from studies.robust import attacking, judging, learning
from studies.robust.attacking import KNOWN
from studies.robust.material import MODELS, Material
from studies.runs import Row, Task

_STAGES: dict[str, Callable[[Material, Task], Row]] = {
    "train": learning.trained,
    "moved": learning.moved,
    "craft": attacking.craft,
    "closer": attacking.closer,
    "single": judging.single,
    "own": judging.own,
    "superimposed": judging.superimposed,
    "adaptive": attacking.adaptive,
    "sweep": judging.sweep,
}


class Study(Material):
    """The stages of one setup."""

    def tasks(self) -> Iterator[Task]:
        """Yield every stage; each needs only earlier ones."""
        setup = self.setup
        yield setup.training()
        if setup.moved_epochs:
            yield setup.task("moved")
        for model in MODELS:
            yield from self.crafts(model)
        yield {**setup.crafting("plain", 0, setup.samples), "stage": "closer"}
        for model in MODELS:
            yield setup.task("single", model=model)
            yield setup.task("own", model=model)
            for count in (2, 3):
                yield setup.task("superimposed", model=model, count=count)
        for threat in KNOWN:
            yield setup.task("adaptive", threat=threat)
        yield setup.task("sweep", draws=setup.threes)

    def measure(self, task: Task) -> Row:
        """Do one stage."""
        return _STAGES[task["stage"]](self, task)
