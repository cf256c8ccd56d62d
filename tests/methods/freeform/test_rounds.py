"""The rounds of each method against plain Python over all pairs."""

from itertools import permutations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import FreeformAnonymity, Table
from shoal.methods import freeform
from shoal.methods.freeform import assign, draw_boxes, play_rounds
from shoal.methods.freeform._edges import INFINITE_COST, growth
from shoal.methods.partition._boxes import box_width, width_with
from shoal.methods.partition.records import lay_out
from shoal.metrics.cell_width import gcp

PLAYS = {
    "doka-greedy": freeform.DokaGreedy.play,
    "doka-sort-greedy": freeform.DokaSortGreedy.play,
    "doka-hungarian": assign,
}
every_play = pytest.mark.parametrize("play", PLAYS.values(), ids=PLAYS)


@st.composite
def records(draw, least=2, most=14):
    rows = draw(st.integers(least, most))

    def cells(values):
        return draw(st.lists(values, min_size=rows, max_size=rows))

    data = {
        "age": pa.array(cells(st.none() | st.integers(0, 9)), pa.int64()),
        "pay": pa.array(cells(st.integers(0, 3)), pa.int64()),
        "town": pa.array(cells(st.none() | st.sampled_from("abcd")), pa.string()),
    }
    return lay_out(Table.from_arrow(pa.table(data), dict.fromkeys(data, "quasi")))


def line(*places):
    data = pa.table({"place": places})
    return lay_out(Table.from_arrow(data, {"place": {"role": "quasi", "bounds": [0, 100]}}))


def cost(found, box, record):
    """What a box over some records grows by one more, from its definition."""
    return width(found, {*box, record}) - width(found, box)


def width(found, box):
    points, members = found.points, sorted(box)
    places = points.line[members].astype(int)
    total = np.minimum(places.max(axis=0) - places.min(axis=0), points.cap).sum()
    names = points.name[members]
    return int(total) + sum(
        int(unit) * (len(set(names[:, j])) - 1) for j, unit in enumerate(points.unit)
    )


def onward(found, box, record):
    """How far behind a box's own record another lies, round the table."""
    return (record - box) % len(found)


def naive_trade(found, boxes, given, box):
    """The cheapest trade for a box that has every record that is left."""
    left = [r for r in boxes[box] if r not in given.values()]
    trades = []
    for place, record in enumerate(left):
        for other, handed in sorted(given.items()):
            if handed not in boxes[box] and record not in boxes[other]:
                change = cost(found, boxes[box], handed) + cost(found, boxes[other], record)
                change -= cost(found, boxes[other], handed)
                trades.append((change, place, other, record))
    _, _, other, record = min(trades)
    given[box], given[other] = given[other], record


def naive_greedy(found, boxes):
    given = {}
    for box in range(len(found)):
        left = set(range(len(found))) - set(given.values()) - set(boxes[box])
        if left:
            given[box] = min(
                left, key=lambda r: (cost(found, boxes[box], r), onward(found, box, r))
            )
        else:
            naive_trade(found, boxes, given, box)
    return given


def naive_sort_greedy(found, boxes):
    count = range(len(found))
    pairs = sorted(
        (cost(found, boxes[b], r), b, onward(found, b, r), r) for b in count for r in count
    )
    given = {}
    for _, box, _, record in pairs:
        if box not in given and record not in given.values() and record not in boxes[box]:
            given[box] = record
    for box in count:
        if box not in given:
            naive_trade(found, boxes, given, box)
    return given


@given(found=records())
def test_growth_is_the_difference_of_widths(found):
    rows = np.arange(len(found), dtype=np.int32)
    boxes, _, _ = found.boxes(rows // 2, len(found) // 2 + 1)
    for box in range(len(found) // 2):
        for record in rows:
            wide = width_with(found.points, boxes, box, record)
            expected = wide - box_width(found.points, boxes, box)
            assert growth(found.points, boxes, box, record, INFINITE_COST) == expected
            limited = growth(found.points, boxes, box, record, np.int64(2**27))
            assert limited == expected or 2**27 <= limited <= expected


@pytest.mark.parametrize(
    ("name", "naive"),
    [("doka-greedy", naive_greedy), ("doka-sort-greedy", naive_sort_greedy)],
    ids=["greedy", "sort-greedy"],
)
@given(found=records(least=8), k=st.integers(2, 4), listed=st.sampled_from([1, 2, 32]))
def test_greedy_rounds_are_those_of_plain_loops(name, naive, found, k, listed):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(freeform, "_LISTED", listed)
        partners = play_rounds(found, k, PLAYS[name])
    boxes = [[i] for i in range(len(found))]
    for _ in range(k - 1):
        given = naive(found, boxes)
        for box, record in given.items():
            boxes[box].append(record)
    assert partners.tolist() == boxes


@given(found=records(most=6))
def test_an_assigned_round_is_the_cheapest_of_all(found):
    partners = play_rounds(found, 2, assign)
    every = range(len(found))
    spent = sum(cost(found, [i], int(partners[i, 1])) for i in every)
    least = min(
        sum(cost(found, [i], p[i]) for i in every)
        for p in permutations(every)
        if all(p[i] != i for i in every)
    )
    assert spent == least


@every_play
@given(found=records(), data=st.data())
def test_rounds_are_perfect_matchings_without_a_common_pair(play, found, data):
    k = data.draw(st.integers(2, len(found)))
    partners = play_rounds(found, k, play)
    everybody = list(range(len(found)))
    assert partners[:, 0].tolist() == everybody
    for column in partners.T:
        assert sorted(column.tolist()) == everybody
    assert all(len(set(box)) == k for box in partners.tolist())


@every_play
def test_copies_and_blocks_change_nothing_that_matters(play, monkeypatch):
    found = line(*[7] * 9, *[50] * 9)
    partners = play_rounds(found, 4, play)
    monkeypatch.setattr(freeform, "_EDGES", 1)
    assert play_rounds(found, 4, play).tolist() == partners.tolist()
    for box in partners.tolist():
        assert width(found, box) == 0


def test_a_box_that_has_what_is_left_trades():
    # 0 takes 1, 1 takes 0, and 5 finds its own alone: 0 hands 1 over, as 1 would hand over 0
    found = line(0, 1, 5)
    given = freeform.DokaGreedy.play(found.points, *_start(found))
    assert given.tolist() == [2, 0, 1]
    given = freeform.DokaSortGreedy.play(found.points, *_start(found))
    assert given.tolist() == [2, 0, 1]


def _start(found):
    partners = np.full((len(found), 2), -1, dtype=np.int32)
    partners[:, 0] = np.arange(len(found))
    boxes, _, _ = found.boxes(partners[:, 0], len(found))
    return boxes, partners, np.int64(1)


@pytest.mark.parametrize(
    ("method", "widths"),
    [
        ("doka-greedy", (3, 2, 5, 10, 1, 11)),  # 25 comes last and finds 14 alone
        ("doka-sort-greedy", (11, 2, 2, 11, 1, 1)),  # 3 and 14 are left to each other
        ("doka-hungarian", (3, 3, 6, 6, 1, 1)),
    ],
)
def test_worked_example_in_one_column(method, widths):
    table = Table.from_arrow(
        pa.table({"place": [3, 6, 8, 14, 24, 25]}),
        {"place": {"role": "quasi", "bounds": [0, 100]}},
    )
    release = shoal.anonymize(table, FreeformAnonymity(2), method)
    assert gcp(release) * 6 * 100 == pytest.approx(sum(widths))


@given(st.integers(0, 2**32))
def test_each_record_is_published_by_a_box_that_holds_it(seed):
    partners = play_rounds(line(*range(0, 36, 3)), 3, assign)
    chosen = draw_boxes(partners, seed)
    assert sorted(chosen.tolist()) == list(range(12))
    assert all(record in partners[box] for record, box in enumerate(chosen.tolist()))


def test_every_box_of_a_record_is_as_likely():
    partners = play_rounds(line(*range(12)), 3, assign)
    drawn = np.stack([draw_boxes(partners, seed) for seed in range(300)])
    for record in range(12):
        boxes, times = np.unique(drawn[:, record], return_counts=True)
        assert boxes.tolist() == sorted(np.flatnonzero((partners == record).any(axis=1)))
        assert times.min() > 60  # of 100 expected, more than five deviations


def test_records_far_apart_draw_for_themselves():
    partners = play_rounds(line(0, 1, 2, 90, 91, 92), 3, assign)
    drawn = np.stack([draw_boxes(partners, seed) for seed in range(60)])
    assert len(np.unique(drawn, axis=0)) == 9  # three rounds on each side


def test_without_a_seed_the_draw_is_nobodys_guess():
    partners = np.array([[i, i ^ 1] for i in range(128)], dtype=np.int32)
    assert draw_boxes(partners).tolist() != draw_boxes(partners).tolist()
