# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: which tuples of values lie inside which boxes.

Tuples and boxes are split recursively by the values of one column until few pairs are left; a box
that spans a split goes to both sides, a tuple to one.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.support.compiling import njit

SAMPLE = 32  # tuples, and twice as many boxes, from which a split is chosen
_MIN_PAIRS = 4096  # a node with at most this many pairs is not split,
_MIN_SIDE = 4  # nor is one with at most this many tuples or boxes
_GAIN = 0.9  # a split must leave fewer than this share of the pairs


class Cells(NamedTuple):
    """Tuples and boxes as the kernels see them.

    codes: (tuples, columns) values of the distinct originals.
    entries: (boxes, columns) where the runs of each published cell begin, in `starts`.
    ends: (boxes, columns) where they end.
    starts, stops: (runs,) first code of each run and the one behind its last.
    """

    codes: Any
    entries: Any
    ends: Any
    starts: Any
    stops: Any


class Search(NamedTuple):
    """The nodes that remain to be processed.

    order: (tuples,) tuples, with those of a node next to each other.
    boxes: the boxes of all nodes, one node after the other; those of the last node last.
    nodes: (nodes, 4) begin and end of each node's tuples in `order`, and of its boxes in `boxes`.
    left: (1,) how many nodes there are.
    sample: (SAMPLE,) scratch: sorted codes of some tuples.

    Invariant: each pair of a tuple and a box that covers it is in one remaining node, or was
    processed. The boxes of a node are ascending.
    """

    order: Any
    boxes: Any
    nodes: Any
    left: Any
    sample: Any


@njit(cache=True, error_model="numpy")
def is_inside(cells, one, box):
    """Return whether a box covers a tuple."""
    for j in range(cells.codes.shape[1]):
        code = cells.codes[one, j]
        inside = False
        for run in range(cells.entries[box, j], cells.ends[box, j]):
            if code < cells.stops[run]:  # runs ascend, so no later one can hold it
                inside = cells.starts[run] <= code
                break
        if not inside:
            return False
    return True


@njit(cache=True, error_model="numpy")
def count_fits(cells, search, most, people, copies, by_tuple, by_box, pairs):
    """Count the records that cover each tuple and the people in each box; return the tuples done.

    people: (tuples,) people of each tuple; copies: (boxes,) records of each box.
    by_tuple, by_box, pairs: (tuples,), (boxes,), (tuples,) receive the records that cover each
        tuple, the people in each box, and the number of boxes that cover each tuple.
    most: pairs after which the kernel returns; the next call continues from there.
    """
    done, looked = 0, 0
    while search.left[0] > 0 and looked < most:
        first, last, begin, end = _next_leaf(cells, search)
        looked += (last - first) * (end - begin) + last - first
        done += last - first
        for index in range(first, last):
            one = search.order[index]
            for at in range(begin, end):
                box = search.boxes[at]
                if is_inside(cells, one, box):
                    by_tuple[one] += copies[box]
                    by_box[box] += people[one]
                    pairs[one] += 1
    return done


@njit(cache=True, error_model="numpy")
def list_fits(cells, search, most, indptr, indices):
    """List, tuple by tuple, the boxes that cover it, ascending; return the tuples done.

    indptr: (tuples + 1,) start of each tuple's list in `indices`, which receives the boxes.
    """
    done, looked = 0, 0
    while search.left[0] > 0 and looked < most:
        first, last, begin, end = _next_leaf(cells, search)
        looked += (last - first) * (end - begin) + last - first
        done += last - first
        for index in range(first, last):
            one = search.order[index]
            end_of_list = indptr[one]
            for at in range(begin, end):
                if is_inside(cells, one, search.boxes[at]):
                    indices[end_of_list] = search.boxes[at]
                    end_of_list += 1
    return done


@njit(cache=True, error_model="numpy")
def _next_leaf(cells, search):
    """Take the last node, split it until it is small, and return its tuples and boxes.

    The halves of a split replace the node, the left one first; the right one is split next. A node
    is not split if `nodes` or `boxes` have no room for its halves.
    """
    order, boxes, nodes = search.order, search.boxes, search.nodes
    while True:
        node = search.left[0] - 1
        first, last, begin, end = nodes[node]
        tuples, many = last - first, end - begin
        if tuples * many <= _MIN_PAIRS or min(tuples, many) <= _MIN_SIDE:
            break
        if node + 2 > len(nodes) or end + 2 * many > len(boxes):
            break
        column, pivot = _choose(cells, search, first, last, begin, end)
        if column < 0:
            break
        middle = _part(cells.codes[:, column], order, first, last, pivot)
        # Write the boxes of the left half behind those of the node, then the boxes of the right
        # half behind these, and shift both down over the node's own: boxes[begin:end] is replaced
        # by left boxes | right boxes. A box that spans the pivot is in both.
        put = end
        for side in range(2):
            for at in range(begin, end):
                box = boxes[at]
                low = cells.starts[cells.entries[box, column]]
                high = cells.stops[cells.ends[box, column] - 1]
                if (low < pivot) if side == 0 else (high > pivot):
                    boxes[put] = box
                    put += 1
            if side == 0:
                cut = put - end
        lefts, rights = cut, put - end - cut
        for at in range(put - end):
            boxes[begin + at] = boxes[end + at]
        nodes[node, 0], nodes[node, 1] = first, middle
        nodes[node, 2], nodes[node, 3] = begin, begin + lefts
        nodes[node + 1, 0], nodes[node + 1, 1] = middle, last
        nodes[node + 1, 2], nodes[node + 1, 3] = begin + lefts, begin + lefts + rights
        search.left[0] = node + 2
    search.left[0] = node
    return first, last, begin, end


@njit(cache=True, error_model="numpy")
def _choose(cells, search, first, last, begin, end):
    """Return the column and code whose split leaves the fewest pairs, −1 if too many are left.

    The number of pairs is estimated from evenly spaced tuples and boxes of the node. The code is
    the median of the tuples, so that the halves are about equal.
    """
    seen = min(last - first, SAMPLE)
    looked = min(end - begin, 2 * SAMPLE)
    chosen, best, pivot = -1, _GAIN * seen * looked, 0
    for column in range(cells.codes.shape[1]):
        sample = search.sample[:seen]
        for i in range(seen):  # insertion sort: numpy's sort takes longer to compile
            code = cells.codes[search.order[first + i * (last - first) // seen], column]
            index = i
            while index > 0 and sample[index - 1] > code:
                sample[index] = sample[index - 1]
                index -= 1
            sample[index] = code
        middle = sample[seen // 2]
        if middle == sample[0]:
            middle += 1  # the split is before the code, so the left side must not be empty
        left = 0
        while left < seen and sample[left] < middle:
            left += 1
        if left == seen:
            continue
        lefts, rights = 0, 0
        for i in range(looked):
            box = search.boxes[begin + i * (end - begin) // looked]
            lefts += cells.starts[cells.entries[box, column]] < middle
            rights += cells.stops[cells.ends[box, column] - 1] > middle
        pairs = left * lefts + (seen - left) * rights
        if pairs < best:
            chosen, best, pivot = column, float(pairs), middle
    return chosen, pivot


@njit(cache=True, error_model="numpy")
def _part(codes, order, first, last, pivot):
    """Move the tuples below the pivot to the front; return the index of the first other tuple.

    codes: (tuples,) values of one column. order: as in Search.
    Invariant: order[first:low] are below the pivot, order[high:last] are not.
    """
    low, high = first, last
    while low < high:
        if codes[order[low]] < pivot:
            low += 1
        else:
            high -= 1
            order[low], order[high] = order[high], order[low]
    return low
