"""Stages of a study of robust predictions as tidy rows, with published figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shoal.robust import by_bin, classifications, mean_perturbations
from shoal.robust.evaluation import size_bins
from studies.robust import published
from studies.robust.answers import under
from studies.robust.charts import NAMES
from studies.robust.charts import OUTCOMES as ANSWERS
from studies.robust.figures import OUTCOMES, PUBLISHED_AS, judged, share, stage
from studies.runs import Row

BINS, FEW_BINS = 40, 10  # as published, and where there are fewer examples than that can show
_ENOUGH = 1000
_SUMS = {1: "single networks", 2: "sums of two", 3: "sums of three"}
_THREATS = {
    "copy": "vote, has a copy",
    "further": "vote, copy, continues",
    "queries": "vote, one query per step",
    "averages": "vote, averages {} queries",
}


def networks(rows: Sequence[Row]) -> list[Row]:
    """Return the accuracy of each network on held-back pictures; the vote has no temperature.

    trained: on pictures as they are, or moved by a pixel or two.
    """
    found: list[Row] = []
    for row in rows:
        if row["stage"] not in ("train", "moved"):
            continue
        trained = {"train": "as they are", "moved": "moved"}[row["stage"]]
        for model, name in NAMES.items():
            labels = {"model": name, "trained": trained}
            found += [
                {"who": "one network", **labels, "temperature": heat, "accuracy": right}
                for heat, right in zip(row["temperatures"], row[f"single_{model}"], strict=True)
            ]
            vote = row[f"vote_{model}"]
            found.append({"who": "the vote", **labels, "temperature": None, "accuracy": vote})
    return found


def vote_accuracies(rows: Sequence[Row]) -> list[Row]:
    """Return table 4.3: the vote, before and under attack."""
    found = []
    for model, name in NAMES.items():
        row = under(rows, model, 1)
        interval, there = share(row), published.VOTE[PUBLISHED_AS[row["data"]]][model]
        found.append({
            "model": name, "clean": row["vote_clean"], "attacked": interval.value,
            "low": interval.low, "high": interval.high, "published clean": there.clean,
            "published attacked": there.attacked, "examples": len(row["columns"]["sample"]),
        })  # fmt: skip
    return found


def single_accuracies(rows: Sequence[Row], count: int) -> list[Row]:
    """Return tables 4.5 and 4.7: the mean of single networks.

    enough: the share of tests that had as many examples to lay over each other as wanted.
    """
    found = []
    for model, name in NAMES.items():
        row = under(rows, model, count)
        there = published.SINGLE[count][PUBLISHED_AS[row["data"]]][model]
        found.append({
            "model": name, "clean": row["single_clean"], "attacked": row["single_attacked"],
            "published clean": there.clean, "published attacked": there.attacked,
            "tests": len(row["columns"]["sample"]), "enough": row["enough"],
        })  # fmt: skip
    return found


def outcomes(rows: Sequence[Row], count: int) -> list[Row]:
    """Return tables 4.4, 4.6 and 4.8: the answers of the vote, and the sizes of perturbations."""
    found = []
    for model, name in NAMES.items():
        row = under(rows, model, count)
        each, data = {model: judged(row)}, PUBLISHED_AS[row["data"]]
        shares, sizes = classifications(each).to_pylist(), mean_perturbations(each).to_pylist()
        there, larger = (
            figures[count][data][model]
            for figures in (published.CLASSIFICATIONS, published.PERTURBATIONS)
        )
        for place, outcome in enumerate(OUTCOMES):
            interval = share(row, outcome)
            found.append({
                "model": name, "vote": ANSWERS[outcome], "share": shares[place]["value"],
                "low": interval.low, "high": interval.high, "published": there[place],
                "perturbation": sizes[place]["value"], "published perturbation": larger[place],
            })  # fmt: skip
    return found


def bins(rows: Sequence[Row]) -> list[Row]:
    """Return single-network examples by the size of their perturbation, in the same bins.

    right: the share of all examples that lie in the bin and are voted right.
    """
    every = {model: under(rows, model, 1) for model in NAMES}
    greatest = max(max(row["columns"]["perturbation"]) for row in every.values())
    found = []
    for model, row in every.items():
        total = len(row["columns"]["sample"])
        parts = BINS if total >= _ENOUGH else FEW_BINS
        for each in by_bin(judged(row), bins=parts, greatest=greatest).to_pylist():
            right = each["examples"] * (each["accuracy"] or 0.0) / total
            found.append({"model": NAMES[model], **each, "right": right})
    return found


def own(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each network, picture and target: its answer to its own example."""
    heats = stage(rows, "train")["temperatures"]
    found = []
    for model, name in NAMES.items():
        columns = stage(rows, "own", model=model)["columns"]
        for network, named in enumerate(columns["named"]):
            for place, label in enumerate(columns["label"]):
                goal = columns["goal"][place]
                found.append({
                    "model": name, "network": network, "temperature": heats[network],
                    "sample": columns["sample"][place], "label": label, "goal": goal,
                    "named": named[place], "answer": answer(named[place], label, goal),
                    "perturbation": columns["perturbation"][network][place],
                })  # fmt: skip
    return found


def answer(named: int, label: int, goal: int) -> str:
    """Return what an answer means for the attacker."""
    return ANSWERS["correct" if named == label else "target" if named == goal else "other"]


def own_bins(rows: Sequence[Row]) -> list[Row]:
    """Return answers of attacked networks by the size of the perturbation, as shares of all."""
    sizes = np.array([row["perturbation"] for row in rows])
    edges = size_bins(sizes, 2 * FEW_BINS)
    found = []
    for model in NAMES.values():
        total = sum(row["model"] == model for row in rows)
        for place, name in enumerate(ANSWERS.values()):
            those = [r["perturbation"] for r in rows if (r["model"], r["answer"]) == (model, name)]
            counts, _ = np.histogram(those, edges)
            found += [
                {"model": model, "answer": name, "place": place, "low": float(low),
                 "high": float(high), "share": int(count) / total}
                for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
                if count
            ]  # fmt: skip
    return found


def examples(rows: Sequence[Row]) -> list[Row]:
    """Return one row per example and per defence that classified it.

    attacker: its author. model: the vote that classified it.
    """
    return [
        {"attacker": attacker, "model": NAMES[model], **dict(zip(names, values, strict=True))}
        for attacker, model, judged_row in _attacked(rows)
        for names in [list(judged_row["columns"])]
        for values in zip(*judged_row["columns"].values(), strict=True)
    ]


def attackers(rows: Sequence[Row]) -> list[Row]:
    """Return the answers of the vote under each attack, and the sizes of perturbations."""
    found = []
    for attacker, model, judged_row in _attacked(rows):
        size = float(np.mean(judged_row["columns"]["perturbation"]))
        for place, (outcome, name) in enumerate(ANSWERS.items()):
            found_share = share(judged_row, outcome)
            found.append({
                "attacker": attacker, "model": NAMES[model], "answer": name, "place": place,
                "share": found_share.value, "low": found_share.low, "high": found_share.high,
                "perturbation": size,
            })  # fmt: skip
    return found


def _attacked(rows: Sequence[Row]) -> list[tuple[str, str, Row]]:
    """Return every attack with the defence that answered, and the evaluated examples."""
    found: list[tuple[str, str, Row]] = []
    for count, name in _SUMS.items():
        found += [(name, model, under(rows, model, count)) for model in NAMES]
    for threat, words in _THREATS.items():
        row: dict[str, Any] = stage(rows, "adaptive", threat=threat)
        found += [(words.format(row["queries"]), model, row[model]) for model in NAMES]
    return found
