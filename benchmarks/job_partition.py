"""Job: one measurement of a method that groups records; making the table is not counted."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import Any

from jobs import answer, receive
from meter import medians, metered, on_one_core

FOLDER, JOB = receive()
if JOB.get("threads", 1) == 1:
    on_one_core()

import numpy as np  # noqa: E402

import shoal  # noqa: E402
from shoal.datasets.public import take_domains_as_public  # noqa: E402
from tables import numeric_adult  # noqa: E402


def main() -> None:
    measured = {"method": method, "threads": threads, "draws": draws}
    answer(FOLDER, measured[JOB["kind"]]())


def table(seed: int = 0) -> Any:
    """Return the census table, numbered, or as it is for `adult`."""
    if JOB["table"] == "adult":
        whole = shoal.datasets.load("adult")
        drawn = np.random.default_rng(seed).permutation(len(whole))[: JOB["rows"] or None]
        return whole.take(np.sort(drawn))
    return numeric_adult(JOB["rows"], JOB["width"], seed)


def release_of(data: Any, **more: Any) -> Any:
    """Run the method with `shoal.anonymize`, with a new table each time."""
    model = shoal.privacy.parse(JOB["model"])
    if JOB["method"] == "safe-la":
        data = take_domains_as_public(data)
    return shoal.anonymize(replace(data), model, JOB["method"], **JOB["options"], **more)


def method() -> dict[str, Any]:
    """Run the method several times after a small first run that loads its kernels."""
    data = table()
    release_of(data.take(slice(0, min(50 * JOB["k"], len(data) // 2))))
    costs, release = [], None
    for _ in range(JOB["times"]):
        with metered() as cost:
            release = release_of(data)
        costs.append({**cost, "search": release.run.seconds["search"]})
    return {
        **medians(costs),
        **{name: max(c[name] for c in costs) for name in ("peak_mb", "added_mb")},
        **described(release),
    }


def described(release: Any) -> dict[str, Any]:
    """Return the losses of a release."""
    proof = {} if release.proof is None else {"excess": release.proof.excess}
    return {
        **proof,
        "loss": shoal.metrics.gcp(release),
        "ncp": shoal.metrics.ncp(release),
        "class": shoal.metrics.class_loss(release),
        "classes": len(release.classes),
        "suppressed": int(release.classes.suppressed),
    }


def threads() -> dict[str, Any]:
    """Run the method with one thread and with two; both must give the same release."""
    data = table()
    release_of(data.take(slice(0, 50 * JOB["k"])))
    costs, releases = [], []
    for count in (1, 2):
        with metered() as cost:
            releases.append(release_of(data, threads=count))
        costs.append(cost)
    if not releases[0].to_arrow().equals(releases[1].to_arrow()):
        raise SystemExit("the release with two threads differs from the one with one")
    gain = costs[0]["wall"] / costs[1]["wall"]
    return {**costs[1], "gain": gain, **described(releases[1])}


def draws() -> dict[str, Any]:
    """Solve some tables drawn at random; returns how many are proven and the widest gap."""
    release_of(table().take(slice(0, 4 * JOB["k"])))
    seconds, gaps = [], []
    for seed in range(JOB["times"]):
        data = table(seed)
        with metered() as cost:
            release = release_of(data)
        seconds.append(cost["cpu"])
        gaps.append(0.0 if release.proof.proven else release.proof.gap)
    return {
        "cpu": max(seconds),
        "wall": statistics.median(seconds),
        "peak_mb": cost["peak_mb"],
        "proven": sum(gap == 0 for gap in gaps),
        "gap": max(gaps),
        "each": seconds,
    }


main()
