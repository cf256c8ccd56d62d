"""A null, a NaN and an empty text are one missing value, wherever rows are and whatever is written.

A text file shows them alike, so a guarantee that holds before a release is written holds for every
file and frame of it, and one that does not hold holds for none.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests import oracle
from tests.cases import told
from tests.examples import examples

import shoal
from shoal import KAnonymity, Recoding, Release, Table
from shoal.checking import published_on_disk
from shoal.cli import main
from shoal.errors import NotAnonymous, ShoalError
from shoal.files.writing import write_table
from shoal.privacy.models import parse
from shoal.release.verification import judge
from shoal.rows.file_sources import find_source
from shoal.rows.memory import Budget

NAN = float("nan")
TEXTS = ["", None, " ", "NA", "nan", "missing", "a"]
NUMBERS = [NAN, None, 1.5, -2.0]
TYPES = {"word": pa.string(), "size": pa.float64(), "said": pa.string(), "dose": pa.float64()}
CELLS = {"word": TEXTS, "size": NUMBERS, "said": TEXTS, "dose": NUMBERS}
QUASI, SENSITIVE = ["word", "size"], ["said", "dose"]
ROLES = dict.fromkeys(QUASI, "quasi") | dict.fromkeys(SENSITIVE, "sensitive")
ENDINGS = [".csv", ".tsv", ".parquet"]
NEEDS_COLUMN = [
    *("l-diversity(2, {})", "l-diversity(2, {}, count_missing=True)"),
    *("entropy-l-diversity(1.7, {})", "recursive-l-diversity(1.5, 2, {})"),
    *("t-closeness(0.3, {})", "alpha-k-anonymity(0.6, 2, {})"),
    *("delta-disclosure(1.1, {})", "beta-likeness(0.7, {})"),
]
BY_COLUMN = [text.format(name) for text in NEEDS_COLUMN for name in SENSITIVE]
ALONE = ["k-anonymity(3)", "km-anonymity(3, 1)", "risk(0.4)", "average-risk(0.4)"]
POPULATION = ["k-map(4)", "delta-presence(0.1, 0.6)"]
COVERAGE = [
    *("freeform-anonymity(3)", "k-concealment(3)", "k-k-anonymity(3)"),
    *("one-k-anonymity(3)", "k-one-anonymity(3)"),
]
MODELS = [parse(text) for text in (*ALONE, *BY_COLUMN, *POPULATION, *COVERAGE)]
# what classes show, so that a file without its original is enough
ALONE_IN_FILE = [m for m in MODELS if m.by_class and not m.needs_population]
# what classes show without their rows, and the oracle judges class by class
JUDGED = [m for m in ALONE_IN_FILE if m.name not in ("km-anonymity", "average-risk")]


def rows_of(*names):
    """Draw rows in few different forms, so that classes have several rows."""
    row = st.tuples(*(st.sampled_from(CELLS[name]) for name in names))
    few = st.lists(row, min_size=1, max_size=4)
    return few.flatmap(lambda forms: st.lists(st.sampled_from(forms), min_size=4, max_size=16))


def table_of(rows, names=tuple(CELLS)):
    cells = zip(*rows, strict=True)
    return pa.table({n: pa.array(c, TYPES[n]) for n, c in zip(names, cells, strict=True)})


def as_they_are(data, model):
    """Return the release that changes nothing."""
    table = Table.from_arrow(data, ROLES, rows_are_people=True)
    everyone = table.take([*range(len(table)), *range(len(table))])
    table = replace(table, population=replace(everyone, population=None))
    return Release(table, {c.name: Recoding.identity(c) for c in table.quasi_columns}, model)


def files_of(release, folder):
    """Write a release as every kind of file, whether or not its model holds."""
    for ending in ENDINGS:
        path = folder / f"release{ending}"
        write_table(release._published(spelled=ending != ".parquet"), path, force=True)
        yield path


def frames_of(release):
    arrow = release.to_arrow()
    return [arrow, release.to_pandas(), release.to_polars(), pl.from_arrow(arrow).rechunk()]


def by_hand(data, model):
    """Return the verdict of the oracle on raw rows, None for a model that it judges otherwise."""
    rows = data.to_pylist()
    found = oracle.classes(rows, QUASI)
    if model.name == "average-risk":
        return oracle.keeps_release(model, found, None, QUASI, {})
    if model not in JUDGED:
        return None
    return all(oracle.keeps(model, members, rows) for members in found)


def verdict(outcome):
    levels = {name: round(level, 9) for name, level in outcome.levels.items()}
    return outcome.holds, outcome.classes, outcome.failing, levels


def checked(rows, model, **options):
    """Return whether `shoal.check` accepts published rows."""
    try:
        shoal.check(rows, model, quasi=QUASI, **options)
    except NotAnonymous:
        return False
    return True


def checked_on_disk(path, model):
    columns = {name: {"role": role} for name, role in ROLES.items()}
    units = {"person": (), "household": (), "rows_are_people": True}
    published = published_on_disk(find_source(path), columns, {}, units, Budget.parse("1GB"))
    with published.table:
        return judge(published.classes, model)


def test_every_model_is_tried():
    assert {model.name for model in MODELS} == set(shoal.MODELS)


@pytest.mark.parametrize("model", MODELS, ids=str)
@examples(15)
@given(rows=rows_of(*CELLS))
def test_a_model_holds_before_writing_as_it_holds_for_every_file(tmp_path_factory, model, rows):
    data, folder = table_of(rows), tmp_path_factory.mktemp("files")
    release = as_they_are(data, model)
    before = release.verify()
    assert by_hand(data, model) in (None, before.holds)
    for source in (*files_of(release, folder), *frames_of(release)):
        with told(getattr(source, "suffix", type(source))):
            read = shoal.read_released(source, release.original, model=model)
            assert verdict(read.verify()) == verdict(before)
            if model in ALONE_IN_FILE:
                assert checked(source, model) == before.holds


@pytest.mark.parametrize("model", JUDGED, ids=str)
@examples(2)
@given(rows=rows_of(*CELLS))
def test_a_model_holds_on_disk_as_it_holds_in_memory(tmp_path_factory, model, rows):
    data, folder = table_of(rows), tmp_path_factory.mktemp("files")
    release = as_they_are(data, model)
    for path in files_of(release, folder):
        with told(path.suffix):
            assert verdict(checked_on_disk(path, model)) == verdict(release.verify())


def write_source(data, folder, ending):
    """Write raw rows; JSON lines have both empty texts and nulls."""
    path = folder / f"source{ending}"
    if ending == ".parquet":
        pq.write_table(data, path)
    else:
        lines = [
            {name: None if cell != cell else cell for name, cell in row.items()}
            for row in data.to_pylist()
        ]
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def released(read, source, model, output):
    """Return the file of a release, None if the model cannot be met."""
    try:
        shoal.anonymize(read(source, roles=ROLES, rows_are_people=True), model).write(output)
    except ShoalError:
        return None
    return output


@pytest.mark.parametrize("text", ["l-diversity(2, said)", "t-closeness(0.4, dose)"])
@pytest.mark.parametrize("source_ending", [".parquet", ".jsonl"])
@examples(8)
@given(rows=rows_of(*CELLS))
def test_what_is_released_is_verified_from_the_file(tmp_path_factory, source_ending, text, rows):
    model = KAnonymity(2) & parse(text)
    folder = tmp_path_factory.mktemp("files")
    source = write_source(table_of(rows), folder, source_ending)
    readers = {"memory": shoal.read}
    if source_ending == ".parquet":
        readers["disk"] = shoal.open
    for where, read in readers.items():
        paths = [folder / f"{where}{ending}" for ending in ENDINGS]
        made = [released(read, source, model, path) for path in paths]
        assert made in (paths, [None] * len(paths))
        assert all(path is None or checked(path, model) for path in made)


@pytest.mark.parametrize("engine", [[], ["--engine", "duckdb"]], ids=["memory", "duckdb"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_an_empty_text_makes_no_class_more_diverse(tmp_path, monkeypatch, ending, engine):
    said = pa.array(["flu", "", "flu", "", "cold", "", "cold", "cold"])
    source, output = tmp_path / "people.parquet", tmp_path / f"release{ending}"
    pq.write_table(pa.table({"word": ["x"] * 4 + ["y"] * 4, "said": said}), source)
    asked = ["--quasi", "word", "--model", "l-diversity(2, said)", "--sensitive", "said", *engine]

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shoal", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0

    assert run("anonymize", source, *asked, "-o", output) == 0
    assert shoal.check(output, "l-diversity(2, said)", quasi="word").classes == 1
    assert run("verify", output, *asked) == 0
