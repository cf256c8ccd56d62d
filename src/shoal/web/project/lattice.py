"""The lattice explorer: every combination of levels, what it costs, and what it does to values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.core.hierarchies.hierarchy import Hierarchy
from shoal.core.table import Table
from shoal.privacy.model import Model
from shoal.report.lattice_places import STATES, Spots, place_nodes
from shoal.report.masking import rounded

MAX_NODES = 20_000
WORDS = {
    "not anonymous": "does not keep the guarantee",
    "anonymous": "keeps the guarantee",
    "minimal": "keeps the guarantee with the lowest levels",
}


@dataclass(frozen=True)
class LatticeNode:
    """One combination of levels.

    Parameters:
        number: Its position in the list of nodes.
        levels: The level of each column.
        x, y: Its position in the picture; the original table is at the bottom.
        cost: The share of information lost, from 0 to 1.
        suppressed: Records in groups that are too small, in words.
        state: `not anonymous`, `anonymous` or `minimal`.
        chosen: Whether a release has these levels.
    """

    number: int
    levels: tuple[int, ...]
    x: float
    y: float
    cost: float
    suppressed: str
    state: str
    chosen: bool = False


@dataclass(frozen=True)
class LatticeView:
    """All combinations of levels.

    Parameters:
        columns: The columns.
        heights: The highest level of each column.
        nodes: The combinations.
        exact: Whether costs include suppressed records.
    """

    columns: tuple[str, ...]
    heights: tuple[int, ...]
    nodes: tuple[LatticeNode, ...]
    exact: bool = True

    @classmethod
    def of(cls, spots: Spots) -> LatticeView:
        """Return the view of placed nodes."""
        nodes = tuple(
            LatticeNode(
                number,
                spot.node,
                spot.place,
                spot.row,
                rounded(spot.cost) or 0.0,
                spot.suppressed,
                spot.state,
                spot.chosen,
            )
            for number, spot in enumerate(spots.nodes)
        )
        heights = tuple(max(node.levels[j] for node in nodes) for j in range(len(spots.names)))
        return cls(spots.names, heights, nodes, spots.exact)

    def to_dict(self) -> dict[str, Any]:
        """Return the view as plain data."""
        return {
            "columns": list(self.columns),
            "heights": list(self.heights),
            "exact": self.exact,
            "nodes": [
                [n.levels, n.x, n.y, n.cost, n.suppressed, n.state, n.chosen] for n in self.nodes
            ],
        }

    @classmethod
    def of_dict(cls, data: Mapping[str, Any]) -> LatticeView:
        """Return the view of plain data."""
        nodes = tuple(
            LatticeNode(number, tuple(levels), *further)
            for number, (levels, *further) in enumerate(data["nodes"])
        )
        return cls(tuple(data["columns"]), tuple(data["heights"]), nodes, bool(data["exact"]))

    def count(self, state: str) -> int:
        """Return how many nodes are in a state."""
        return sum(node.state == state for node in self.nodes)

    @property
    def summary(self) -> str:
        """The numbers of nodes in words."""
        kept = len(self.nodes) - self.count("not anonymous")
        return (
            f"{len(self.nodes):,} combinations of levels; {kept:,} keep the guarantee, "
            f"{self.count('minimal'):,} of them with the lowest possible levels"
        )

    def find(self, levels: Sequence[int]) -> LatticeNode | None:
        """Return the node with these levels."""
        wanted = tuple(levels)
        return next((node for node in self.nodes if node.levels == wanted), None)

    def neighbours(self, node: LatticeNode) -> tuple[LatticeNode, ...]:
        """Return the nodes that differ by one level of one column."""
        return tuple(
            other
            for other in self.nodes
            if sum(abs(a - b) for a, b in zip(node.levels, other.levels, strict=True)) == 1
        )

    def table(self, states: Sequence[str] = STATES, *, by: str = "cost") -> tuple[LatticeNode, ...]:
        """Return the nodes in some states as a list, the cheapest first.

        Parameters:
            states: The states to show.
            by: `cost`, or `levels` for the lowest levels first.
        """
        keys: dict[str, Callable[[LatticeNode], Any]] = {
            "cost": lambda node: (node.cost, node.levels),
            "levels": lambda node: (sum(node.levels), node.levels),
        }
        return tuple(sorted((n for n in self.nodes if n.state in states), key=keys[by]))


def explore(
    table: Table,
    model: Model,
    *,
    chosen: Mapping[str, int] | None = None,
    max_suppression: float = 0.05,
) -> LatticeView:
    """Return every combination of levels of a table's hierarchies.

    Parameters:
        table: The table; its quasi-identifiers need hierarchies.
        model: The guarantee.
        chosen: The levels of a release, to mark.
        max_suppression: Share of the records that may be left out.

    Raises:
        InputError: A column has no hierarchy, or there are more than 20,000 combinations.
    """
    spots = place_nodes(
        table, model, max_suppression=max_suppression, chosen=chosen, max_nodes=MAX_NODES
    )
    return LatticeView.of(spots)


@dataclass(frozen=True)
class Recoded:
    """Examples of one column at a level: values and what is published instead.

    Parameters:
        column: The column.
        level: The level.
        pairs: Values with their labels.
    """

    column: str
    level: int
    pairs: tuple[tuple[str, str], ...]


def recode_sample(
    hierarchies: Mapping[str, Hierarchy],
    levels: Mapping[str, int],
    names: Sequence[str],
    rows: Sequence[Sequence[str]],
    most: int = 6,
) -> tuple[Recoded, ...]:
    """Return how the first rows of the opened file read at some levels.

    Parameters:
        hierarchies: The hierarchy of each column.
        levels: The level of each column.
        names: The columns of the rows.
        rows: The first rows of the file as text.
        most: Different values to show of each column.

    Returns:
        For each column, values and their labels.

    >>> tree = Hierarchy.from_rows([("Malta", "Europe", "*"), ("Japan", "Asia", "*")])
    >>> recode_sample({"land": tree}, {"land": 1}, ["land"], [["Malta"], ["Japan"]])[0].pairs
    (('Malta', 'Europe'), ('Japan', 'Asia'))
    """
    found = []
    for column, level in levels.items():
        if column not in hierarchies or column not in names:
            continue
        hierarchy, place = hierarchies[column], list(names).index(column)
        at = min(level, hierarchy.height)
        codes = {text: code for code, text in enumerate(hierarchy.values)}
        shown = list(dict.fromkeys(row[place] for row in rows if row[place] in codes))[:most]
        labelled = hierarchy.levels[at]
        pairs = tuple(
            (text, labelled.labels[int(labelled.groups[codes[text]])] or "") for text in shown
        )
        found.append(Recoded(column, level, pairs))
    return tuple(found)
