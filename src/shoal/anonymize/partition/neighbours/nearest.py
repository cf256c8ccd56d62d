"""The nearest neighbours of distinct points."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from shoal.anonymize.partition.neighbours._kd_neighbours import fill_nearest
from shoal.anonymize.partition.neighbours._kd_tree import make_tree
from shoal.anonymize.partition.neighbours.gathering import first_copies
from shoal.anonymize.partition.records import Records
from shoal.support.arrays import Codes
from shoal.support.progress import report

_BLOCK = 4096  # points processed between two progress reports


def nearest_points(records: Records, count: int, threads: int = 1) -> tuple[Codes, Codes]:
    """Return, for each distinct point, its nearest others by the width of the box over both.

    Both are (points, count), nearest first, ties by index: indices, and widths in units; −1 if
    there are fewer points. The result does not depend on the number of threads.
    """
    points = records.take(first_copies(records)).points
    tree = make_tree(points)
    size = len(points.line)
    nearest, widths = (np.empty((size, count), dtype=np.int32) for _ in range(2))

    def fill(first: int) -> None:
        stack = np.empty_like(tree.stack)
        fill_nearest(tree, points, first, min(first + _BLOCK, size), stack, nearest, widths)

    pool = ThreadPoolExecutor(max(threads, 1))
    try:
        for done, _ in enumerate(pool.map(fill, range(0, size, _BLOCK)), start=1):
            report("neighbours", min(done * _BLOCK, size), size)
    finally:
        pool.shutdown(cancel_futures=True)
    return nearest, widths
