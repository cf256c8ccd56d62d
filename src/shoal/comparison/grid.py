"""The grid of a comparison: every method with every model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from itertools import product
from typing import Any

from shoal.errors import InputError, unknown
from shoal.methods.algorithm import Algorithm, make
from shoal.methods.registry import METHODS
from shoal.privacy import KAnonymity, parse
from shoal.privacy.model import Model
from shoal.support.wording import plain

Method = str | Algorithm | tuple[str, Mapping[str, Any]]
METHODS_BY_DEFAULT = ("mondrian", "greedy", "sorted", "datafly", "flash")


@dataclass(frozen=True)
class Trial:
    """One release to make: a run of a comparison.

    Parameters:
        algorithm: The method, with its options.
        model: The guarantee.
        seed: The random seed, for randomized methods.

    >>> import shoal
    >>> Trial(shoal.Mondrian(strict=False), shoal.KAnonymity(5), seed=0).options
    {'strict': False}
    """

    algorithm: Any  # Algorithm
    model: Model
    seed: int | None

    @property
    def method(self) -> str:
        """The method's name."""
        return str(self.algorithm.name)

    @property
    def options(self) -> dict[str, Any]:
        """The options that differ from the method's defaults, as plain data."""
        stated = options_of(self.algorithm)
        usual = _defaults(self.algorithm)
        return {
            name: value
            for name, value in stated.items()
            if name != "seed" and (name not in usual or value != usual[name])
        }

    @property
    def k(self) -> int | None:
        """The largest k that the model requires."""
        asked = [int(part.k) for part in self.model.parts if hasattr(part, "k")]
        return max(asked, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the trial as plain data."""
        return {
            "method": self.method,
            "options": self.options,
            "model": str(self.model),
            "k": self.k,
            "seed": self.seed,
        }


def grid(
    models: Iterable[Model | str] | Model | str,
    k: Iterable[int] | int,
    methods: Iterable[Method] | str | Algorithm,
    seed: int | None,
) -> list[Trial]:
    """Return the trials, by model and then by method; wrong models and methods are errors."""
    wanted = _with_sizes(
        [_model(m) for m in ([models] if isinstance(models, (str, Model)) else models)],
        [KAnonymity(each) for each in (k if isinstance(k, Iterable) else [k])],
    )
    listed: Any = [methods] if isinstance(methods, str) or hasattr(methods, "search") else methods
    chosen = [_algorithm(method) for method in listed]
    if not chosen:
        raise InputError(f"no method to compare; name some of {', '.join(METHODS)}")
    return [Trial(algorithm, model, seed) for model, algorithm in product(wanted, chosen)]


def _with_sizes(models: list[Model], sizes: list[KAnonymity]) -> list[Model]:
    if models and sizes:
        return [size & model for model, size in product(models, sizes)]
    if not (models or sizes):
        raise InputError(
            "no guarantee is requested; give k=[5], or models=['l-diversity(3, column)']"
        )
    return [*models, *sizes]


def _model(stated: Model | str) -> Model:
    if isinstance(stated, str):
        return parse(stated)
    if not isinstance(stated, Model):
        raise InputError(
            "a model must be a privacy model such as KAnonymity(5), or its expression, not "
            f"{type(stated).__name__}"
        )
    return stated


def _algorithm(stated: Any) -> Any:
    """Return an instance of a method; wrong names and options are errors."""
    if isinstance(stated, str):
        return _algorithm((stated, {}))
    if isinstance(stated, tuple) and len(stated) == 2:
        name, options = stated
        if name not in METHODS:
            raise unknown("no method", name, METHODS)
        if not isinstance(options, Mapping):
            raise InputError(f"{name}: options must be a mapping, not {type(options).__name__}")
        return make(METHODS[name], options)
    if not (hasattr(stated, "search") and hasattr(stated, "name")) or isinstance(stated, type):
        raise InputError(
            "a method must be a name, a pair (name, {option: value}) or an instance, "
            f"not {getattr(stated, '__name__', type(stated).__name__)}"
        )
    return stated


def options_of(algorithm: Any) -> dict[str, Any]:
    """Return all options of an instance as plain data."""
    named = [f.name for f in fields(algorithm)] if is_dataclass(algorithm) else vars(algorithm)
    return {name: plain(getattr(algorithm, name)) for name in named}


def _defaults(algorithm: Any) -> dict[str, Any]:
    known = fields(algorithm) if is_dataclass(algorithm) else ()
    return {f.name: plain(f.default) for f in known if f.default is not MISSING}
