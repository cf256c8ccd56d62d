"""Table 5.2: what is learned from six attributes, raw and by ε-safe LA as published."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from shoal.dp import bernoulli
from shoal.methods import anonymize
from shoal.privacy.k_anonymity import KAnonymity
from studies.claims import Answer, Claim, Test
from studies.lattice import published
from studies.lattice.methods import BETA, as_published
from studies.lattice.models import Shown, learn, majority
from studies.lattice.tables import Study
from studies.runs import Row, groups
from studies.verdicts import above, decide, estimate_mean, near

ATTRIBUTES = 6
METHODS = ("raw", "safe-la, published", "majority")
_CLOSE = 0.01  # accuracies that differ by no more count as equal
_CLOSE_SHARE = 0.05  # and so do shares of rows


def learn_from_six(study: Study, method: str, seed: int) -> Row:
    """Return the accuracy of one method on test rows, and the share of the drawn rows it has."""
    train, test = study.split(seed)
    if method == "majority":
        return {**majority(study, train, test), "kept": 1.0}
    names = study.named[ATTRIBUTES]
    if method == "raw":
        rows = train[bernoulli(len(train), BETA, seed)]
        node = dict.fromkeys(names, 0)
    else:
        release = anonymize(
            study.part(train, names),
            KAnonymity(study.k),
            "safe-la",
            **as_published(study),
            published=True,
            seed=seed,
        )
        assert release.node is not None
        rows = train if release.suppressed is None else train[~release.suppressed]
        node = dict(release.node)
    found = learn(study, Shown(study.wide, node, rows), test)
    return {**found, "rows": len(rows), "kept": len(rows) / (BETA * len(train))}


def six_rows(rows: Sequence[Row]) -> list[Row]:
    """Return one row for each method: means over splits, and the published accuracy."""
    found = []
    for (table, method), runs in groups([r for r in rows if r["part"] == "six"], "table", "method"):
        mean = estimate_mean([run["accuracy"] for run in runs])
        found.append(
            {
                "table": table,
                "method": method,
                "accuracy": mean.value,
                "low": mean.low,
                "high": mean.high,
                "published": published.SIX[method],
                "rows": fmean(run["rows"] for run in runs),
                "columns": fmean(run["columns"] for run in runs),
            }
        )
    return found


def _values(rows: Sequence[Row], method: str, what: str = "accuracy") -> list[float]:
    runs = [row for row in rows if row["part"] == "six" and row["method"] == method]
    return [float(run[what]) for run in sorted(runs, key=lambda run: int(run["seed"]))]


def _same(method: str) -> Test:
    """Test whether a method has the published accuracy."""

    def test(rows: Sequence[Row]) -> Answer:
        found, theirs = estimate_mean(_values(rows, method)), published.SIX[method]
        return decide(found, near(theirs, _CLOSE)), f"{found.text()} here, {theirs:.3f} published"

    return test


def _below_majority(rows: Sequence[Row]) -> Answer:
    pairs = zip(_values(rows, "majority"), _values(rows, "safe-la, published"), strict=True)
    gap = estimate_mean([most - safe for most, safe in pairs])
    return decide(gap, above(0)), f"majority less ε-safe LA: {gap.text('+.4f')}"


def _keeps(rows: Sequence[Row]) -> Answer:
    found = estimate_mean(_values(rows, "safe-la, published", "kept"))
    return decide(found, near(published.SIX_KEPT, _CLOSE_SHARE)), (
        f"{found.text()} of the drawn rows here, {published.SIX_KEPT:.3f} published"
    )


CLAIMS = (
    Claim("Table 5.2", "Raw rows of adult, 6 attributes: 0.819 (± 0.01)", _same("raw")),
    Claim(
        "Table 5.2",
        "ε-safe LA on adult, 6 attributes: 0.752 (± 0.01)",
        _same("safe-la, published"),
    ),
    Claim("Table 5.2", "It scores below the majority class", _below_majority),
    Claim("Table 5.2", "It keeps 19,518 of 21,113 drawn rows (0.924 ± 0.05)", _keeps),
)
