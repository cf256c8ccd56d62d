"""The claims of Malik (2014) on Ψ and H, each decided by the rule of the verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from studies.claims import Verdict
from studies.risk.small import TRUE, Q, true_pairs
from studies.runs import Row, groups
from studies.verdicts import (
    Estimate,
    all_of,
    at_least,
    below,
    decide,
    estimate_mean,
    exact,
    near,
    unless_refuted,
)

CLOSE = 0.05  # an error of H, as a share of Ψ, up to which it is close
PUBLISHED_NMAPE = 0.06
_ROUNDED = 0.05  # of values that are printed with one decimal


def judge_graphs(row: Row) -> list[Verdict]:
    """Figure 2.4: permanents against expected cracks of all graphs, which are enumerated."""
    permanents, cracks, numbers = (np.array(row[n]) for n in ("permanent", "cracks", "number"))
    five = cracks[permanents == 5]
    points = set(zip(row["permanent"], row["cracks"], strict=True))
    means = [
        float(np.average(cracks[permanents == p], weights=numbers[permanents == p]))
        for p in np.unique(permanents)
    ]
    ranks = np.argsort(np.argsort(means))
    correlation = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])
    ends = ((float(five.min()), 1.8), (float(five.max()), 3.5))
    return [
        Verdict(
            "1,048,576 graphs contain the true mapping.",
            decide(exact(row["graphs"]), near(1_048_576, 0)),
            f"{row['graphs']:,} graphs, {len(points):,} different points",
        ),
        Verdict(
            "One graph has permanent 4 and 1.75 expected cracks, another one 7 and 3: more "
            "matchings, and yet more cracks.",
            decide(exact(len({(4, 1.75), (7, 3.0)} & points)), at_least(2)),
            f"{len({(4, 1.75), (7, 3.0)} & points)} of the 2 points exist",
        ),
        Verdict(
            "At permanent 5 expected cracks range from 1.8 to 3.5.",
            all_of(decide(exact(ours), near(theirs, _ROUNDED)) for ours, theirs in ends),
            f"{five.min():.4g} to {five.max():.4g}; an average over 5 matchings is a multiple of "
            "0.2, so it cannot be 3.5",
        ),
        Verdict(
            "Expected cracks fall as the permanent grows (rank correlation below −.95).",
            decide(exact(correlation), below(-0.95)),
            f"rank correlation {correlation:.3f} between the permanent and the mean of its graphs",
        ),
    ]


def judge_mappings(row: Row) -> list[Verdict]:
    """Figure 4.1: Ψ and H of one matrix for every true mapping, which are enumerated."""
    psi, heuristic = np.array(row["psi"]), np.array(row["heuristic"])
    here, guess = true_pairs(Q, TRUE)
    other, _ = true_pairs(Q, (4, 0, 1, 2, 3))
    off = np.abs(heuristic - psi)
    possible = psi > 1e-12
    worst = float((off[possible] / psi[possible]).max())
    return [
        Verdict(
            "The permanent of Q is 326/5361 ≈ 0.0608.",
            decide(exact(row["permanent"]), near(326 / 5361, 1e-5)),
            f"{row['permanent']:.6f}, with .02 for (Tuberculosis, y): with the printed .05 its "
            "row and its column sum to 1.03",
        ),
        Verdict(
            "Ψ(Q) = 0.3144 for the mapping to x, y, z, u, v.",
            decide(exact(here), near(0.3144, 5e-4)),
            f"{here:.4f} for that mapping; {other:.4f} for the mapping to z, u, v, x, y. H is "
            f"{guess:.4f} for the first",
        ),
        Verdict(
            "Over all mappings H and Ψ have the same sum.",
            decide(exact(float(psi.sum() / heuristic.sum())), near(1, 1e-9)),
            f"{psi.sum():.6f} and {heuristic.sum():.6f}",
        ),
        Verdict(
            f"H is very close to Ψ for every mapping (within {CLOSE:.0%}).",
            decide(exact(worst), below(CLOSE)),
            f"the error is up to {off.max():.2f} cracks and {worst:.0%}, on average "
            f"{off.mean():.3f} cracks (NMAPE {row['nmape']:.2%})",
        ),
    ]


def judge_random(rows: Sequence[Row]) -> list[Verdict]:
    """Figure 4.2: NMAPE of random matrices, in several draws of many matrices each."""
    five = [row for row in rows if row["size"] == 5]
    worst = {family: max(row["most"] for row in part) for (family,), part in groups(five, "family")}
    most, high = max(worst.values()), max(row["most_high"] for row in five)
    gaps = [
        max(row["most_high"] for row in part) - max(row["most"] for row in part)
        for _, part in groups(five, "seed")
    ]
    matrices, drawn = (sum(row[name] for row in five) for name in ("matrices", "draws"))
    listed = ", ".join(f"{family} {value:.1%}" for family, value in worst.items())
    by_size = _largest_by_draw(rows)
    steps = [
        [after - before for before, after in zip(by_size[first], by_size[second], strict=True)]
        for first, second in pairwise(sorted(by_size))
    ]
    return [
        Verdict(
            f"NMAPE of 5 × 5 matrices is at most {PUBLISHED_NMAPE:.0%}.",
            unless_refuted(refuted=most > PUBLISHED_NMAPE),
            f"largest of {matrices:,} matrices: {listed}; {drawn - matrices:,} more could not be "
            "scaled to sums of 1 in 400 sweeps and are left out. The thesis does not state how it "
            "drew its matrices",
        ),
        Verdict(
            "The larger values of NMAPE occur at lower permanents.",
            decide(estimate_mean(gaps), below(0)),
            f"largest {most:.1%} in all, {high:.1%} above a permanent of 0.5",
        ),
        Verdict(
            "Conjecture: the largest NMAPE falls as matrices grow (tested on equally many random "
            "matrices of each size).",
            all_of(decide(estimate_mean(step), below(0)) for step in steps),
            "mean over draws of the largest: "
            + ", ".join(
                f"{estimate_mean(by_size[size]).text('.1%')} at n = {size}"
                for size in sorted(by_size)
            ),
        ),
    ]


def _largest_by_draw(rows: Sequence[Row]) -> dict[int, list[float]]:
    """Return, for each size, the largest NMAPE of equally many matrices in each draw."""
    return {
        size: [max(row["most_compared"] for row in draw) for _, draw in groups(part, "seed")]
        for (size,), part in groups(rows, "size")
    }


def error_of(rows: Sequence[Row]) -> Estimate:
    """Return the error of H at the true mapping of one kind and size of attack.

    rows: one per draw; a single row carries over the interval of its Ψ.
    """
    if len(rows) > 1:
        return estimate_mean([row["error"] for row in rows])
    (row,) = rows
    low, high = (row["heuristic"] / row[end] - 1 for end in ("high", "low"))
    return Estimate(row["error"], low, high, row["samples"])


def judge_large(rows: Sequence[Row]) -> list[Verdict]:
    """Ours: H at the true mapping of large attacks."""
    verdicts = []
    for (kind,), part in groups(rows, "kind"):
        errors = {size: error_of(each) for (size,), each in groups(part, "size")}
        listed = ", ".join(f"{each.text('+.1%')} at n = {n:,}" for n, each in errors.items())
        verdicts.append(
            Verdict(
                f"H estimates Ψ closely (within {CLOSE:.0%}): {kind} (ours)",
                all_of(decide(each, near(0, CLOSE)) for each in errors.values()),
                f"the error of H is {listed}",
            )
        )
    return [*verdicts, _judge_nmape(rows)]


def _judge_nmape(rows: Sequence[Row]) -> Verdict:
    """Look for an attack with a small NMAPE and a large error at the true mapping."""
    known = [
        (kind, size, max(row["nmape"] for row in part), error_of(part))
        for (kind, size), part in groups(rows, "kind", "size")
        if all(row["nmape"] is not None for row in part)
    ]
    kind, size, nmape, error = max(known, key=lambda each: _clear_error(each[3]) * each[1])
    return Verdict(
        "A small NMAPE, below 1 %, means that H is within 10 % (ours)",
        unless_refuted(refuted=nmape < 0.01 and _clear_error(error) > 0.1),
        f"{kind}, n = {size:,}: NMAPE {nmape:.3%}, and the error of H is {error.text('+.0%')} at "
        "the true mapping. NMAPE averages over all n! mappings, of which nearly all share about "
        "one pair with the truth",
    )


def _clear_error(error: Estimate) -> float:
    """Return the least absolute error in the interval."""
    return max(error.low, -error.high, 0.0)
