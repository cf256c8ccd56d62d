import os

import pytest

import shoal
from shoal.errors import HierarchyError, InputError
from shoal.files.schema import load_yaml
from shoal.table.column import Kind

PEOPLE = "name,age,town,grade\nAnn,31,Oslo,low\nBob,42,Rome,high\nCid,45,Rome,mid\n"


@pytest.fixture
def people(write):
    return write(PEOPLE)


def schema(write, text, name="people.yaml"):
    return write(text, name)


def test_roles_kinds_weights_and_bounds_come_from_the_schema(write, people):
    path = schema(
        write,
        "columns:\n  name: identifier\n  grade: {role: sensitive}\n  town: quasi\n"
        "  age: {role: quasi, kind: numeric, weight: 2, bounds: [0, 100]}\n",
    )
    table = shoal.read(people, path)
    assert (table.quasi, table.sensitive, table.names("identifier")) == (
        ("age", "town"),
        ("grade",),
        ("name",),
    )
    assert (table["age"].weight, table["age"].extent) == (2.0, (0.0, 100.0))


def test_a_hierarchy_file_lies_beside_the_schema(write, people):
    write("Oslo;North;*\nRome;South;*\n", "trees/town.csv")
    path = schema(write, "columns: {town: {role: quasi, hierarchy: trees/town.csv}}", "s.yaml")
    with pytest.warns(shoal.UnassignedColumns):
        table = shoal.read(people, path)
    assert table["town"].hierarchy.levels[1].labels == ("North", "South")


def test_a_hierarchy_may_be_a_recipe(write, people):
    path = schema(
        write,
        "columns:\n  age: {role: quasi, hierarchy: {intervals: [10, 20]}}\n"
        "  town: {role: quasi, hierarchy: {tree: {North: [Oslo], South: [Rome]}}}\n"
        "  name: identifier\n  grade: sensitive\n",
    )
    table = shoal.read(people, path)
    assert table["age"].hierarchy.height == 3
    assert table["town"].hierarchy.rows()[0] == ("Oslo", "North", "*")


def test_an_ordinal_column_of_text_has_its_order(write, people):
    roles = dict.fromkeys(("name", "age", "town"), "identifier")
    order = {"grade": {"role": "quasi", "kind": "ordinal", "order": ["low", "mid", "high"]}}
    column = shoal.read(people, roles={**roles, **order})["grade"]
    assert (column.kind, column.labels) == (Kind.ORDINAL, ("low", "mid", "high"))
    with pytest.raises(InputError, match=r"people\.csv: column 'grade': .*needs its order"):
        shoal.read(people, roles={**roles, "grade": {"role": "quasi", "kind": "ordinal"}})
    order["grade"]["order"] = ["low", "mid"]
    with pytest.raises(InputError, match="leaves out 1 of 3 values"):
        shoal.read(people, roles={**roles, **order})


def test_the_file_part_states_how_the_data_is_written(write):
    path = write("a;b\nx;NA\ny;2\n")
    text = "columns: {a: quasi, b: quasi}\nfile: {delimiter: ';', missing: [NA, -9]}\n"
    assert shoal.read(path, schema(write, text))["b"].labels == ("2", None)


def test_arguments_win_over_the_schema(write, people):
    write("a;b\n", "other.csv")
    told = {
        "columns": {"name": "quasi", "age": {"role": "quasi", "weight": 3}, "town": "quasi"},
        "file": {"delimiter": ";", "missing": ["Oslo"]},
    }
    table = shoal.read(
        people,
        told,
        roles={"name": "identifier", "age": "sensitive", "grade": "sensitive"},
        hierarchies={"town": {"mask": "right"}},
        delimiter=",",
        missing=["Rome"],
    )
    assert table.names("identifier") == ("name",)
    assert (table["age"].role, table["age"].weight) == ("sensitive", 3.0)
    assert table["town"].labels == ("Oslo", None)
    assert table["town"].hierarchy.height == 4


def test_names_and_listed_values_are_read_as_written():
    text = "{no: {order: [007, no, 1.50, 2024-01-01]}, 2020: {tree: {1_0: [0x1, ~]}}}"
    assert load_yaml(text) == {
        "no": {"order": ["007", "no", "1.50", "2024-01-01"]},
        "2020": {"tree": {"1_0": ["0x1", None]}},
    }


def test_entries_may_be_shared_by_anchors():
    text = "a: &usual {role: quasi, weight: 2}\nb: {<<: *usual, weight: 3}\nc: *usual\n"
    assert load_yaml(text) == {
        "a": {"role": "quasi", "weight": 2},
        "b": {"role": "quasi", "weight": 3},
        "c": {"role": "quasi", "weight": 2},
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("columns:\n  age: {role: quasi\n  town: x\n", "line 3 is not valid YAML"),
        ("columns:\n\tage: quasi\n", "line 2 is not valid YAML"),
        ("columns:\n  age: quasi\n  age: insensitive\n", "line 2 is not valid YAML; a name is"),
        ("columns: {age: !!python/name:os.system }", "line 1 is not valid YAML"),
        ("columns: {[1, 2]: quasi}", "line 1 is not valid YAML"),
        ("columns: {age: {bounds: [2024-13-45, 1]}}", "is not valid YAML"),
        ("columns: " + "[" * 2000 + "]" * 2000, "is not valid YAML"),
        ("", "the file is empty"),
        ("# nothing\n", "needs a mapping  columns"),
        ("columns: [age]\n", "needs a mapping  columns"),
        ("colums: {age: quasi}\n", "needs a mapping  columns"),
        (
            "columns: {age: quasi}\nrows: 5\n",
            "unknown entry 'rows'; there are person, household, columns, file",
        ),
        ("columns: {age: [quasi]}\n", "column 'age' needs a mapping"),
        ("columns: {age:}\n", "column 'age' needs a mapping"),
        ("columns: {age: {rolle: quasi}}\n", "column 'age': unknown option 'rolle'; there are"),
        ("columns: {age: {role: [quasi]}}\n", "column 'age': role must be quasi"),
        ("columns: {age: {}}\n", "column 'age': no role; give one of"),
        ("columns: {age: {role: null}}\n", "column 'age': no role; give one of"),
        ("columns: {age: secret}\n", "column 'age': role 'secret' is not one of identifier, quasi"),
        ("columns: {age: quazi}\n", "column 'age': role 'quazi' (did you mean 'quasi'?) is not"),
        (
            "columns: {age: {role: quasi, kind: number}}\n",
            "(did you mean 'numeric'?) is not one of",
        ),
        (
            "columns: {age: {role: quasi, weight: -1}}\n",
            "column 'age': weight must be a number from 0",
        ),
        ("columns: {age: {role: quasi, weight: .nan}}\n", "column 'age': weight must be a number"),
        ("columns: {age: {role: quasi, weight: .inf}}\n", "column 'age': weight must be a number"),
        ("columns: {age: {role: quasi, bounds: [1, 2, 3]}}\n", "column 'age': bounds must be two"),
        ("columns: {age: {role: quasi, weight: heavy}}\n", "column 'age': weight must be a num"),
        ("columns: {age: {role: quasi, weight: yes}}\n", "column 'age': weight must be a number"),
        (
            "columns: {age: {role: quasi, weight: 1.0e+308}}\n",
            "weight must be a number from 0 to 1e",
        ),
        (
            f"columns: {{age: {{weight: {10**400}}}}}\n",
            "line 1 is not valid YAML; a date or number",
        ),
        (
            "columns:\n  age: {bounds: [2023-02-30, 2024-01-01]}\n",
            "line 2 is not valid YAML; a date",
        ),
        (
            "columns: {age: {role: quasi, weight: !!bool foo}}\n",
            "tags such as !!int are not accepted",
        ),
        ("columns: {age: {role: quasi, weight: !!int x}}\n", "tags such as !!int are not accepted"),
        ("columns: {age: {bounds: [!!timestamp x, 1]}}\n", "tags such as !!int are not accepted"),
        ("columns: {age: {values: !!set {a, b}}}\n", "tags such as !!int are not accepted"),
        ("columns: {age: {role: !!binary x}}\n", "tags such as !!int are not accepted"),
        ("columns: !!python/object:os.system {}\n", "tags such as !!int are not accepted"),
        ("columns: {age: {values: &a [*a]}}\n", "lists are nested too deep"),
        ("columns: {age: {order: {[1]: 2}}}\n", "a name must be text"),
        ("columns: {age: {role: quasi, bounds: 5}}\n", "column 'age': bounds must be two values"),
        ("columns: {age: {role: quasi, order: low}}\n", "column 'age': order must be the values"),
        ("columns: {age: {role: quasi, hierarchy: 5}}\n", "column 'age': hierarchy must be a file"),
        ("columns: {age: quasi}\nfile: x\n", "file needs a mapping"),
        ("columns: {age: quasi}\nfile: {sep: x}\n", "unknown file option 'sep'; there are"),
        (b"columns: {age: quasi}\n# \xff\n", "line 2 is not UTF-8"),
    ],
)
def test_a_faulty_schema_is_refused_by_its_name_and_the_fault(write, people, text, told):
    with pytest.raises(InputError) as caught:
        shoal.read(people, schema(write, text))
    assert told in str(caught.value)
    assert "people.yaml: " in str(caught.value)
    assert "people.csv" not in str(caught.value)


@pytest.mark.parametrize("told", ["secret", {"weight": 2}])
def test_a_faulty_role_is_blamed_on_who_stated_it(people, told):
    with pytest.raises(InputError, match=r"^schema: column 'age': .*ro"):
        shoal.read(people, {"columns": {"age": told}})
    with pytest.raises(InputError, match=r"^roles: column 'age': .*ro"):
        shoal.read(people, {"columns": {"town": "quasi"}}, roles={"age": told})


def test_a_role_may_be_added_to_what_the_schema_says(people):
    others = dict.fromkeys(("name", "town", "grade"), "identifier")
    known = {"columns": {"age": {"weight": 2}, **others}}
    column = shoal.read(people, known, roles={"age": "quasi"})["age"]
    assert (column.role, column.weight) == ("quasi", 2)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"role": "quasi", "bounds": [35, 100]},
            "column 'age': 1 of 3 cells are outside the bounds",
        ),
        ({"role": "quasi", "bounds": [100, 0]}, "column 'age': bounds must"),
        ({"role": "quasi", "bounds": [None, 9]}, "column 'age': bounds must be of the column's"),
        ({"role": "quasi", "hierarchy": {"mesh": 5}}, "column 'age': hierarchy must be a file or"),
        ({"role": "quasi", "hierarchy": {"intervals": "x"}}, "column 'age': "),
        ({"role": "quasi", "kind": "nominal", "bounds": [0, 99]}, "bounds need kind numeric"),
    ],
)
def test_a_spec_that_does_not_fit_the_data_is_refused_by_column(people, spec, told):
    with pytest.raises(InputError, match=r"people\.csv: column 'age'") as caught:
        shoal.read(people, {"columns": {"age": spec}})
    assert told in str(caught.value)
    assert "31" not in str(caught.value).split("people.csv")[1]


def test_a_column_that_is_not_there_is_refused_with_those_that_are(people):
    with pytest.raises(InputError, match=r"'job' is given a role but not in .*name, age, town"):
        shoal.read(people, {"columns": {"age": "quasi", "job": "quasi"}})
    with pytest.raises(InputError, match="'job' is given a hierarchy but not in the data"):
        shoal.read(people, {"columns": {"age": "quasi"}}, hierarchies={"job": {"mask": "right"}})
    with pytest.raises(InputError, match="'town' has a hierarchy but no role"):
        shoal.read(people, {"columns": {"age": "quasi"}}, hierarchies={"town": {"mask": "right"}})


def test_the_first_line_of_a_file_without_names_is_not_shown(write):
    path = write("Ann,31\nBob,42\n")
    with pytest.raises(InputError, match="the first row looks like data") as caught:
        shoal.read(path, roles={"name": "identifier", "age": "quasi"})
    assert "Ann" not in str(caught.value)
    path = write("Ann\nBob\n")
    with pytest.raises(InputError, match="has none of the columns name, age; does it") as caught:
        shoal.read(path, roles={"name": "identifier", "age": "quasi"})
    assert "Ann" not in str(caught.value)


def test_names_in_other_capitals_are_told_apart_from_a_missing_header(people):
    with pytest.raises(InputError, match="has none of the columns Age; some differ only in case"):
        shoal.read(people, roles={"Age": "quasi"})


def test_a_hierarchy_that_misses_values_is_refused_with_their_number(write, people):
    tree = write("Oslo;*\n", "town.csv")
    with pytest.raises(
        HierarchyError, match=r"people\.csv: column 'town': .*lacks 1 of 2"
    ) as caught:
        shoal.read(people, roles={"town": "quasi"}, hierarchies={"town": tree})
    assert caught.value.missing == ("Rome",)
    assert "Rome" not in str(caught.value)


def test_a_missing_hierarchy_file_is_refused_by_its_path(write, people):
    path = schema(write, "columns: {town: {role: quasi, hierarchy: nowhere.csv}}")
    with pytest.raises(InputError, match=r"nowhere\.csv: no such file"):
        shoal.read(people, path)


def test_a_schema_may_be_an_object_and_roles_a_mapping_only(people):
    told = shoal.Schema.of({"columns": dict.fromkeys(("name", "age", "town", "grade"), "quasi")})
    assert len(shoal.read(people, told).quasi) == 4
    with pytest.raises(InputError, match="roles must be a mapping"):
        shoal.read(people, roles=["age"])
    with pytest.raises(InputError, match="no column has a role"):
        shoal.read(people)


def test_a_pipe_is_refused_unopened(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # to open it would wait for a writer
    with pytest.raises(InputError, match="pipe: not a regular file"):
        shoal.Schema.read(tmp_path / "pipe")


def test_a_schema_names_the_person_and_the_household():
    schema = {"person": "patient", "household": ["street", "door"], "columns": {"age": "quasi"}}
    read = shoal.Schema.of(schema)
    assert read.person == ("patient",)
    assert read.household == ("street", "door")
    with pytest.raises(InputError, match="person must be a column name, or a list of them"):
        shoal.Schema.of({**schema, "person": {"patient": 1}})


@pytest.mark.parametrize("entry", ["order", "hierarchy: {tree", "bounds", "hierarchy: {mask"])
def test_aliases_that_stand_for_more_values_than_fit_in_memory_are_refused(write, people, entry):
    doubled = "".join(f"  - &l{i} [{', '.join([f'*l{i - 1}'] * 9)}]\n" for i in range(1, 12))
    bomb = f"file: {{missing: [x]}}\nhousehold:\n  - &l0 [a]\n{doubled}"
    closing = "}" * (1 + entry.count("{"))
    text = f"{bomb}columns: {{age: {{role: quasi, {entry}: *l11 {closing}}}\n"
    with pytest.raises(InputError, match="it contains more than 2,000,000 values"):
        shoal.read(people, schema(write, text))


def test_merges_that_stand_for_more_values_than_fit_in_memory_are_refused(write, people):
    merged = "".join(
        f"m{i}: &m{i} {{<<: [{', '.join([f'*m{i - 1}'] * 9)}]}}\n" for i in range(1, 9)
    )
    with pytest.raises(InputError, match="it contains more than 2,000,000 values"):
        shoal.read(people, schema(write, f"m0: &m0 {{a: 1}}\n{merged}columns: *m8\n"))


def test_a_text_tag_keeps_what_it_marks_as_text():
    assert load_yaml("file: {decimal: !!str 5}") == {"file": {"decimal": "5"}}
