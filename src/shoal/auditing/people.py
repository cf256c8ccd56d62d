"""`safe-la` on people with several rows: neighbours differ by one person with all their rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shoal.anonymize.lattice.safe_la import SafeLA
from shoal.auditing import AuditCase
from shoal.auditing.sampled_tables import BETA, CHOICE, N0, distribution, run, small_table
from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.table import Table
from shoal.privacy.k_anonymity import KAnonymity

K, SLOTS, EPSILON = 3, 2, 2.0
ROLES: dict[str, Any] = {
    "who": "identifier",
    "visit": {
        "role": "quasi",
        "type": "text",
        "values": ("u", "v"),
        "hierarchy": Hierarchy.from_rows([("u", "*"), ("v", "*")]),
    },
}
_PEOPLE = (
    (("p1", "uu"), ("p2", "uu"), ("p3", "vv"), ("p4", "uu")),
    (("p1", "uv"), ("p2", "v"), ("p3", "v"), ("p4", "uuuuuu")),  # more rows than are used
)


def case() -> AuditCase:
    """Return the audit of `safe-la` with up to two rows per person."""
    safe_la, model = method(), KAnonymity(K)
    pairs = tuple(
        (safe_la.prepare(visits(people), model), safe_la.prepare(visits(people[:-1]), model))
        for people in _PEOPLE
    )
    about = "people with up to six rows, with and without one person"
    return AuditCase(about, safe_la.claim(K, "person"), run, pairs, distribution)


def method() -> SafeLA:
    """Return the method that is audited."""
    return SafeLA(
        epsilon=EPSILON,
        choice=CHOICE / 2,
        beta=BETA,
        n0=N0,
        max_rows_per_person=SLOTS,
        allow_large_delta=True,
    )


def visits(people: Sequence[tuple[str, str]]) -> Table:
    """Return a table of people, each with the letters of their visits."""
    rows = [(name, visit) for name, letters in people for visit in letters]
    return small_table(rows, ROLES, person="who")
