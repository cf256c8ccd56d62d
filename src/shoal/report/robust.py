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
from shoal.report.limits import Limit, digest, limit
from shoal.report.page import percent
from shoal.support.arrays import Bools, Counts
from shoal.support.proportions import Interval, clustered_proportion
from shoal.support.wording import listed_names, plain

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


_MIN_PICTURES = 30  # with fewer, the interval is not informative


def robust_limits(
    attack: Mapping[str, Any], scales: Sequence[str], unmet: Sequence[str], met: Mapping[str, Any]
) -> list[Limit]:
    """Return the limits that apply to this evaluation.

    unmet: the scales of noise that the attack was not made for.
    """
    listed = [_PROOF, _stronger(attack, scales)]
    if unmet:
        listed.append(_unmet_limits(attack, unmet))
    listed.append(_pictures(met))
    if met["unchanged"]:
        listed.append(_unchanged(met["unchanged"]))
    return [*listed, _SIZES, _TRAINING, _PRIVACY]


_PROOF = limit(
    "No proof",
    "Noise and vote give no bound within which an answer is certain. The results come from one "
    "attack method with one set of options, and say nothing about other attacks.",
)


def _stronger(attack: Mapping[str, Any], scales: Sequence[str]) -> Limit:
    """Return the stronger attacks that were not tried."""
    others = [] if attack["vote"] else ["an attack on the vote itself (--vote)"]
    copied = attack["threat"] == "copy" or attack["noise"] == 0  # a query then reveals as much
    if attack["threat"] != "averages" and any(map(float, scales)):
        others.append("an attacker who averages many queries per step (--threat averages)")
    if not copied:
        others.append("an attacker who has the networks, or similar ones (--threat copy)")
    others.append("more steps, or another method (--method, -O)")
    text = f"The following were not tried, and each may do better: {'; '.join(others)}."
    return limit("Stronger attackers", text)


def _unmet_limits(attack: Mapping[str, Any], unmet: Sequence[str]) -> Limit:
    met = f"{attack['distribution']} noise of scale {attack['noise']:g}"
    if not attack["noise"]:
        met = "no noise"
    return limit(
        "Noise that the attack was not made for",
        f"The attack was made against {met}. The figures for {listed_names(unmet)} use examples "
        "that were made for a different defence; an attacker of that defence would make others.",
    )


def _pictures(met: Mapping[str, Any]) -> Limit:
    few = met["pictures"] < _MIN_PICTURES
    caution = "These are few. " if few else ""
    return limit(
        "Few and selected pictures" if few else "Selected pictures",
        f"All examples start from {met['pictures']} pictures. {caution}The confidence interval "
        "treats pictures, not examples, as independent, and does not account for retraining the "
        "networks. The vote classifies all of these pictures correctly without noise: accuracy on "
        "all pictures is lower.",
    )


def _unchanged(count: int) -> Limit:
    return limit(
        "Attacks without a result",
        f"{count:,} examples equal their originals, because the attack found nothing. They count "
        "as examples with a perturbation of 0, and mostly as correct.",
    )


_SIZES = limit(
    "Visibility to people",
    "The size is the norm of the perturbation divided by the norm of the picture. A large "
    "perturbation may be hard to see and a small one obvious, and an example that people would "
    "also misclassify is not a failure of the networks. Look at the pictures.",
)
_TRAINING = limit(
    "Other attacks",
    "This report does not cover poisoned training data, stolen networks, or pictures of a kind "
    "that the networks were not trained on.",
)
_PRIVACY = limit(
    "Privacy",
    "This report is not about privacy. The noise is not differential privacy, and a robust model "
    "may still reveal who was in its training data. The pictures on this page are data: consider "
    "who receives it, or leave them out (--pictures 0).",
)
