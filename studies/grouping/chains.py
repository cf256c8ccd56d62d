"""Table A.2: the sizes of the sub-problems of Split & Carry.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, appendix
A.3. The text gives k = 4 for these tests; the table says k = 3, and its counts fit only that.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from studies.claims import Answer
from studies.grouping.tasks import PARTS
from studies.page import Picture, Section
from studies.runs import Row, groups
from studies.verdicts import Range, above, all_of, below, decide, estimate_mean, exact, near

NAME, K, STATED_K = "Table A.2", 3, 4
RARE = 0.01  # a share of sub-problems
PUBLISHED: dict[int, dict[int, int]] = {  # by S, how many sub-problems have each size
    3: {9: 1, 11: 1, 12: 432, 13: 33, 14: 30, 15: 21, 16: 22, 17: 16},
    4: {12: 1, 14: 1, 15: 292, 16: 27, 17: 29, 18: 16, 19: 16, 20: 11, 21: 8, 22: 5, 23: 5, 24: 3,
        26: 1, 27: 2},
    5: {13: 1, 15: 1, 18: 200, 19: 23, 20: 17, 21: 12, 22: 16, 23: 12, 24: 4, 25: 15, 26: 19,
        27: 3, 28: 9, 29: 1, 30: 1},
}  # fmt: skip


def counts_fit(rows: Sequence[Row]) -> Answer:
    """Test whether there are as many sub-problems as published, at the k that the text states."""
    chosen = [row for row in rows if row["rows"] == 5_000]
    found = {k: [_count(chosen, k, parts) for parts in PARTS] for k in (K, STATED_K)}
    published = [sum(PUBLISHED[parts].values()) for parts in PARTS]
    word = all_of(
        decide(exact(ours), near(theirs, 0))
        for ours, theirs in zip(found[STATED_K], published, strict=True)
    )
    text = "; ".join(f"k = {k}: {', '.join(map(str, each))}" for k, each in found.items())
    return word, f"sub-problems of 5,000 records with S = 3, 4 and 5: {text}"


def _count(rows: Sequence[Row], k: int, parts: int) -> int:
    """Return the number of sub-problems, which is the same in all draws."""
    counts: set[int] = {sum(n for _, n in row["sizes"]) for row in _of(rows, k, parts)}
    if len(counts) != 1:
        raise LookupError("rows")
    return counts.pop()


def rarely_at_bound(rows: Sequence[Row]) -> Answer:
    """Test the share of sub-problems that are as large as they can be."""
    return _share(rows, "at the bound", below(RARE), lambda row, _: int(row["bound"]))


def carry_one_set(rows: Sequence[Row]) -> Answer:
    """Test the share of sub-problems into which exactly k records are carried."""
    return _share(rows, "of k (S + 1) records", above(0.5), lambda _, parts: K * (parts + 1))


def _share(rows: Sequence[Row], noun: str, claimed: Range, size_of: Any) -> Answer:
    decisions, texts = [], []
    for parts in PARTS:
        shares = []
        for row in _of(rows, K, parts):
            counts = dict(map(tuple, row["sizes"]))
            shares.append(counts.get(size_of(row, parts), 0) / sum(counts.values()))
        found = estimate_mean(shares)
        decisions.append(decide(found, claimed))
        texts.append(f"S = {parts}: {found.text('.3f')}")
    return all_of(decisions), f"share of sub-problems {noun}: {'; '.join(texts)}"


def _of(rows: Sequence[Row], k: int, parts: int) -> list[Row]:
    return [r for r in rows if r["k"] == k and r["options"]["sets_read"] == parts]


def section_of(title: str, rows: Sequence[Row]) -> Section:
    """Return the mean number of sub-problems of each size, beside the published number."""
    found = []
    for (k, method), part in groups(rows, "k", "method"):
        published = PUBLISHED[part[0]["options"]["sets_read"]] if k == K else {}
        drawn = [dict(map(tuple, row["sizes"])) for row in part]
        for size in sorted({*published, *(size for counts in drawn for size in counts)}):
            count = fmean(counts.get(size, 0) for counts in drawn)
            labels = {"k": k, "method": method, "size": size}
            found.append({**labels, "sub-problems": count, "published": published.get(size)})
    columns = ["k", "method", "size", "sub-problems", "published"]
    return Section(NAME, title, found, [Picture(_chart(found), "Sizes of sub-problems")], columns)


def _chart(rows: Sequence[Row]) -> Any:
    import altair as alt

    base = alt.Chart(alt.Data(values=list(rows))).mark_bar(size=6)
    return (
        base.encode(
            x=alt.X("size:Q", title="records of a sub-problem"),
            y=alt.Y("sub-problems:Q", title="sub-problems, mean over draws"),
        )
        .properties(width=230, height=150)
        .facet(row=alt.Row("k:N"), column=alt.Column("method:N", title=None))
    )
