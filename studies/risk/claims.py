"""What Malik (2014) claims of Ψ and H, each held against what was found."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from studies.page import Verdict
from studies.risk.small import TRUE, Q, true_pairs
from studies.runs import Row


def judge_graphs(row: Row) -> list[Verdict]:
    """Figure 2.4: permanents against expected cracks."""
    permanents, cracks, numbers = (np.array(row[n]) for n in ("permanent", "cracks", "number"))
    five = cracks[permanents == 5]
    points = set(zip(row["permanent"], row["cracks"], strict=True))
    means = [
        float(np.average(cracks[permanents == p], weights=numbers[permanents == p]))
        for p in np.unique(permanents)
    ]
    ranks = np.argsort(np.argsort(means))
    falls = float(np.corrcoef(ranks, np.arange(len(ranks)))[0, 1])
    return [
        Verdict(
            "1,048,576 graphs hold the true mapping.",
            row["graphs"] == 1_048_576,
            f"{row['graphs']:,} graphs, {len(points):,} different points",
        ),
        Verdict(
            "Some graph has permanent 4 and 1.75 expected cracks, another 7 and 3: more matchings, "
            "and yet more cracks.",
            {(4, 1.75), (7, 3.0)} <= points,
            "both points are there",
        ),
        Verdict(
            "At permanent 5 expected cracks range from 1.8 to 3.5.",
            bool(np.isclose(five.min(), 1.8) and np.isclose(five.max(), 3.5)),
            f"{five.min():.4g} to {five.max():.4g}; an average over 5 matchings is a multiple of "
            "0.2, so that 3.5 cannot be one",
        ),
        Verdict(
            "Expected cracks fall as the permanent grows.",
            falls < -0.95,
            f"rank correlation {falls:.3f} between the permanent and the mean of its graphs",
        ),
    ]


def judge_mappings(row: Row) -> list[Verdict]:
    """Figure 4.1: Ψ and H of one matrix for every true mapping."""
    psi, heuristic = np.array(row["psi"]), np.array(row["heuristic"])
    here, guess = true_pairs(Q, TRUE)
    other, _ = true_pairs(Q, (4, 0, 1, 2, 3))
    off = np.abs(heuristic - psi)
    possible = psi > 1e-12
    worst = float((off[possible] / psi[possible]).max())
    return [
        Verdict(
            "The permanent of Q is 326/5361 ≈ 0.0608.",
            bool(abs(row["permanent"] - 326 / 5361) < 1e-5),
            f"{row['permanent']:.6f}, with .02 for (Tuberculosis, y): with the printed .05 its "
            "row and its column sum to 1.03",
        ),
        Verdict(
            "Ψ(Q) = 0.3144 for the mapping to x, y, z, u, v.",
            bool(abs(here - 0.3144) < 5e-4),
            f"{here:.4f} for that mapping; {other:.4f} for the mapping to z, u, v, x, y. H is "
            f"{guess:.4f} for the first",
        ),
        Verdict(
            "Over all mappings H and Ψ have the same sum.",
            bool(abs(psi.sum() - heuristic.sum()) < 1e-9 * psi.sum()),
            f"{psi.sum():.6f} and {heuristic.sum():.6f}",
        ),
        Verdict(
            "H is very close to Ψ for every mapping.",
            bool(worst < 0.05),
            f"off by {off.max():.2f} cracks and by {worst:.0%} at worst, by "
            f"{off.mean():.3f} cracks on average (NMAPE {row['nmape']:.2%})",
        ),
    ]


def judge_random(rows: Sequence[Row]) -> list[Verdict]:
    """Figure 4.2: NMAPE of random matrices."""
    five = [row for row in rows if row["size"] == 5]
    worst = {row["family"]: row["most"] for row in five}
    most = max(worst.values())
    high = max(row["most_high"] for row in five)
    sizes = sorted({row["size"] for row in rows})
    by_size = [max(row["most"] for row in rows if row["size"] == size) for size in sizes]
    falling = all(after < before for before, after in pairwise(by_size))
    told = ", ".join(f"{family} {value:.1%}" for family, value in worst.items())
    matrices, drawn = (sum(row[name] for row in five) for name in ("matrices", "draws"))
    return [
        Verdict(
            "NMAPE of 5 × 5 matrices stays within 6 %.",
            most <= 0.06,
            f"largest of {matrices:,} matrices: {told}; {drawn - matrices:,} more could not be "
            "scaled to sums of 1 in 400 sweeps and are left out. How the thesis drew its matrices "
            "is not told",
        ),
        Verdict(
            "The larger values of NMAPE occur at lower permanents.",
            high < most,
            f"largest {most:.1%} in all, {high:.1%} above a permanent of 0.5",
        ),
        Verdict(
            "Conjecture: the largest NMAPE falls as matrices grow.",
            falling,
            "largest found: "
            + ", ".join(
                f"{value:.1%} at n = {size}" for size, value in zip(sizes, by_size, strict=True)
            ),
        ),
    ]


def judge_large(rows: Sequence[Row]) -> list[Verdict]:
    """Ours: H at the true mapping of large attacks."""
    verdicts = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        mine = [row for row in rows if row["kind"] == kind]
        told = ", ".join(f"{row['error']:+.1%} at n = {row['size']:,}" for row in mine)
        close = all(abs(row["error"]) < 0.05 for row in mine)
        verdicts.append(Verdict(f"H estimates Ψ closely: {kind}.", close, f"H is off by {told}"))
    known = [row for row in rows if row["nmape"] is not None]
    worst = max(known, key=lambda row: abs(row["error"]) * row["size"])
    verdicts.append(
        Verdict(
            "A small NMAPE shows that H is accurate.",
            not (worst["nmape"] < 0.01 and abs(worst["error"]) > 0.1),
            f"{worst['kind']}, n = {worst['size']:,}: NMAPE {worst['nmape']:.3%}, and H is off by "
            f"{worst['error']:+.0%} at the true mapping. NMAPE averages over all n! mappings, of "
            "which nearly all have about one pair in common with the truth",
        )
    )
    return verdicts
