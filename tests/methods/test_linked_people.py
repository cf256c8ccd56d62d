"""Releases with pseudonyms: the guarantee holds for all rows of a person together."""

import random
from collections import defaultdict
from dataclasses import replace

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle
from tests.cases import told
from tests.examples import examples

import shoal
from shoal.errors import InputError, NotAnonymous
from shoal.identifiers import Key
from shoal.privacy import parse
from shoal.risk.singling_out import count_linked

KEY = Key(bytes(range(32)))
OPTIONS = {"replace": {"who": "pseudonym"}, "key": KEY, "domain": "study"}
VISITS = pa.table(
    {
        "who": list("aabbccddee"),
        "age": [30, 30, 31, 31, 40, 40, 41, 41, 42, 42],
        "month": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
        "ill": ["flu", "cold"] * 5,
    }
)


def fewest_alike(release, identifier, quasi):
    """Count naively: the fewest people whose rows together show the same set of values."""
    shown = defaultdict(set)
    for row in release.to_arrow().to_pylist():
        shown[row[identifier]].add(tuple(row[name] for name in quasi))
    alike = defaultdict(int)
    for rows in shown.values():
        alike[frozenset(rows)] += 1
    return min(alike.values())


@pytest.mark.parametrize("method", ["mondrian", "greedy", "k-member", "sorted"])
@pytest.mark.parametrize("quasi", [["age"], ["age", "month"]])
def test_linked_rows_show_the_same_for_k_people(method, quasi):
    release = shoal.anonymize(
        VISITS.select(["who", *quasi, "ill"]),
        method=method, k=2, quasi=quasi, sensitive="ill", person="who", **OPTIONS,
    )  # fmt: skip
    assert release.verify()
    assert fewest_alike(release, "who", quasi) >= 2


def test_full_domain_methods_recode_constant_columns_once_per_person():
    release = shoal.anonymize(
        VISITS.select(["who", "age", "ill"]), method="flash", k=2, quasi="age", sensitive="ill",
        person="who", hierarchies={"age": {"intervals": [10, 20]}}, **OPTIONS,
    )  # fmt: skip
    assert release.node == {"age": 1}
    assert fewest_alike(release, "who", ["age"]) >= 2


def test_a_suppressed_person_loses_all_rows():
    rows = pa.table({"who": list("aabbccdd"), "age": [30, 30, 31, 31, 32, 32, 90, 90]})
    release = shoal.anonymize(
        rows, method="flash", k=3, quasi="age", person="who", max_suppression=0.25,
        hierarchies={"age": {"intervals": [10]}}, **OPTIONS,
    )  # fmt: skip
    assert release.to_arrow().num_rows == 6


def test_rows_recoded_one_by_one_are_not_released_with_a_pseudonym():
    """The check itself refuses what a careless method makes."""
    by_row = shoal.anonymize(VISITS.select(["who", "month"]), k=2, quasi="month", person="who")
    linked = shoal.anonymize(
        VISITS.select(["who", "month"]), k=2, quasi="month", person="who", **OPTIONS
    )
    careless = replace(by_row, replaced=linked.replaced)
    assert by_row.verify()
    assert not careless.verify()
    with pytest.raises(NotAnonymous):
        careless.write("never.csv")


def test_one_row_per_person_keeps_its_cells_and_gains_a_pseudonym():
    people = pa.table({"who": list("abcd"), "age": [30, 31, 40, 41]})
    plain = shoal.anonymize(people, k=2, quasi="age", identifier="who")
    named = shoal.anonymize(people, k=2, quasi="age", identifier="who", **OPTIONS)
    assert named.to_arrow().column_names == ["who", "age"]
    assert named.to_arrow().select(["age"]).equals(plain.to_arrow())
    assert "who" not in plain.to_arrow().column_names


def test_the_order_of_written_rows_does_not_depend_on_the_order_of_people(tmp_path):
    people = pa.table({"who": [f"{n:03}" for n in range(50)], "age": [30] * 50})
    for name, rows in [("one.csv", people), ("two.csv", people.take(list(range(49, -1, -1))))]:
        release = shoal.anonymize(rows, k=2, quasi="age", identifier="who", **OPTIONS)
        release.write(tmp_path / name)
    written = (tmp_path / "one.csv").read_text()
    assert written == (tmp_path / "two.csv").read_text()
    shown = [line.split(",")[0] for line in written.split()[1:]]
    assert sorted(shown) == sorted(release.to_arrow().column("who").to_pylist())
    assert shown != release.to_arrow().column("who").to_pylist()


def test_models_about_single_rows_and_people_are_refused_for_linked_rows():
    with pytest.raises(InputError, match="links the rows"):
        shoal.anonymize(
            VISITS.select(["who", "age"]), "freeform-anonymity(2)", method="doka-greedy",
            quasi="age", person="who", **OPTIONS,
        )  # fmt: skip


def test_differential_privacy_is_not_claimed_beside_pseudonyms():
    with pytest.raises(InputError, match="differential privacy"):
        shoal.anonymize(
            VISITS.select(["who", "age"]), k=2, method="safe-la", quasi="age", person="who",
            **OPTIONS,
        )  # fmt: skip


def test_rows_that_a_pseudonym_links_are_not_people():
    with pytest.raises(InputError, match="rows are not people"):
        shoal.anonymize(
            VISITS.select(["who", "age"]), k=2, quasi="age", identifier="who",
            rows_are_people=True, **OPTIONS,
        )  # fmt: skip


def test_only_identifiers_are_replaced():
    with pytest.raises(InputError, match="'age' has the role quasi"):
        shoal.anonymize(
            VISITS.select(["who", "age"]), k=2, quasi="age", person="who",
            replace={"age": "pseudonym"},
        )  # fmt: skip


def test_the_report_and_the_caveats_state_what_linked_rows_reveal(tmp_path):
    rows = pa.table({"who": list("aaabbccdd"), "age": [30] * 9, "cost": list(range(9))})
    release = shoal.anonymize(rows, k=2, quasi="age", insensitive="cost", person="who", **OPTIONS)
    release.report(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "130 bits of HMAC-SHA-256" in page
    assert "Pseudonyms" in page
    found = count_linked(release)
    assert (found.people, found.by_count, found.by_values) == (4, 1, 4)


@pytest.mark.parametrize("method", ["mondrian", "flash"])
@pytest.mark.parametrize("model", ["k-anonymity(3)", "k-anonymity(3) & l-diversity(2, ill)"])
def test_the_order_of_rows_does_not_decide_which_row_stands_for_a_person(method, model, tmp_path):
    draw = random.Random(2)
    people = [draw.randrange(30) for _ in range(120)]
    rows = pa.table(
        {
            "who": [f"p{person}" for person in people],
            "age": [20 + person for person in people],
            "month": [draw.randrange(12) for _ in people],
            "ill": [draw.choice(["flu", "cold", "gout"]) for _ in people],
        }
    )
    written = []
    for seed in range(3):
        order = list(range(len(people)))
        random.Random(seed).shuffle(order)
        release = shoal.anonymize(
            rows.take(order), model, method=method, quasi=["age", "month"], sensitive="ill",
            person="who", hierarchies={"age": {"intervals": [5, 10]}}, **OPTIONS,
        )  # fmt: skip
        release.write(tmp_path / f"{seed}.csv")
        written.append((tmp_path / f"{seed}.csv").read_bytes())
    assert written[0] == written[1] == written[2]


def test_people_who_share_a_published_identifier_count_as_one():
    rows = pa.table(
        {
            "who": ["a", "a", "b", "c", "c", "d", "e", "f", "g", "h"],
            "phone": ["1", "2", "2", "3", "3", "4", "5", "6", "7", "8"],
            "age": [30, 31, 31, 30, 31, 32, 40, 41, 42, 43],
        }
    )
    options = {**OPTIONS, "replace": {"phone": "pseudonym"}}
    release = shoal.anonymize(rows, k=4, quasi="age", person="who", identifier="phone", **options)
    shown = defaultdict(set)
    for row, who in zip(release.to_arrow().to_pylist(), rows["who"].to_pylist(), strict=True):
        shown[row["age"]].add({"a": "ab", "b": "ab"}.get(who, who))
    assert min(map(len, shown.values())) >= 4


MODELS = [
    "k-anonymity(2)",
    "l-diversity(2, ill)",
    "l-diversity(2, ill, count_missing=true)",
    "entropy-l-diversity(1.8, ill)",
    "recursive-l-diversity(2.5, 2, ill)",
    "t-closeness(0.35, ill)",
    "alpha-k-anonymity(0.7, 2, ill)",
    "delta-disclosure(1.9, ill)",
    "beta-likeness(1.5, ill)",
    "beta-likeness(2, ill, enhanced=false)",
    "k-anonymity(3) & t-closeness(0.4, ill)",
    "risk(0.4)",
    "average-risk(0.3)",
    "average-risk(0.3) & beta-likeness(2, ill)",
]
SEARCHES = [
    ("mondrian", {}),
    ("mondrian", {"strict": False}),
    ("greedy", {}),
    ("k-member", {}),
    ("anneal", {"steps": 20}),
    ("flash", {"max_suppression": 0.3}),
    ("ola", {"max_suppression": 0.3, "local": True}),
    ("incognito", {}),
]


@st.composite
def linked_visits(draw):
    """Rows of people that a number links: one of each person, of several, or of some rows."""
    people = draw(st.integers(3, 12))
    rows = draw(st.lists(st.integers(0, people - 1), min_size=people, max_size=30))
    number = {
        "own": rows,
        "shared by two": [who // 2 for who in rows],
        "of some rows": [2 * who + place % 2 for place, who in enumerate(rows)],
    }[draw(st.sampled_from(["own", "shared by two", "of some rows"]))]

    def cells(values):
        own = draw(st.lists(values, min_size=people, max_size=people))
        each = draw(st.lists(values, min_size=len(rows), max_size=len(rows)))
        return draw(st.sampled_from([[own[who] for who in rows], each]))

    return pa.table(
        {
            "who": rows,
            "number": [f"n{each}" for each in number],
            "age": cells(st.integers(20, 40)),
            "ward": cells(st.sampled_from(["a", "b", "c"])),
            "ill": pa.array(cells(st.sampled_from(["flu", "gout", "cold", None])), pa.string()),
        }
    )


def joined(rows):
    """Number each row by whom it may be about: rows of one person or of one number are of one."""
    whose = list(range(len(rows)))
    for name in ("who", "number") * len(rows):
        for one in whose.copy():
            same = {rows[place][name] for place, of in enumerate(whose) if of == one}
            whose = [one if rows[p][name] in same else of for p, of in enumerate(whose)]
    return whose


@pytest.mark.slow
@pytest.mark.parametrize(("method", "options"), SEARCHES, ids=str)
def test_every_model_is_met_by_all_rows_of_a_person_or_not_at_all(method, options):
    @examples(40, deep=1000)
    @given(linked_visits(), st.sampled_from(MODELS))
    def run(data, text):
        model, raw = parse(text), data.to_pylist()
        everybody = [{**row, oracle.PERSON: who} for row, who in zip(raw, joined(raw), strict=True)]
        with told(text):
            try:
                release = shoal.anonymize(
                    data, model, method, quasi=["age", "ward"], sensitive="ill", person="who",
                    hierarchies={"age": {"intervals": [5, 10]}}, identifier="number",
                    **{**OPTIONS, "replace": {"number": "pseudonym"}}, **options,
                )  # fmt: skip
            except (shoal.Infeasible, InputError):
                assert not holds(model, [everybody], everybody)
                return
            kept = [place for place, of in enumerate(release.classes.ids) if of >= 0]
            published = release.to_arrow().to_pylist()
            shown = defaultdict(set)
            for row in published:
                shown[row["number"]].add((row["age"], row["ward"]))
            rows = [
                {**row, "linked": str(sorted(shown[row["number"]])), **unit_of(everybody[place])}
                for row, place in zip(published, kept, strict=True)
            ]
            classes = oracle.classes(rows, ["age", "ward", "linked"])
            assert holds(model, classes, everybody)

    run()


def unit_of(row):
    return {oracle.PERSON: row[oracle.PERSON]}


def holds(model, classes, everybody):
    return all(
        oracle.keeps_release(part, classes, None, [], {})
        if part.name == "average-risk"
        else all(oracle.keeps(part, members, everybody) for members in classes)
        for part in model.parts
    )


def test_all_rows_of_a_person_are_looked_at_before_people_are_grouped():
    """The first row of everyone shows flu, which tells a search on these rows nothing."""
    rows = pa.table(
        {
            "who": list("aabbccddeeff"),
            "age": [20, 20, 21, 21, 22, 22, 70, 70, 71, 71, 72, 72],
            "ill": ["flu", "gout", "flu", "gout", "flu", "gout", *["flu", "cold"] * 3],
        }
    )
    for method in ("mondrian", "greedy", "flash"):
        release = shoal.anonymize(
            rows, "k-anonymity(2) & beta-likeness(0.5, ill)", method=method, quasi="age",
            sensitive="ill", person="who", **OPTIONS,
        )  # fmt: skip
        assert release.verify()
