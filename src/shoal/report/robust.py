"""The report of an evaluation of networks under attack, as plain data.

Tables 4.3 to 4.8 and equations 4.3.1 to 4.3.5 of Liang, "Algorithms in privacy & security for data
analytics and machine learning", 2020, with intervals over the pictures.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal._version import __version__
from shoal.report.page import percent
from shoal.report.repeating import digest
from shoal.report.robust_limits import robust_limits
from shoal.risk.proportion import Interval, clustered_proportion
from shoal.support.arrays import Bools, Counts
from shoal.support.plain_data import plain

if TYPE_CHECKING:
    from shoal.robust import Judged

FORMAT = {"name": "shoal-robust-report", "version": 1}
BINS = 20  # of perturbation
_PACKAGES = ("torch", "numpy")


def robust_contents(
    judged: Mapping[str, Judged],
    attack: Mapping[str, Any],
    *,
    distribution: str,
    pictures: Sequence[Mapping[str, Any]] = (),
    title: str = "",
    date: str | None = None,
    command: str | None = None,
    files: Sequence[Path] = (),
) -> dict[str, Any]:
    """Return the contents of the report as plain data that JSON can represent.

    judged: the evaluation at each scale of noise, `0` for none.
    attack: how the examples were found, as `shoal robust attack` records it.
    distribution: the distribution of the noise during the evaluation.
    pictures: examples to show, each with source, width and caption.
    files: the input files; the report gives their names, sizes and digests.
    """
    rows = results(judged)
    chosen = headline(judged, attack)
    met = _examples(next(iter(judged.values())))
    return {
        "format": FORMAT,
        "title": title or "Networks under attack",
        "date": date,
        "verdict": _verdict(next(r for r in rows if r["noise"] == chosen), met, distribution),
        "headline": chosen,
        "distribution": distribution,
        "attack": {"options": {}, "superimposed": None, **plain(attack)},
        "attacker": _attacker(attack),
        "aim": _aim(attack),
        "examples": met,
        "results": rows,
        "bins": bins(judged).to_pylist(),
        "sizes": _sizes(next(iter(judged.values()))),
        "pictures": [dict(picture) for picture in pictures],
        "limits": robust_limits(attack, list(judged), _unmet(judged, attack, distribution), met),
        "repeat": {
            "command": command,
            "versions": {
                "shoal": __version__,
                **{name: version(name) for name in _PACKAGES},
            },
            "files": [digest(path) for path in files],
        },
    }


def headline(judged: Mapping[str, Judged], attack: Mapping[str, Any]) -> str:
    """Return the scale of noise that the attack was made with, or the first one evaluated."""
    met = noise_name(attack["noise"])
    return met if met in judged else next(iter(judged))


def noise_name(scale: float) -> str:
    """Return the name of a scale of noise."""
    return f"{scale:.12g}"


def results(judged: Mapping[str, Judged]) -> list[dict[str, Any]]:
    """Return, for each scale of noise, the accuracy of the vote and the networks, and their errors.

    vote_on_successes: the accuracy on examples that had reached their goal.
    """
    from shoal.robust import accuracies, classifications, mean_perturbations

    found: dict[str, dict[str, Any]] = {}
    for row in accuracies(dict(judged)).to_pylist():
        scale = row.pop("model")
        right = _column(judged[scale], "outcome") == "correct"
        reached = _column(judged[scale], "success")
        found[scale] = {
            "noise": scale,
            "networks": judged[scale].networks,
            **row,
            "vote_interval": over_pictures(judged[scale], right).to_dict(),
            "single_interval": _of_one(judged[scale]).to_dict(),
            "vote_on_successes": float(right[reached].mean()) if reached.any() else None,
        }
    for row in classifications(dict(judged)).to_pylist():
        found[row["model"]][row["outcome"]] = row["value"]
    for row in mean_perturbations(dict(judged)).to_pylist():
        found[row["model"]][f"{row['outcome']}_perturbation"] = row["value"]
    return list(found.values())


def bins(judged: Mapping[str, Judged]) -> Any:
    """Return the outcomes of the examples by size of perturbation, for each scale of noise."""
    from shoal.robust import by_bin

    return stacked({scale: by_bin(each, bins=BINS) for scale, each in judged.items()})


def stacked(tables: Mapping[str, Any]) -> Any:
    """Return Arrow tables concatenated, with the scale of noise as the first column."""
    import pyarrow as pa

    return pa.concat_tables(
        table.add_column(0, "noise", pa.array([float(scale)] * table.num_rows, pa.float64()))
        for scale, table in tables.items()
    )


def _unmet(judged: Mapping[str, Judged], attack: Mapping[str, Any], distribution: str) -> list[str]:
    """Return the scales of noise that the attack was not made for.

    An attacker with a copy of the networks attacks without noise, knowingly: none are returned.
    """
    if attack["threat"] == "copy":
        return []
    met = {noise_name(attack["noise"])}
    if attack["noise"] and distribution != attack["distribution"]:
        met = set()
    return [scale for scale in judged if scale not in met]


def over_pictures(judged: Judged, those: Bools | Counts, tries: int = 1) -> Interval:
    """Return the share of some examples; examples of the same picture are not independent.

    those: (examples,) whether each example counts, or how many of its tries do.
    """
    _, picture = np.unique(_column(judged, "sample"), return_inverse=True)
    return clustered_proportion(np.bincount(picture, weights=those), tries * np.bincount(picture))


def _of_one(judged: Judged) -> Interval:
    """Return the average accuracy of a single network."""
    return over_pictures(judged, _column(judged, "right"), judged.networks)


def _examples(judged: Judged) -> dict[str, Any]:
    reached, sizes = _column(judged, "success"), _column(judged, "perturbation")
    return {
        "number": len(reached),
        "pictures": len(np.unique(_column(judged, "sample"))),
        "networks": judged.networks,
        "success": float(reached.mean()),
        "perturbation": float(sizes[reached].mean()) if reached.any() else None,
        "unchanged": int((sizes == 0).sum()),
    }


def _sizes(judged: Judged) -> list[dict[str, Any]]:
    """Return how many examples have a perturbation of each bin, by whether they succeeded."""
    from shoal.robust.evaluation import size_bins

    reached, sizes = _column(judged, "success"), _column(judged, "perturbation")
    edges = size_bins(sizes, BINS)
    sizes = np.minimum(sizes, edges[-1])
    rows = []
    for name, those in (("yes", reached), ("no", ~reached)):
        counts, _ = np.histogram(sizes[those], edges)
        rows += [
            {"low": float(low), "high": float(high), "success": name, "examples": int(count)}
            for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
    return rows


def _verdict(row: Mapping[str, Any], met: Mapping[str, Any], distribution: str) -> str:
    interval, noise = row["vote_interval"], row["noise"]
    under = "Without noise" if noise == "0" else f"Under {distribution} noise of scale {noise}"
    mean = "" if met["perturbation"] is None else f" of mean size {met['perturbation']:.2f}"
    who = "one network" if met["networks"] == 1 else f"the vote of {met['networks']} networks"
    return (
        f"{under}, {who} classifies {percent(row['vote_attacked'])} of {met['number']:,} "
        f"adversarial examples{mean} correctly (95 % confidence interval "
        f"{percent(interval['low'])} to {percent(interval['high'])}, over {met['pictures']} "
        f"pictures), and {percent(row['target'])} as the class that the attacker wanted. Without "
        f"the attack it classifies {percent(row['vote_clean'])} of the same pictures correctly. "
        "This is the result of one attack; it proves nothing, and another attack may do better."
    )


def _attacker(attack: Mapping[str, Any]) -> str:
    from shoal.robust import THREATS

    asks = f" ({attack['queries']} queries a step)" if attack["threat"] == "averages" else ""
    return f"{THREATS[attack['threat']]}{asks}"


def _aim(attack: Mapping[str, Any]) -> str:
    if attack.get("superimposed"):
        return (
            f"the vote, by superimposing the {attack['superimposed']} smallest perturbations that "
            "fooled single networks"
        )
    return "the vote" if attack["vote"] else "each network separately"


def _column(judged: Judged, name: str) -> Any:
    return judged.examples[name].to_numpy(zero_copy_only=False)
