"""The corpus of the benchmark: tables with the traps of public ones, and the roles they deserve."""

from __future__ import annotations

import pytest
from benchmarks.corpus import EXPERT, ROLES, TABLES, generate


def test_every_table_has_an_expert():
    assert len(TABLES) >= 18
    assert EXPERT.keys() == TABLES.keys()


@pytest.mark.parametrize("name", TABLES)
def test_every_column_has_a_declared_role(name):
    expert, columns = EXPERT[name], generate(name, 300).names
    assert len(set(columns)) == len(columns)
    assert set(expert.roles) == set(columns)
    assert {role for roles in expert.roles.values() for role in roles} <= set(ROLES)
    assert 3 <= len(expert.chosen("quasi")) <= 8
    assert len(expert.chosen("weight")) <= 1
    assert set(expert.person) <= set(expert.chosen("identifier"))
    assert {column for group in expert.copies for column in group} <= set(columns)
    assert len(expert.reason) > 80


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_generated_the_same_again_with_as_many_rows_as_asked(name, tmp_path):
    first, second = generate(name, 300), generate(name, 300)
    assert first.columns == second.columns
    assert {len(cells) for cells in first.columns} == {300}
    assert first.write(tmp_path).stat().st_size > 300 * len(first.columns)


@pytest.mark.parametrize("name", TABLES)
def test_tables_have_the_promised_sizes(name):
    table = generate(name).arrow()
    assert 9 <= table.num_columns <= 120
    assert 300 <= table.num_rows <= 6_000


def test_a_person_of_an_expert_is_one_where_rows_repeat():
    repeated = {
        name
        for name, expert in EXPERT.items()
        if expert.person
        and len(
            generate(name)
            .arrow()
            .select(list(expert.person))
            .group_by(list(expert.person))
            .aggregate([])
        )
        < TABLES[name][1]
    }
    assert repeated == {"stays", "encounters", "calls", "training"}


def test_headers_that_repeat_or_are_empty_get_names_of_their_own():
    assert generate("recidivism", 20).names.count("decile_score.1") == 1
    assert generate("players", 20).headers[0] == ""
    assert generate("players", 20).names[0] == "column_1"


def test_a_file_shows_its_traps(tmp_path):
    polish = generate("polish", 20).write(tmp_path).read_bytes()
    assert not polish.startswith((b"\xff\xfe", b"\xfe\xff"))
    assert polish.decode("utf-16-le").startswith("PESEL;Imię")
    line = generate("police", 20).text().splitlines()[1]
    assert line.count("/") == 2
    assert generate("income", 20).text().splitlines()[1].count(",") == 5
