"""About how many distinct tuples there are after several maps, in one scan.

Executors map and hash the packed codes in Arrow batches and keep the smallest hashes: the k-th
smallest of n evenly spread ones is near k / n. This costs a fraction of one join for each column
and map, and does not depend on the order of the rows. Z. Bar-Yossef et al., Counting distinct
elements in a data stream, RANDOM 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.engines.packing import Packing
from shoal.engines.spark.batches import gathering
from shoal.engines.spark.columns import functions, words_of
from shoal.support.arrays import Codes

_KEPT = 4096  # smallest hashes: a standard error of 1.6 %


def count_about(
    rows: Any,
    stored: Packing,
    packing: Packing,
    nodes: Sequence[Mapping[str, Codes]],
    units: Sequence[str],
) -> list[int]:
    """Return the approximate numbers of distinct tuples, exact if there are few.

    Parameters:
        rows: The rows, with words w0, w1, … of their codes.
        stored: Where these words have each column.
        packing: Where the words of the tuples have each column.
        nodes: The maps of the codes of columns.
        units: Further columns of the tuples.
    """
    f, words = functions(), words_of(stored)
    others = [f.xxhash64(*units).alias("units")] if units else []
    schema = "node int, hash bigint"
    task = _smallest(_columns(stored, packing, nodes), len(nodes), bool(units), _KEPT)
    hashes = rows.select(*words, *others).mapInArrow(task, schema)
    together = hashes.repartitionById(len(nodes), f.col("node"))
    found = together.mapInArrow(_merging(_KEPT), "node int, tuples bigint").toArrow()
    counts = dict(
        zip(*(found.column(name).to_pylist() for name in ("node", "tuples")), strict=True)
    )
    return [counts.get(node, 0) for node in range(len(nodes))]


def _columns(
    stored: Packing, packing: Packing, nodes: Sequence[Mapping[str, Codes]]
) -> list[tuple[Any, ...]]:
    """Return for each column its stored place, its word and shift in tuples, and its maps."""
    found = []
    for name, place in packing.places.items():
        code = stored.places[name]
        shifted: list[Any] = [None if name not in maps else
                              pa.array(maps[name].astype(np.int64) << place.shift)
                              for maps in nodes]  # fmt: skip
        mask = (1 << code.bits) - 1
        found.append((f"w{code.word}", code.shift, mask, place.word, place.shift, shifted))
    return found


def _smallest(columns: Sequence[tuple[Any, ...]], nodes: int, units: bool, kept: int) -> Any:
    """Return the function that yields the smallest hashes of a task; it needs no Shoal."""
    gathered, hashed = gathering(), _hashing(columns, units)

    def smallest(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as pc

        least = [arrow.array([], arrow.uint64())] * nodes
        limits: list[Any] = [None] * nodes
        for batch in gathered(batches):
            for node, hashes in enumerate(hashed(batch, nodes)):
                below = limits[node] is not None
                few = hashes.filter(pc.less(hashes, limits[node])) if below else hashes
                least[node] = pc.unique(arrow.concat_arrays([least[node], few]))
                if len(least[node]) > 2 * kept:
                    least[node] = least[node].take(pc.sort_indices(least[node])[:kept])
                    limits[node] = least[node][-1]
        for node, hashes in enumerate(least):
            order = pc.sort_indices(hashes)[:kept]
            found = hashes.take(order).view(arrow.int64())
            place = arrow.repeat(arrow.scalar(node, arrow.int32()), len(found))
            yield arrow.record_batch([place, found], names=["node", "hash"])

    return smallest


def _hashing(columns: Sequence[tuple[Any, ...]], units: bool) -> Callable[[Any, int], Any]:
    """Return the function that yields the hashes of the tuples of a batch at each node."""

    def mix(word: Any, pc: Any, scalar: Any) -> Any:
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            word = pc.bit_wise_xor(word, pc.shift_right(word, scalar(shift)))
            word = pc.multiply(word, scalar(factor))
        return pc.bit_wise_xor(word, pc.shift_right(word, scalar(31)))

    def hashed(batch: Any, nodes: int) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as pc

        def scalar(number: int) -> Any:
            return arrow.scalar(number, arrow.uint64())

        codes = [pc.bit_wise_and(pc.shift_right(batch.column(word), shift), mask)
                 for word, shift, mask, *_ in columns]  # fmt: skip
        for node in range(nodes):
            words: dict[int, Any] = {}
            for code, (*_, word, shift, maps) in zip(codes, columns, strict=True):
                bits = pc.shift_left(code, shift) if maps[node] is None else maps[node].take(code)
                words[word] = pc.bit_wise_or(words[word], bits) if word in words else bits
            parts = [*words.values(), *([batch.column("units")] if units else [])]
            found = None
            for part in parts:
                bits = part.view(arrow.uint64())
                found = mix(bits if found is None else pc.bit_wise_xor(found, bits), pc, scalar)
            yield found

    return hashed


def _merging(kept: int) -> Any:
    """Return the function that counts tuples from the smallest hashes of all tasks."""

    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as arrow
        import pyarrow.compute as pc

        least: dict[int, Any] = {}
        for batch in batches:
            for node in pc.unique(batch.column("node")).to_pylist():
                hashes = batch.column("hash").filter(pc.equal(batch.column("node"), node))
                both = [hashes.view(arrow.uint64()), *([least[node]] if node in least else [])]
                unique = pc.unique(arrow.concat_arrays(both))
                least[node] = unique.take(pc.sort_indices(unique)[:kept])
        for node, hashes in least.items():
            about = len(hashes)
            if about == kept:
                about = round((kept - 1) / ((hashes[-1].as_py() + 1) / 2**64))
            cells = [arrow.array([node], arrow.int32()), arrow.array([about], arrow.int64())]
            yield arrow.record_batch(cells, names=["node", "tuples"])

    return merge
