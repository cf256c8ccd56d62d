"""A release is a sample in large classes, as private as it claims; others leave no trace."""

import json
import math
import sys
from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.letters import CELLS, at, neighbours, small

import shoal
from shoal import Hierarchy, InputError, KAnonymity, LDiversity, SafeLA, Table
from shoal.cli import main
from shoal.cli.shared.summary import summarize
from shoal.dp import DPUnderSampling, least_k, sampling_delta
from shoal.methods.lattice.node_choice import NodeChoice
from shoal.methods.lattice.sampled_draw import SampledDraw, draw_seeds
from shoal.report import contents
from shoal.report.lattice_picture import draw_release
from shoal.report.page import page
from shoal.support.wording import plain

AGES = Hierarchy.from_rows([(str(a), str(a // 10 * 10), "*") for a in range(100)])
LARGE_DELTA = {"allow_large_delta": True}  # small tables show more with a small k
ROLES = {
    "name": "identifier",
    # "20" is an age and a label
    "age": {"role": "quasi", "type": "integer", "bounds": [0, 99], "hierarchy": AGES},
    "town": {"role": "quasi", "type": "text", "values": ["a", "b", "c"]},
    "ill": {"role": "sensitive", "type": "text", "values": ["u", "v"]},
    "pay": {"role": "insensitive", "type": "float", "bounds": [0, 10]},
}


def people(rows):
    """A table of rows (age, town, ill, pay), each with a name."""
    cells = dict(zip(("age", "town", "ill", "pay"), zip(*rows, strict=True), strict=True))
    return Table.from_arrow(pa.table({"name": list(map(str, range(len(rows)))), **cells}), ROLES)


def shown(row, node):
    """What is published of such a row at a node."""
    age, town, ill, pay = row
    return ((age, str(age // 10 * 10), "*")[node[0]], (town, "*")[node[1]], ill, pay)


def released(rows, node, k, drawn=None, **options):
    """Return the release of these rows at a node, with a sample that is not left to chance."""
    sample = np.ones(len(rows), dtype=np.int64) if drawn is None else np.array(drawn, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SampledDraw, "_sample", lambda *_: sample)
        patch.setattr(NodeChoice, "draw", lambda *_: node)
        return shoal.anonymize(people(rows), KAnonymity(k), "safe-la", **LARGE_DELTA, **options)


rows_of_people = st.lists(
    st.tuples(
        st.sampled_from([20, 23, 31]), st.sampled_from("ab"), st.sampled_from("uv"), st.just(7)
    ),
    min_size=1,
    max_size=30,
)
nodes = st.tuples(st.integers(0, 2), st.integers(0, 1))


@examples(40)
@given(rows_of_people, nodes, st.integers(2, 4), st.data())
def test_drawn_records_in_large_classes_are_published_in_order(rows, node, k, data):
    drawn = data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows)))
    release = released(rows, node, k, drawn)
    sample = [shown(row, node) for row, inside in zip(rows, drawn, strict=True) if inside]
    sizes = Counter(sample)
    expected = Counter({cell: size for cell, size in sizes.items() if size >= k})
    found = [tuple(row.values()) for row in release.to_arrow().to_pylist()]
    assert Counter(found) == expected
    assert found == sorted(found)
    assert tuple(release.node.values()) == node
    assert release.verify()


def outcomes(rows, choice, k, beta):
    """The chance of everything that may be published of a small table, by trying all samples."""
    found = Counter()
    for drawn in product((False, True), repeat=len(rows)):
        chance = math.prod(beta if inside else 1 - beta for inside in drawn)
        sample = [row for row, inside in zip(rows, drawn, strict=True) if inside]
        for node in product(*map(range, choice.lattice.shape)):
            sizes = Counter(at(row, node) for row in sample)
            shown = frozenset((cell, n) for cell, n in sizes.items() if n >= k)
            found[node, shown] += chance * float(choice.probabilities[node])
    return found


@pytest.mark.parametrize("spare", [0, 0.2, -0.3])
def test_no_neighbour_changes_the_outcome_by_more_than_is_claimed(spare):
    k, beta, share = 2, 0.5, 0.6
    spent = share + math.log(2) + spare
    method = SafeLA(epsilon=spent, choice=share, beta=beta, n0=3, **LARGE_DELTA)
    claim, made, worst = method.claim(k), {}, 0.0

    def chances(rows):
        key = tuple(sorted(rows))
        if key not in made:
            draw = method.prepare(small(rows), KAnonymity(k))
            choice = draw.choice([np.ones(len(rows), np.int64)], [])
            made[key] = outcomes(rows, choice, k, beta)
        return made[key]

    for rows, larger in neighbours(3):
        one = chances(rows)
        for other in map(chances, larger):
            for first, second in ((one, other), (other, one)):
                factor = math.exp(claim.epsilon)
                excess = sum(max(0.0, p - factor * second[event]) for event, p in first.items())
                assert excess <= claim.delta + 1e-12
                worst = max(worst, excess)
    assert worst > claim.delta / 10  # δ is not there for nothing


def test_the_claim_adds_up():
    release = shoal.anonymize(small(CELLS * 60), KAnonymity(75), "safe-la", n0=300)
    (claim,) = release.claims
    assert isinstance(claim, DPUnderSampling)
    assert (claim.k, claim.beta, claim.epsilon, claim.choice_epsilon) == (75, 0.7, 1.5, 0.1)
    assert claim.delta == sampling_delta(75, 0.7, claim.sampling_epsilon)
    assert claim.proven
    assert not claim.seeded
    assert release.model == KAnonymity(75)
    assert release.verify().levels["k-anonymity(k=75)"] >= 75
    assert release.run.notes == ()


def test_k_is_raised_to_reach_delta():
    options = {"delta": 1e-4, "n0": 300, "seed": 1}
    release = shoal.anonymize(small(CELLS * 60), KAnonymity(5), "safe-la", **options)
    (claim,) = release.claims
    assert claim.k == least_k(1.4, 1e-4, 0.7) > 5
    assert claim.delta <= 1e-4
    assert release.model == KAnonymity(claim.k)
    assert f"k is {claim.k} instead of 5 to reach delta" in release.run.notes
    enough = shoal.anonymize(small(CELLS * 60), KAnonymity(100), "safe-la", **options)
    assert enough.claims[0].k == 100


@pytest.mark.parametrize(
    ("options", "stated", "least"),
    [
        ({}, "delta = 0.168 exceeds 1/n0 = 0.0001", 35),
        ({"published": True}, "delta = 0.168 exceeds 1/n0 = 0.0001", 44),
        ({"delta": 1e-3, "n0": 2000}, "delta = 0.000794 exceeds 1/n0 = 0.0005", 26),
    ],
)
def test_a_large_delta_is_refused_with_the_k_that_avoids_it(options, stated, least):
    table = small(CELLS * 5)
    with pytest.raises(InputError, match="set allow_large_delta to release") as refused:
        shoal.anonymize(table, KAnonymity(5), "safe-la", **options)
    assert stated in str(refused.value)
    assert f"use k = {least} or more" in str(refused.value)
    shoal.anonymize(table, KAnonymity(least), "safe-la", **options)
    with pytest.raises(InputError, match="allow_large_delta"):
        SafeLA(**{**options, "delta": None}).price(KAnonymity(least - 1))


def test_an_allowed_large_delta_is_noted():
    release = shoal.anonymize(small(CELLS * 5), KAnonymity(2), "safe-la", **LARGE_DELTA)
    assert "exceeds 1/n0, as allow_large_delta permits" in " ".join(release.run.notes)


def test_columns_that_tell_records_apart_are_named():
    table = people([(20, "a", "u", 1)] * 9)
    release = shoal.anonymize(table, KAnonymity(2), "safe-la", **LARGE_DELTA)
    assert "classes are also counted over the published columns ill, pay" in " ".join(
        release.run.notes
    )


def test_the_published_mechanism_says_that_it_is_unproven():
    k, options = 2, {"beta": 0.5, "epsilon": 1.0, "choice": 0.1, **LARGE_DELTA}
    release = shoal.anonymize(small(CELLS * 9), KAnonymity(k), "safe-la", published=True, **options)
    (claim,) = release.claims
    assert not claim.proven
    assert claim.delta == sampling_delta(k, 0.5, claim.sampling_epsilon, form="published")
    assert "not proven" in " ".join(release.run.notes)
    assert "not proven" in page(contents(release))


@pytest.mark.parametrize(("published", "seen"), [(True, 2), (False, 6)])
def test_only_the_published_mechanism_chooses_on_its_sample(published, seen, monkeypatch):
    records = []
    of = NodeChoice.of

    def spying(parts, **options):
        records.append((sum(part.table.records for part in parts), options["score"]))
        return of(parts, **options)

    monkeypatch.setattr(NodeChoice, "of", spying)
    sample = np.array([1, 1, 0, 0, 0, 0])
    monkeypatch.setattr(SampledDraw, "_sample", lambda *_: sample)
    options = {"published": published, **LARGE_DELTA}
    shoal.anonymize(small(CELLS), KAnonymity(2), "safe-la", **options)
    assert records == [(seen, "published" if published else "expected")]


def test_a_seed_repeats_a_release_and_is_said_to_be_for_testing():
    table = small(CELLS * 20)
    options = {"n0": 100, "method": "safe-la", "seed": 4, **LARGE_DELTA}
    one, again = (shoal.anonymize(table, KAnonymity(3), **options) for _ in range(2))
    assert one.to_arrow().equals(again.to_arrow())
    assert one.node == again.node
    assert "for testing only" in " ".join(one.run.notes)
    assert one.claims[0].seeded
    secure = {
        shoal.anonymize(table, KAnonymity(3), "safe-la", n0=100, **LARGE_DELTA).to_arrow().num_rows
        for _ in range(12)
    }
    assert len(secure) > 1


def test_the_draws_of_node_and_sample_have_seeds_of_their_own():
    assert len(set(draw_seeds(4, slots=3))) == 5
    assert draw_seeds(None, slots=2) == [None] * 4


def test_a_seed_draws_the_same_release_whatever_the_order_of_the_rows():
    rows = CELLS * 20
    options = {"n0": 100, "method": "safe-la", "seed": 4, **LARGE_DELTA}
    one, other = (
        shoal.anonymize(small(each), KAnonymity(3), **options) for each in (rows, rows[::-1])
    )
    assert one.to_arrow().equals(other.to_arrow())
    assert 0 < one.to_arrow().num_rows < len(rows)


def test_a_weighted_table_is_drawn_record_by_record():
    light = small(CELLS)
    heavy = Table(light.columns, np.arange(1, 7) * 5)
    full = small([cell for i, cell in enumerate(CELLS) for _ in range(5 * (i + 1))])
    options = {"n0": 50, "seed": 2, **LARGE_DELTA}
    short, long = (
        shoal.anonymize(table, KAnonymity(4), "safe-la", **options) for table in (heavy, full)
    )
    assert short.to_arrow().equals(long.to_arrow())
    assert short.verify() == long.verify()
    assert repr(short) == repr(long)
    assert len(short.original) <= 2 * len(heavy)
    assert 0 < short.to_arrow().num_rows < heavy.records


@pytest.mark.parametrize("rows", [[], CELLS[:1], CELLS])
def test_a_release_may_be_empty(rows, tmp_path):
    release = shoal.anonymize(small(rows), KAnonymity(50), "safe-la")
    release.write(tmp_path / "none.csv")
    assert (tmp_path / "none.csv").read_text() == "letter,sign\n"
    assert release.verify().classes == 0
    told = contents(release)
    assert "Nothing was released" in page(told)
    json.dumps(told, allow_nan=False)
    assert "released=0" in repr(release)


def test_other_models_are_refused():
    table = people([(20, "a", "u", 1)] * 9)
    with pytest.raises(InputError, match="safe-la drops classes only by their size"):
        shoal.anonymize(table, KAnonymity(2) & LDiversity(2, "ill"), "safe-la")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"epsilon": 1.2, "published": True},
            r"needs epsilon of at least choice − ln\(1 − beta\) = 1\.30397",
        ),
        ({"beta": 0.8, "published": True}, "raise epsilon, or lower beta or choice"),
        ({"epsilon": 0.14}, r"leaves 0.04 for each sample after 0.1 for the choice"),
        ({"epsilon": 0.1}, "leaves 0 for each sample"),
        ({"epsilon": 101}, "leaves 100.9 for each sample"),
        ({"beta": 0}, "beta must be"),
        ({"beta": 1}, "beta must be less than 1"),
        ({"choice": 0}, "choice must be"),
        ({"penalty": -1}, "penalty must be"),
        ({"n0": 0}, "n0 must be"),
        ({"penalty": 1e-9}, "n0 / penalty must be"),
        ({"delta": 0}, "delta must be"),
        ({"delta": "1e-6"}, "delta must be"),
        ({"published": "yes"}, "published must be one of"),
        ({"allow_large_delta": "yes"}, "allow_large_delta must be one of"),
        ({"seed": -1}, "seed must be"),
        ({"epsilon": math.nan}, "epsilon must be"),
    ],
)
def test_options_without_meaning_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        SafeLA(**options)


def test_a_smaller_epsilon_is_paid_for_in_delta():
    method = SafeLA(epsilon=0.1 - math.log(0.3), choice=0.1, beta=0.7)
    assert method.claim(75).delta == pytest.approx(2.15e-7, rel=0.01)
    less = replace(method, epsilon=1.0, delta=1e-6)
    assert less.claim(75).delta == sampling_delta(75, 0.7, 0.9) > method.claim(75).delta
    assert less.price(KAnonymity(5)).k == least_k(0.9, 1e-6, 0.7)
    assert less.claim(75).epsilon == 1.0


def test_a_lattice_too_large_is_refused_by_its_shape():
    cells = {f"q{i}": ["a", "b"] for i in range(30)}
    role = {"role": "quasi", "type": "text", "values": ["a", "b"]}
    table = Table.from_arrow(pa.table(cells), dict.fromkeys(cells, role))
    with pytest.raises(InputError, match="1,073,741,824 nodes, too many"):
        shoal.anonymize(table, KAnonymity(50), "safe-la")


cells = st.tuples(
    st.sampled_from([5, 20, 23, 30, 31]),  # some are labels too; by text they come otherwise
    st.sampled_from("abc"),
    st.sampled_from("uv"),
    st.sampled_from([1.5, 2.0]),
)


@st.composite
def left_out_differently(draw):
    """A node, and two tables of the same released rows, each with others in small classes."""
    k, node = 3, draw(nodes)
    kinds = draw(st.lists(cells, max_size=4, unique_by=lambda row: shown(row, node)))
    kept = [row for row in kinds for _ in range(draw(st.integers(k, k + 2)))]
    tables = []
    for _ in range(2):
        sizes, others = Counter(shown(row, node) for row in kept), []
        for row in draw(st.lists(cells, max_size=8)):
            if shown(row, node) not in {shown(r, node) for r in kept} and (
                sizes[shown(row, node)] < k - 1
            ):
                others.append(row)
                sizes[shown(row, node)] += 1
        tables.append(draw(st.permutations(kept + others)) or [(1, "a", "u", 1.5)])
    return k, node, tables


def everything(release, folder):
    """All that leaves the house: files, reports, the summary, what is printed."""
    for name in ("out.csv", "out.parquet", "report.html", "report.json"):
        if name.startswith("out"):
            release.write(folder / name, force=True)
        else:
            release.report(folder / name, released=folder / "out.csv", force=True)
        yield (folder / name).read_bytes()
    yield json.dumps(plain(summarize(release, release.verify(), None)))
    yield repr(release)


@examples(25)
@given(left_out_differently())
def test_records_that_are_not_released_change_nothing_that_leaves(tmp_path_factory, pair):
    k, node, tables = pair
    folder = tmp_path_factory.mktemp("leaving")
    first, second = (list(everything(released(rows, node, k), folder)) for rows in tables)
    assert first == second


def test_other_released_records_do_change_what_leaves(tmp_path):
    """So the test above looks at something."""
    rows = [[(20, "a", "u", 1.5)] * n for n in (3, 4)]
    first, second = (list(everything(released(r, (0, 0), 3), tmp_path)) for r in rows)
    assert all(one != other for one, other in zip(first, second, strict=True))


def test_the_owner_still_sees_what_it_cost():
    release = released([(20, "a", "u", 1.5)] * 3 + [(90, "b", "v", 2.0)], (0, 0), 3)
    assert release.withheld
    assert release.classes.suppressed == 1
    assert shoal.metrics.evaluate(release, ("ncp",))["ncp"] == 0.25


def test_the_order_of_rows_does_not_tell_whether_some_were_left_out():
    rows = [(23, "a", "u", 1.5)] * 3 + [(5, "a", "u", 1.5)] * 3
    for others in ([], [(31, "b", "u", 1.5)], [(4, "c", "v", 2.0)]):
        found = released([*others, *rows], (0, 0), 3).to_arrow()
        assert found.column("age").to_pylist() == [5] * 3 + [23] * 3
    found = released(rows, (1, 1), 3).to_arrow()
    assert found.column("age").to_pylist() == ["0"] * 3 + ["20"] * 3


def test_a_coarser_column_is_text_whatever_ages_there_are():
    for rows in ([(23, "a", "u", 1.5)] * 3, [(23, "a", "u", 1.5)] * 3 + [(20, "b", "u", 1.5)]):
        found = released(rows, (1, 0), 3).to_arrow()
        assert found.schema.field("age").type == pa.string()
        assert found.column("age").to_pylist() == ["20"] * 3


def test_its_lattice_is_not_drawn(tmp_path):
    release = released([(20, "a", "u", 1.5)] * 3, (0, 0), 3)
    with pytest.raises(InputError, match="cannot draw its lattice"):
        draw_release(release, tmp_path / "lattice.svg")


def test_without_claims_a_release_is_told_as_ever():
    release = released([(20, "a", "u", 1.5)] * 3 + [(90, "b", "v", 2.0)], (0, 0), 3)
    bare = replace(release, claims=())
    assert not bare.withheld
    assert "rows=4" in repr(bare)
    assert contents(bare, least=2)["records"]["released"] == 3


@pytest.mark.parametrize("as_json", [True, False])
def test_the_command_tells_the_claim_and_nothing_of_those_left_out(
    as_json, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    lines = [f"{20 + i % 2},{'ab'[i % 2]}" for i in range(4321)]
    (tmp_path / "in.csv").write_text("\n".join(["age,town", *lines]) + "\n")
    (tmp_path / "in.yaml").write_text(
        "columns:\n  age: {role: quasi, type: integer, bounds: [0, 99]}\n"
        "  town: {role: quasi, type: text, values: [a, b]}\n"
    )
    command = "shoal anonymize in.csv --schema in.yaml -k 90 --method safe-la -o out.csv"
    options = [
        "-O",
        "n0=5000",
        "-O",
        "delta=1e-4",
        "--report",
        "report.json",
        *(["--json"] * as_json),
    ]
    monkeypatch.setattr(sys, "argv", [*command.split(), *options])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code in (0, None)
    told = capsys.readouterr().out
    report = (tmp_path / "report.json").read_text()
    assert "differential privacy under sampling(0.7, 1.5," in told
    for text in (told, report):
        assert "4321" not in text.replace(",", "")
    if as_json:
        data = json.loads(told)
        assert data["records"] is data["suppressed"] is None
        assert data["loss"] == data["seconds"] == {}
        assert data["report"] == json.loads(report)
        assert data["options"]["delta"] == 1e-4
        assert data["claims"][0]["delta"] == sampling_delta(90, 0.7, 1.5 - 0.1)
    else:
        assert "total: ε = 0.1 + 1.4 = 1.5" in told
