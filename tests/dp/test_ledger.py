"""The ledger: never beyond the grant, whatever fails and whoever else spends."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from subprocess import PIPE

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.dp.claims import DP, DPUnderSampling, compose
from shoal.dp.ledger import Ledger, table_digest
from shoal.dp.ledger_book import ADD_REMOVE, REPLACE, Book, Entry, Grant
from shoal.dp.mechanisms import laplace
from shoal.errors import BudgetSpent, InputError, OutputError

KEY = b"of the owner"


@dataclass(frozen=True)
class Replaced(DP):
    """A claim about tables in which one record is another."""

    neighbours: str = REPLACE


def claim(epsilon, delta=0.0):
    return DP(epsilon, delta, "a figure")


def pay(ledger, epsilon, delta=0.0, what="figures"):
    with ledger.spend(claim(epsilon, delta), what=what) as entry:
        return entry


@pytest.fixture(params=["memory", "file", "sealed file"])
def make(request, tmp_path):
    """Make a ledger with a grant, kept in one of the ways."""

    def start(epsilon, delta=0.0, **options):
        if request.param == "memory":
            return Ledger(epsilon, delta, **options)
        key = KEY if request.param.startswith("sealed") else None
        return Ledger.open(tmp_path / "ledger.json", (epsilon, delta), key=key, **options)

    return start


def test_what_is_spent_adds_up(make):
    ledger = make(1.0, 1e-5)
    pay(ledger, 0.1, 1e-6)
    pay(ledger, 0.2)
    assert (ledger.spent().epsilon, ledger.spent().delta) == (0.3, 1e-6)
    assert ledger.left() == (0.7, 9e-6)
    assert [entry.state for entry in ledger.entries] == ["released", "released"]
    assert repr(ledger) == "Ledger(ε = 0.3, δ = 1e-06 spent of ε = 1, δ = 1e-05, 2 releases)"


def test_the_last_tenth_is_affordable_and_no_more(make):
    ledger = make(1.0)
    for _ in range(10):
        assert ledger.affords(claim(0.1))
        pay(ledger, 0.1)
    assert not ledger.affords(claim(1e-9))
    assert ledger.left() == (0, 0)


@pytest.mark.parametrize("cost", [(0.6, 0.0), (0.1, 1e-5)])
def test_beyond_the_grant_the_block_never_starts(make, cost):
    ledger = make(1.0, 1e-6)
    pay(ledger, 0.5)
    before = ledger.entries
    started = False
    with (
        pytest.raises(BudgetSpent, match="nothing was released") as caught,
        ledger.spend(claim(*cost), what="too much"),
    ):
        started = True
    assert not started
    assert ledger.entries == before
    assert caught.value.exit_status == 1


def test_a_release_that_fails_has_been_paid_for(make):
    ledger = make(1.0)
    states = []

    def release():
        states.append(ledger.entries[0].state)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), ledger.spend(claim(0.4), what="cut short"):
        release()
    assert [*states, ledger.entries[0].state] == ["reserved", "failed"]
    assert ledger.spent().epsilon == 0.4


def test_blocks_inside_each_other_are_both_counted(make):
    ledger = make(1.0)
    with ledger.spend(claim(0.6), what="outer"):
        with pytest.raises(BudgetSpent), ledger.spend(claim(0.6), what="inner"):
            pass
        pay(ledger, 0.3)
    assert [entry.state for entry in ledger.entries] == ["released", "released"]


costs = st.tuples(st.floats(0, 0.5), st.one_of(st.just(0.0), st.floats(0, 1e-5)))


@examples(40)
@given(st.lists(costs, max_size=40), st.sampled_from([0.0, 1e-6, 1e-5]), st.booleans())
def test_whatever_is_asked_the_grant_holds(asked, slack, adaptive):
    ledger = Ledger(2.0, 2e-5, slack=slack, adaptive=adaptive)
    for cost in asked:
        try:
            pay(ledger, *cost)
        except BudgetSpent:
            assert not ledger.affords(claim(*cost))
    paid = [(entry.epsilon, entry.delta) for entry in ledger.entries]
    total = compose(paid, slack=slack, adaptive=adaptive)
    assert total.epsilon <= 2.0
    assert math.fsum([slack, *(delta for _, delta in paid)]) <= 2e-5 * (1 + 1e-12)
    assert ledger.affords(claim(ledger.left()[0]))


@pytest.mark.parametrize(
    ("epsilon", "slack", "sizes"),
    [(1.0, 0.05, (0.1, 0.3)), (2.0, 0.05, (0.2, 0.5)), (0.6, 0.2, (0.05, 0.1))],
)
def test_nobody_gets_more_by_choosing_as_they_go(epsilon, slack, sizes):
    """The best strategy against honest-with-odds answers, found by looking ahead to every end."""

    @cache
    def allowed(few, many):
        entries = [Entry("", "", size, 0.0) for size in (sizes[0],) * few + (sizes[1],) * many]
        return Book((Grant(epsilon, slack, slack),)).holds(entries)

    @cache
    def excess(counts, truths):
        """What can still be had of max(0, 1 − e^(ε − loss)), in expectation."""
        loss = sum(
            size * (2 * told - count)
            for size, count, told in zip(sizes, counts, truths, strict=True)
        )
        best = max(0.0, 1 - math.exp(epsilon - loss))
        for place, size in enumerate(sizes):
            more = tuple(count + (place == i) for i, count in enumerate(counts))
            if allowed(*more):
                truth = 1 / (1 + math.exp(-size))
                won = excess(more, tuple(told + (place == i) for i, told in enumerate(truths)))
                best = max(best, truth * won + (1 - truth) * excess(more, truths))
        return best

    found = excess((0, 0), (0, 0))
    assert 0 < found <= slack


def test_many_small_releases_cost_less_where_delta_is_set_aside():
    plain, slack = Ledger(1.0, 1e-5), Ledger(1.0, 1e-5, slack=1e-6)
    counts = []
    for ledger in (plain, slack):
        while ledger.affords(claim(0.01)):
            pay(ledger, 0.01)
        counts.append(len(ledger.entries))
    assert counts[0] == 100
    assert counts[1] > 1.5 * counts[0]
    assert slack.spent().rule == "advanced"
    assert slack.spent().delta == 1e-6


def test_delta_that_is_set_aside_cannot_be_spent():
    ledger = Ledger(1.0, 1e-5, slack=4e-6)
    assert ledger.left()[1] == 6e-6
    with pytest.raises(BudgetSpent):
        pay(ledger, 0.1, 7e-6)


def test_a_ledger_is_found_again(tmp_path):
    path = tmp_path / "ledger.json"
    first = Ledger.open(path, (1.0, 0.0), table="patients")
    with first.spend(claim(0.25), what="ages", when="June"):
        pass
    again = Ledger.open(path)
    assert again.entries == first.entries
    assert (again.entries[0].what, again.entries[0].when) == ("ages", "June")
    assert Ledger.open(path, (1.0, 0.0), table="patients").spent().epsilon == 0.25


@pytest.mark.parametrize(
    "other",
    [
        {"grant": (2.0, 0.0)},
        {"grant": (1.0, 0.0), "table": "others"},
        {"grant": (1.0, 0.0), "neighbours": REPLACE},
        {"table": "others"},
        {"key": KEY},
    ],
    ids=str,
)
def test_another_ledger_is_not_taken_for_this_one(tmp_path, other):
    Ledger.open(tmp_path / "ledger.json", (1.0, 0.0), table="patients")
    with pytest.raises(InputError):
        Ledger.open(tmp_path / "ledger.json", **{"table": "patients", **other})


def test_nothing_is_started_without_a_grant(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        Ledger.open(tmp_path / "ledger.json")
    assert not (tmp_path / "ledger.json").exists()


def edits():
    yield "entries", lambda data: data["entries"].clear()
    yield "epsilon", lambda data: data["entries"][0].update(epsilon=0.1)
    yield "state", lambda data: data["entries"][0].update(state="void")
    yield "grant", lambda data: data["grants"][0].update(epsilon=9.0)
    yield "table", lambda data: data.update(table="others")
    yield "grants", lambda data: data["grants"].clear()
    yield "schemas", lambda data: data["schemas"].append("another")
    yield "version", lambda data: data.update(version=3)
    yield "format", lambda data: data.update(format="another")
    yield "seal", lambda data: data.update(seal="")
    yield "no seal", lambda data: data.pop("seal")
    yield "number for a seal", lambda data: data.update(seal=3)
    yield "more", lambda data: data.update(more=1)


@pytest.mark.parametrize("key", [None, KEY], ids=["unkeyed", "keyed"])
@pytest.mark.parametrize("edit", [edit for _, edit in edits()], ids=[name for name, _ in edits()])
def test_a_changed_file_is_refused_and_left_alone(tmp_path, edit, key):
    path = tmp_path / "ledger.json"
    ledger = Ledger.open(path, (1.0, 0.0), key=key)
    pay(ledger, 0.5)
    data = json.loads(path.read_text())
    edit(data)
    path.write_text(json.dumps(data))
    changed = path.read_text()
    with pytest.raises(InputError, match=r"ledger\.json"):
        pay(ledger, 0.1)
    assert path.read_text() == changed


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"format": NaN}', "[" * 100_000, "\xff"])
def test_what_is_no_ledger_is_refused(tmp_path, text):
    path = tmp_path / "ledger.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(InputError, match=r"ledger\.json"):
        Ledger.open(path)


def test_an_unkeyed_seal_can_be_forged_and_a_keyed_one_not(tmp_path):
    from shoal.dp.ledger import read_book, write_book

    for name, key in (("plain", None), ("keyed", KEY)):
        ledger = Ledger.open(tmp_path / name, (1.0, 0.0), key=key)
        pay(ledger, 0.9)
        write_book(tmp_path / name, Ledger(1.0).book)
    assert read_book(tmp_path / "plain").entries == ()
    with pytest.raises(InputError, match="the seal does not match"):
        read_book(tmp_path / "keyed", KEY)


def test_where_nothing_can_be_written_nothing_is_released(tmp_path, monkeypatch):
    ledger = Ledger.open(tmp_path / "ledger.json", (1.0, 0.0))

    def full(*_, **__):
        raise OutputError("the disk is full")

    monkeypatch.setattr("shoal.dp.ledger.write_book", full)
    started = False
    with pytest.raises(OutputError), ledger.spend(claim(0.1), what="figures"):
        started = True
    assert not started
    assert ledger.entries == ()


def test_a_ledger_with_two_names_spends_under_neither(tmp_path):
    one, other = tmp_path / "ledger.json", tmp_path / "second.json"
    ledger = Ledger.open(one, (1.0, 0.0))
    os.link(one, other)
    for attempt in (
        lambda: pay(ledger, 0.1),
        lambda: Ledger.open(other),
        lambda: Ledger.open(other, (1.0, 0.0)),
        lambda: ledger.regrant(2.0),
        ledger.spent,
    ):
        with pytest.raises(InputError, match=r"has 2 names \(hard links\)"):
            attempt()
    other.unlink()
    pay(ledger, 1.0)
    assert ledger.spent().epsilon == 1.0


def test_a_symbolic_link_to_a_ledger_spends_the_same_budget(tmp_path):
    one, other = tmp_path / "ledger.json", tmp_path / "second.json"
    ledger = Ledger.open(one, (1.0, 0.0))
    other.symlink_to(one)
    linked = Ledger.open(other)
    pay(linked, 0.6)
    pay(ledger, 0.4)
    with pytest.raises(BudgetSpent):
        pay(linked, 0.1)
    assert other.is_symlink()
    assert [path.name for path in tmp_path.glob("*.lock")] == ["ledger.json.lock"]


ELSEWHERE = """
import sys
from shoal.dp import DP, Ledger
from shoal.errors import BudgetSpent
ledger, paid = Ledger.open(sys.argv[1]), 0
sys.stdin.readline()
for _ in range(5):
    try:
        with ledger.spend(DP(0.1, 0.0, "a figure"), what="figures"):
            paid += 1
    except BudgetSpent:
        pass
print(paid)
"""


def test_processes_at_once_cannot_spend_more_than_there_is(tmp_path):
    path = tmp_path / "ledger.json"
    Ledger.open(path, (1.0, 0.0))
    start = [sys.executable, "-c", ELSEWHERE, str(path)]
    workers = [subprocess.Popen(start, stdin=PIPE, stdout=PIPE, text=True) for _ in range(3)]
    for worker in workers:
        worker.stdin.write("go\n")
        worker.stdin.flush()
    paid = [int(worker.communicate(timeout=60)[0]) for worker in workers]
    assert sum(paid) == 10
    assert [entry.state for entry in Ledger.open(path).entries] == ["released"] * 10


def test_threads_at_once_cannot_spend_more_than_there_is(make):
    ledger = make(0.5)

    def attempt(_):
        try:
            pay(ledger, 0.1)
            return True
        except BudgetSpent:
            return False

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(attempt, range(12))) == 5


def test_unproven_claims_are_refused_or_marked(make):
    ledger = make(3.0, 1e-4)
    unproven = DPUnderSampling.of(75, 0.7, 0.1, proven=False)
    with pytest.raises(InputError, match="not proven"):
        ledger.spend(unproven, what="a table").__enter__()
    with ledger.spend(unproven, what="a table", allow_unproven=True) as entry:
        pass
    assert not entry.proven
    assert ledger.spent().epsilon == pytest.approx(1.304, abs=1e-3)


def test_draws_that_can_be_repeated_are_refused_or_marked(make):
    ledger = make(3.0, 1e-4)
    seeded = DPUnderSampling.of(75, 0.7, 0.1, seeded=True)
    with pytest.raises(InputError, match="can be repeated"):
        ledger.spend(seeded, what="a table").__enter__()
    assert ledger.entries == ()


def test_replacing_a_record_is_removing_one_and_adding_one(make):
    ledger = make(3.0, 1e-4, neighbours=REPLACE)
    with ledger.spend(claim(0.5, 1e-6), what="figures") as entry:
        pass
    assert entry.epsilon == 1.0
    assert entry.delta == pytest.approx(1e-6 * (1 + math.exp(0.5)))
    with ledger.spend(Replaced(0.5, 1e-6, "a figure"), what="figures") as entry:
        pass
    assert (entry.epsilon, entry.delta) == (0.5, 1e-6)


def test_claims_about_replaced_records_say_nothing_of_added_ones(make):
    ledger = make(3.0)
    with pytest.raises(InputError, match="does not imply"):
        ledger.spend(Replaced(0.5, 0.0, "a figure"), what="figures").__enter__()
    assert ledger.book.neighbours == ADD_REMOVE


def test_a_grant_may_change_as_far_as_sums_hold(make):
    ledger = make(1.0)
    pay(ledger, 0.8)
    ledger.regrant(2.0, 1e-6)
    pay(ledger, 1.0, 1e-6)
    with pytest.raises(BudgetSpent, match="is already spent"):
        ledger.regrant(1.5, 1e-6)
    assert ledger.grant.epsilon == 2.0


def test_every_grant_stays_on_record_in_order(make):
    ledger = make(1.0, when="March")
    ledger.regrant(2.0, 1e-6, when="June")
    ledger.regrant(1.5)
    assert [(grant.epsilon, grant.delta, grant.when) for grant in ledger.grants] == [
        (1.0, 0.0, "March"),
        (2.0, 1e-6, "June"),
        (1.5, 0.0, None),
    ]
    assert ledger.grant == ledger.grants[-1]


def test_a_ledger_of_the_first_format_is_refused_with_what_to_do(tmp_path):
    path = tmp_path / "ledger.json"
    Ledger.open(path, (1.0, 0.0))
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "version": 1}))
    with pytest.raises(InputError, match=r"only reads version 2.*shoal dp ledger spend"):
        Ledger.open(path)


def test_the_first_release_binds_the_schema_and_another_one_is_refused(make):
    ledger = make(2.0, table="patients")
    with ledger.spend(claim(0.1), what="first", schema="aa"):
        pass
    with (
        pytest.raises(
            InputError, match=r"this ledger \(patients\) belongs to a table with another"
        ),
        ledger.spend(claim(0.1), what="second", schema="bb"),
    ):
        pytest.fail("never reached")
    assert [entry.what for entry in ledger.entries] == ["first"]
    pay(ledger, 0.1)  # a release that Shoal did not make states no schema
    assert ledger.book.schemas == ("aa",)


@pytest.mark.parametrize("unit", ["person", "household"])
def test_a_claim_about_records_is_not_one_about_people(make, unit):
    ledger = make(9.0, 1e-2, neighbours=f"add or remove one {unit}")
    with pytest.raises(InputError, match="the first does not imply the second"):
        pay(ledger, 0.1)
    about = DPUnderSampling.of(75, 0.7, 0.1, unit=unit, max_rows_per_person=2)
    with ledger.spend(about, what="the table"):
        pass
    assert ledger.spent().epsilon == pytest.approx(about.epsilon)
    with pytest.raises(InputError, match="the first does not imply"):
        Ledger(9.0, 1e-2).reserve(about, what="the table")


def test_a_grant_with_a_slack_is_fixed_by_its_first_release(make):
    ledger = make(1.0, 1e-5, slack=1e-6)
    ledger.regrant(2.0, 1e-5)
    pay(ledger, 0.1)
    with pytest.raises(InputError, match="cannot change after the first release"):
        ledger.regrant(3.0, 1e-5)
    assert ledger.grant.epsilon == 2.0


@pytest.mark.parametrize(
    ("epsilon", "delta", "slack"),
    [(0, 0, 0), (-1, 0, 0), (math.nan, 0, 0), (math.inf, 0, 0), (1, -1, 0), (1, 2, 0), (1, 0, 0.1)],
)
def test_grants_that_bound_nothing_are_refused(epsilon, delta, slack):
    with pytest.raises(InputError):
        Ledger(epsilon, delta, slack=slack)


def test_a_digest_names_a_table_to_the_owner_only():
    assert table_digest("patients", KEY) == table_digest("patients", KEY)
    assert table_digest("patients", KEY) != table_digest("patients", b"of another")
    assert "patients" not in table_digest("patients", KEY)


def test_both_mechanisms_in_a_row_add_up():
    """A sampled table and a regression of the same records: ε adds, δ adds."""
    table = DPUnderSampling.of(75, 0.7, 0.1)
    ledger = Ledger(3.0, 1e-5)
    with ledger.spend(table, what="the table"):
        pass
    with ledger.spend(claim(1.0), what="the regression"):
        pass
    assert ledger.spent().epsilon == pytest.approx(0.1 - math.log(0.3) + 1.0)
    assert ledger.spent().delta == table.delta


@pytest.mark.parametrize("yes", [True, np.True_])
def test_true_is_no_budget(yes):
    """It counts as 1 in Python."""
    for wrong in ((yes, 0.0, 0.0), (1.0, yes, 0.0), (1.0, 0.5, yes)):
        with pytest.raises(InputError, match=r"must be .*True"):
            Ledger(*wrong[:2], slack=wrong[2])
    ledger = Ledger(2.0, 0.5)
    with pytest.raises(InputError, match="epsilon must be a number of 0 or more, not"):
        ledger.regrant(yes)
    with pytest.raises(InputError, match="epsilon must be a number of 0 or more, not"):
        DP(yes, 0.0, "ages")
    claim = DP(1.0, 0.0, "ages")
    object.__setattr__(claim, "epsilon", yes)
    with pytest.raises(InputError, match="epsilon must be a number of 0 or more, not"):
        ledger.reserve(claim, what="ages")
    assert ledger.entries == ()
    with pytest.raises(InputError, match="adaptive must be true or false, not 1"):
        Ledger(1.0, adaptive=1)
    with pytest.raises(InputError, match="scale must be more than 0 and finite"):
        laplace(np.zeros(2), scale=yes, seed=1)


def test_true_in_a_ledger_file_is_damage(tmp_path):
    from shoal.dp.ledger import _seal

    place = tmp_path / "ledger.json"
    Ledger.open(place, (1.0, 0.0))
    data = json.loads(place.read_text())
    data["grants"][0]["epsilon"] = True
    del data["seal"]
    data["seal"] = _seal(data, None).decode()
    place.write_text(json.dumps(data))
    with pytest.raises(InputError, match="the ledger is damaged"):
        Ledger.open(place)
