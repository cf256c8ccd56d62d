"""What the workers of these tests do: they must be able to import it."""

import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from shoal.comparison.bench import peak_megabytes
from shoal.errors import Infeasible, InputError
from shoal.release.release import Release

SECRET = "QXZW"


def double(number):
    return {"twice": 2 * number}


def act(what):
    print(SECRET)
    if what == "raise":
        raise ValueError(SECRET)
    if what == "refuse":
        raise Infeasible("there is no way")
    if what == "exit":
        os._exit(3)
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "not plain":
        return {"set": {1, 2}}
    return {"threads": os.environ["NUMBA_NUM_THREADS"], "peak": peak_megabytes()}


def tally(path):
    """Leave a mark; fail where the file's name says so."""
    with Path(path).open("a") as file:
        file.write("x")
    if "bad" in Path(path).name:
        raise ValueError
    return {"path": str(path)}


def linger(path):
    """Say who is at work, then work for long, unless the file's name says otherwise."""
    with Path(path).open("w") as file:
        file.write(str(os.getpid()))
        file.flush()
        if "long" in Path(path).name:
            signal.pause()
    return {}


def smallest(release):
    return float(release.classes.sizes.min())


def undefined(release):
    raise InputError("not of this release")


@dataclass(frozen=True)
class Whole:
    """One class of all rows."""

    name: ClassVar[str] = "whole"
    seed: int = 0
    note: str = "none"

    def search(self, table, model):
        return Release.of_groups(table, np.zeros(len(table), dtype=np.int32), 1, model)


@dataclass(frozen=True)
class Liar:
    """Every row on its own, whatever was asked."""

    name: ClassVar[str] = "liar"

    def search(self, table, model):
        return Release.of_groups(table, np.arange(len(table), dtype=np.int32), len(table), model)


@dataclass(frozen=True)
class Broken:
    """Ends as told."""

    name: ClassVar[str] = "broken"
    how: str = "raise"

    def search(self, table, model):
        act(self.how)
        raise AssertionError
