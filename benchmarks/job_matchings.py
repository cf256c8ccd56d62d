"""Job: one measurement of exact values over matchings, or of a peer's permanent.

Only numpy is sure to be there, since it runs inside the peers' environment too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jobs import answer, receive
from meter import best_in_turn, medians, on_one_core, repeated

FOLDER, JOB = receive()
if JOB.get("threads", 1) == 1:
    on_one_core()

import numpy as np  # noqa: E402


def main() -> None:
    kinds = {
        "exact": exact,
        "every": every,
        "count": count,
        "threads": threads,
        "walk": walk,
        "frequencies": frequencies,
        "peer": peer,
    }
    answer(FOLDER, kinds[JOB["kind"]](_matrix()))


def _matrix() -> Any:
    """Draw the matrix of the job; the same in every process."""
    size, generator = JOB["size"], np.random.default_rng(JOB["size"])
    if JOB["shape"] == "none":
        return None
    dense = generator.random((size, size))
    if JOB["shape"] == "dense":
        return dense / dense.sum(axis=1, keepdims=True)
    if JOB["shape"] == "zeros and ones":
        return (dense < 0.7).astype(float)
    if JOB["shape"] == "band":
        apart = np.abs(np.arange(size)[:, None] - np.arange(size))
        return np.where(apart <= JOB["half"], dense, 0.0)
    kinds = [generator.permutation(np.arange(size) % JOB["kinds"]) for _ in range(2)]
    return dense[: JOB["kinds"], : JOB["kinds"]][kinds[0]][:, kinds[1]]


def exact(matrix: Any) -> dict[str, Any]:
    from shoal.risk.matchings.exact import exact

    for size in (6, 17):  # loads the kernels of either route
        exact(matrix[:size, :size])
    found = []
    cost = median_cost(lambda: found.append(exact(matrix)))
    last = found[-1]
    return {**cost, "psi": last.psi, "error": last.psi_error, "route": last.routes[0].route}


def every(matrix: Any) -> dict[str, Any]:
    from shoal.risk.matchings.exact import all_marginals

    all_marginals(matrix[:18, :18])
    return {**median_cost(lambda: all_marginals(matrix)), "route": "subsets"}


def count(matrix: Any) -> dict[str, Any]:
    from shoal.risk.matchings.exact import count_matchings

    count_matchings(matrix[:20, :20])
    return {**median_cost(lambda: count_matchings(matrix)), "route": "ryser"}


def threads(matrix: Any) -> dict[str, Any]:
    from shoal.risk.matchings.exact import exact

    cost = best_in_turn(lambda number: exact(matrix, threads=number), JOB["times"])
    return {**cost, "route": "glynn"}


def walk(matrix: Any) -> dict[str, Any]:
    """Walk until the interval is within one part in a hundred."""
    from shoal.risk import psi
    from shoal.risk.matchings.psi import _walk
    from shoal.risk.matchings.structure import split

    (part,) = split(np.ascontiguousarray(matrix[:40, :40])).components
    _walk(part, 0.01, 1, 1)  # loads the kernels
    found = []
    cost = median_cost(lambda: found.append(psi(matrix, seed=1, half_width=0.01)))
    last = found[-1]
    return {**cost, "psi": last.value, "error": (last.high - last.low) / 2, "route": last.method}


def frequencies(_: Any) -> dict[str, Any]:
    """Sweep over items whose frequencies are known to within some width."""
    from shoal.risk.attacks import beliefs_around, frequency_attack

    frequency_attack(beliefs_around(np.arange(30), 3), np.arange(30)).psi()
    generator = np.random.default_rng(JOB["size"])
    seen = generator.random(JOB["size"])
    below, above = generator.random((2, JOB["size"])) * 0.012
    beliefs, found = np.column_stack([seen - below, seen + above]), []
    cost = median_cost(lambda: found.append(frequency_attack(beliefs, seen).psi()))
    last = found[-1]
    return {**cost, "psi": last.value, "error": (last.high - last.low) / 2, "route": last.method}


def peer(matrix: Any) -> dict[str, Any]:
    """One permanent, nothing else, as the peer's own documentation calls it."""
    from thewalrus import perm

    perm(np.ascontiguousarray(matrix[:8, :8]))
    return {**median_cost(lambda: perm(matrix)), "route": ""}


def median_cost(call: Callable[[], object]) -> dict[str, float]:
    """Return the median cost of as many calls as are asked for."""
    return medians(repeated(call, JOB["times"]))


if __name__ == "__main__":
    main()
