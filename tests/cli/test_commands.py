"""Every command on its good day: what it prints, as text and as JSON, and what it writes."""

import json
import re
import shlex
import subprocess
import sys

import numba
import pyarrow.parquet as pq
import pytest
import yaml

from shoal import __version__, anonymize
from shoal.cli.shared import console
from shoal.cli.shared.options import EXAMPLES
from shoal.files.reading import read
from shoal.support import compiling as unkept

ROLES = ("--quasi", "age,town", "--sensitive", "disease", "--identifier", "name")
GROUPED = "age,town,disease\n" + "30–31,x,flu\n30–31,x,cold\n" * 2 + "40,y,flu\n40,y,cold\n"
COMMANDS = [
    *(
        "",
        "demo",
        "inspect",
        "anonymize",
        "verify",
        "metrics",
        "methods",
        "datasets",
        "datasets patients",
    ),
    *("hierarchy", "hierarchy make", "hierarchy check", "hierarchy show"),
]


def parsed(outcome, status=0):
    """Return the JSON that alone stands on the output; notes go to the error stream."""
    assert outcome.status == status
    assert all(line.startswith("note: ") for line in outcome.err.splitlines())
    return json.loads(outcome.out)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_every_command_explains_itself(shoal, command, flag):
    found = shoal(*command.split(), flag)
    assert (found.status, found.err) == (0, "")
    assert f"Usage: shoal {command}".rstrip() in found.out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_speaks_no_python(shoal, command):
    shown = shoal(*command.split(), "--help").out
    assert not any(sign in shown for sign in ("list[", "<str>", "<bool>", "Optional"))


def test_help_names_what_an_option_takes(shoal):
    shown = shoal("anonymize", "--help").out
    assert "Usage: shoal anonymize [OPTIONS] FILE\n" in re.sub(" +\n", "\n", shown)
    for word in ("FILE", "COLUMNS", "MODEL", "COLUMN=FILE", "NAME=VALUE"):
        assert word in shown


def test_the_manual_lists_every_command(shoal):
    shown = shoal("--help").out
    assert all(name in shown for name in COMMANDS if name and " " not in name)


def test_without_a_command_the_manual_is_shown(shoal):
    found = shoal()
    assert "Usage: shoal" in found.out + found.err


def test_the_version_is_the_installed_one(shoal):
    assert shoal("--version").out.strip() == __version__


def test_demo_goes_the_whole_way(shoal, folder):
    found = shoal("demo", "--rows", 200, "-k", 3, "--out", "tried")
    assert found.status == 0
    for part in ("before", "after", "verified on the released values", "the equivalent command"):
        assert part in found.out
    names = sorted(p.name for p in (folder / "tried").iterdir())
    assert names == ["anonymous.csv", "patients.csv", "patients.yaml", "report.html"]
    again = parsed(shoal("demo", "--rows", 200, "-k", 3, "--out", "tried", "--json"))
    assert (again["records"], again["verified"]) == (200, True)
    assert again["smallest_class"] >= 3


def test_the_parts_of_the_demo_are_one_blank_line_apart(shoal):
    lines = [line.strip() for line in shoal("demo", "--rows", 200, "-k", 3).out.splitlines()]
    before, after = lines.index("before"), lines.index("after")
    records = next(i for i, line in enumerate(lines) if line.startswith("released"))
    promised = next(i for i, line in enumerate(lines) if line.startswith("k-anonymity"))
    assert before == 0
    for place in (after, promised, records):
        assert lines[place - 1] == ""
        assert lines[place - 2] != ""


def test_the_demo_can_be_repeated_by_hand(shoal):
    shown = shoal("demo", "--rows", 200, "-k", 3, "--out", "tried").out
    line = next(line for line in shown.splitlines() if "shoal anonymize" in line)
    found = shoal(*shlex.split(line)[1:], "--json")
    assert parsed(found)["verified"] is True


def test_inspect_suggests_roles_and_says_who_stands_out(shoal, folder):
    found = shoal("inspect", "people.csv")
    assert (found.status, found.err) == (0, "")
    for part in ("12 records", "age", "identifier", "smallest group", "columns:"):
        assert part in found.out
    data = parsed(shoal("inspect", "people.csv", "--json"))
    roles = {column["name"]: column["role"] for column in data["columns"]}
    assert roles == {
        "name": "identifier",
        "age": "quasi",
        "town": "quasi",
        "disease": "sensitive",
    }
    assert yaml.safe_load(data["schema"])["columns"]["age"] == {
        "role": "quasi",
        "type": "integer",
    }
    both = [c for c in data["combinations"] if c["columns"] == ["age", "town"]]
    assert both == [{"columns": ["age", "town"], "unique": 0, "share": 0, "smallest": 3}]


def test_the_suggested_schema_can_be_used_as_it_is(shoal, folder):
    data = parsed(shoal("inspect", "people.csv", "--json"))
    (folder / "s.yaml").write_text(data["schema"])
    found = parsed(shoal("anonymize", "people.csv", "--schema", "s.yaml", "-k", 3, "--json"))
    assert found["verified"] is True


def test_inspect_combines_the_columns_it_is_told(shoal):
    data = parsed(shoal("inspect", "people.csv", "--quasi", "name", "--json"))
    assert [c["columns"] for c in data["combinations"]] == [["name"]]
    assert data["combinations"][0]["unique"] == 12


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_anonymize_writes_a_release_that_keeps_its_promise(shoal, folder, ending):
    out = f"out.{ending}"
    found = shoal("anonymize", "people.csv", *ROLES, "-k", 4, "-o", out)
    assert (found.status, found.err) == (0, "")
    for part in ("k-anonymity(k=4)  verified", "12 of 12 records", "left out, identifying"):
        assert part in found.out
    assert f"written to {out}" in found.out
    data = (
        pq.read_table(folder / out)
        if ending == "parquet"
        else read(folder / out, roles=dict.fromkeys(("age", "town", "disease"), "quasi")).to_arrow()
    )
    assert data.column_names == ["age", "town", "disease"]
    assert data.num_rows == 12
    checked = shoal("verify", out, "--quasi", "age,town", "--sensitive", "disease", "-k", 4)
    assert checked.status == 0


def test_anonymize_as_json_says_all_that_happened(shoal, folder):
    options = ("--quasi", "age,town", "--sensitive", "disease", "-k", 3, "-o", "out.csv")
    model = ("--model", "l-diversity(2, disease)")
    found = shoal("anonymize", "people.csv", *options, *model, "--json")
    data = parsed(found)
    assert found.err.startswith("note: no role for name: not published")
    assert (data["records"], data["released"], data["suppressed"]) == (12, 12, 0)
    assert data["model"] == "k-anonymity(k=3) & l-diversity(l=2, column=disease)"
    assert (data["quasi"], data["sensitive"]) == (["age", "town"], ["disease"])
    assert (data["dropped_without_role"], data["output"]) == (["name"], "out.csv")
    assert set(data["loss"]) >= {"ncp"}
    assert all(0 <= loss <= 1 for loss in data["loss"].values())


def test_anonymize_without_an_output_writes_nothing_and_says_so(shoal, folder):
    for form in ([], ["--json"]):
        found = shoal("anonymize", "people.csv", *ROLES, "-k", 3, *form)
        assert found.status == 0
        assert found.err == "note: nothing was written; name an output file with -o\n"
    assert [p.name for p in folder.iterdir()] == ["people.csv"]


def test_a_sensitive_column_that_no_model_guards_is_named(shoal):
    found = shoal("anonymize", "people.csv", *ROLES, "-k", 3)
    assert "not protected" in found.out
    assert "of the people share one value" in " ".join(found.out.split())
    assert "add l-diversity or t-closeness" in found.out
    guarded = shoal("anonymize", "people.csv", *ROLES, "--model", "l-diversity(2, disease)")
    assert "not protected" not in guarded.out


@pytest.mark.parametrize(
    ("diseases", "share", "told"),
    [
        (
            ("flu", "flu", "flu", "cold"),
            1.0,
            "in 1 of 2 classes (50 % of the people) everyone has the same value",
        ),
        (
            ("flu", "cold", "flu", "cold"),
            0.5,
            "in the worst class 50 % of the people share one value",
        ),
    ],
)
def test_classes_of_one_value_are_counted(shoal, folder, diseases, share, told):
    rows = zip((1, 1, 9, 9), diseases, strict=True)
    text = "".join(f"{age},{disease}\n" for age, disease in rows)
    (folder / "few.csv").write_text("age,disease\n" + text)
    options = ("few.csv", "--quasi", "age", "--sensitive", "disease", "-k", 2)
    assert f"disease: {told}" in " ".join(shoal("anonymize", *options).out.split())
    found = parsed(shoal("anonymize", *options, "--json"))["unprotected"]["disease"]
    assert (found["classes"], found["people"], found["largest_share"]) == (2, 4, share)
    alike = found["same_value_classes"], found["same_value_people"], found["same_value_share"]
    assert alike == ((1, 2, 0.5) if share == 1 else (0, 0, 0))


def test_a_long_list_of_columns_is_cut_in_the_summary(shoal, folder):
    wide = ",".join(["age", *(f"c{i}" for i in range(20))])
    (folder / "wide.csv").write_text(f"{wide}\n" + f"{','.join('1' * 21)}\n" * 2)
    shown = " ".join(shoal("anonymize", "wide.csv", "--quasi", "age", "-k", 2).out.split())
    assert "left out, no role c0, c1, c2, c3, c4, c5, c6, c7 and 12 more" in shown


@pytest.mark.parametrize(
    ("column", "hierarchy", "k", "published"),
    [
        ("age", "age=intervals: [2, 4]", 6, {'"[30, 32["', '"[32, 34["'}),
        ("town", "town=town.csv", 12, {"somewhere"}),
    ],
)
def test_a_hierarchy_is_a_recipe_or_a_file(shoal, folder, column, hierarchy, k, published):
    (folder / "town.csv").write_text("QXZW 0;somewhere;*\nQXZW 1;somewhere;*\n")
    options = ("--quasi", column, "--hierarchy", hierarchy, "-k", k, "-o", "out.csv")
    assert shoal("anonymize", "people.csv", *options).status == 0
    assert set((folder / "out.csv").read_text().splitlines()[1:]) == published


def test_a_recipe_may_be_a_single_word(shoal):
    options = (*ROLES, "--hierarchy", "town=suppression", "-k", 12, "--json")
    assert parsed(shoal("anonymize", "people.csv", *options))["verified"] is True


@pytest.fixture
def said(monkeypatch):
    """The times that compiling was told of."""
    times = []
    monkeypatch.setattr(console, "note_compilation", lambda: times.append(1))
    return times


def test_a_run_that_compiles_says_so_once(shoal, said, monkeypatch):
    command = ("anonymize", "people.csv", *ROLES, "-k", 3)
    shoal(*command)
    said.clear()
    shoal(*command)
    assert said == []
    monkeypatch.setattr(sys.modules["shoal.methods"], "anonymize", compiling)
    shoal(*command)
    assert said == [1]
    shoal(*command, "--json")
    assert said == [1]


@pytest.mark.filterwarnings("default")
def test_kernels_that_cannot_be_kept_are_noted_once_instead(shoal, said, monkeypatch):
    unkept._warn_once.cache_clear()

    def without_a_store(*arguments, **options):
        unkept._warn_once()
        return compiling(*arguments, **options)

    monkeypatch.setattr(sys.modules["shoal.methods"], "anonymize", without_a_store)
    found = shoal("anonymize", "people.csv", *ROLES, "-k", 3)
    unkept._warn_once.cache_clear()
    assert (found.status, said) == (0, [])
    notes = [line for line in found.err.splitlines() if "compiled kernels cannot be stored" in line]
    assert len(notes) == 1
    assert notes[0].startswith("note: ")
    assert "KernelsNotKept" not in found.err


def compiling(*arguments, **options):
    """Anonymize with kernels that are new each time, one for whole numbers and one for others."""
    half = numba.njit(lambda number: number / 2)
    assert half(1) + half(2.0) == 1.5
    return anonymize(*arguments, **options)


def test_a_comparison_says_beforehand_that_kernels_are_compiled(shoal, said, monkeypatch):
    monkeypatch.setattr(console, "is_compiled", lambda method: method != "greedy")
    run = ("compare", "people.csv", *ROLES, "-k", 3, "--processes", 1, "--metric", "ncp")
    shoal(*run, "--method", "datafly")
    assert said == []
    shoal(*run, "--method", "greedy", "--method", "datafly")
    assert said == [1]


def test_compiled_kernels_are_looked_for_where_numba_keeps_them(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    assert not console.is_compiled("mondrian")
    assert console.is_compiled("unknown")
    (tmp_path / "partition_1234").mkdir()
    (tmp_path / "partition_1234" / "cut.nbi").write_bytes(b"")
    assert console.is_compiled("mondrian")


def test_anonymize_sorts_the_rows_unless_their_order_is_kept(shoal, folder):
    rows = []
    for name, more in (("a.csv", []), ("b.csv", ["--keep-order"])):
        options = ("--quasi", "age", "-k", 2, "-o", name, *more)
        found = shoal("anonymize", "people.csv", *options)
        assert (found.status, "rows keep the order" in found.err) == (0, bool(more))
        rows.append((folder / name).read_text().splitlines()[1:])
    assert rows[0] == sorted(rows[1]) != rows[1]


def test_insensitive_columns_pass_unchanged_and_missing_texts_are_heeded(shoal, folder):
    (folder / "odd.csv").write_text("age,code\n30,007\n30,1.50\n?,+5\n?,x\n")
    options = ("--quasi", "age", "--insensitive", "code", "--missing", "?", "-k", 2)
    assert shoal("anonymize", "odd.csv", *options, "-o", "out.csv").status == 0
    again = read(folder / "out.csv", roles={"age": "quasi", "code": "insensitive"})
    assert again["code"].to_arrow().to_pylist() == ["1.50", "007", "+5", "x"]
    assert again["age"].labels == ("30", None)


def test_a_note_tells_of_a_guessed_encoding(shoal, folder):
    (folder / "latin.csv").write_bytes("town\nKöln\nKöln\n".encode("latin-1"))
    options = ("--quasi", "town", "-k", 2, "-o", "out.csv", "--json")
    found = shoal("anonymize", "latin.csv", *options)
    assert parsed(found)["verified"] is True
    assert found.err == (
        "note: latin.csv: not UTF-8, read as latin-1; state the encoding if that is wrong\n"
    )


def test_verify_tells_whether_a_model_holds(shoal, folder):
    (folder / "out.csv").write_text(GROUPED)
    options = ("--quasi", "age,town", "--sensitive", "disease")
    kept = shoal("verify", "out.csv", *options, "-k", 2, "--model", "l-diversity(2, disease)")
    assert (kept.status, kept.err) == (0, "")
    assert "holds" in kept.out
    assert "6 rows, 2 classes" in kept.out
    broken = shoal("verify", "out.csv", *options, "-k", 3)
    assert (broken.status, broken.err) == (1, "")
    assert "does not hold" in broken.out
    assert "1 of 2 classes violate it (2 records)" in broken.out
    assert parsed(shoal("verify", "out.csv", *options, "-k", 2, "--json"))["check"]["holds"]
    told = parsed(shoal("verify", "out.csv", *options, "-k", 3, "--json"), status=1)
    assert (told["check"]["holds"], told["check"]["failing_records"]) == (False, 2)


def test_verify_without_a_model_says_what_is_reached(shoal, folder):
    (folder / "out.csv").write_text(GROUPED)
    options = ("--quasi", "age,town", "--sensitive", "disease")
    found = shoal("verify", "out.csv", *options)
    assert found.status == 0
    for part in ("achieved", "people in the smallest class; higher is better", "lower is better"):
        assert part in found.out
    data = parsed(shoal("verify", "out.csv", *options, "--json"))
    assert data["reached"]["k"] == 2
    assert data["classes"] == 2
    assert "check" not in data


def test_verify_measures_against_the_original(shoal, folder):
    # the release shows flu and cold alike; in the original, cold is rare
    (folder / "before.csv").write_text("age,disease\n" + "30,flu\n" * 8 + "40,cold\n" * 2)
    (folder / "after.csv").write_text("age,disease\n" + "x,flu\nx,cold\n" * 2)
    options = ("--quasi", "age", "--sensitive", "disease", "--model", "t-closeness(0.2, disease)")
    alone = parsed(shoal("verify", "after.csv", *options, "--json"))
    assert alone["check"]["levels"]["t-closeness(t=0.2, column=disease)"] == pytest.approx(0)
    against = parsed(
        shoal("verify", "after.csv", *options, "--original", "before.csv", "--json"), status=1
    )
    assert against["check"]["levels"]["t-closeness(t=0.2, column=disease)"] == pytest.approx(0.3)


def test_verify_says_nothing_of_columns_of_the_original_without_a_role(shoal, folder):
    assert shoal("anonymize", "people.csv", *ROLES, "-k", 3, "-o", "out.csv").status == 0
    options = ("--quasi", "age,town", "--sensitive", "disease", "--original", "people.csv")
    found = shoal("verify", "out.csv", *options, "-k", 3)
    assert (found.status, found.err) == (0, "")


def test_verify_counts_a_unique_row_with_a_missing_value_as_a_class_of_its_own(shoal, folder):
    (folder / "out.csv").write_text("age,town\n30,x\n30,x\n,x\n")
    data = parsed(shoal("verify", "out.csv", "--quasi", "age,town", "-k", 2, "--json"), status=1)
    assert (data["classes"], data["reached"]["k"]) == (2, 1)


def test_verify_tells_texts_that_mean_missing_apart(shoal, folder):
    (folder / "out.csv").write_text("age,disease\n*,?\n*,flu\n?,?\n,flu\n")
    options = ("--quasi", "age", "--sensitive", "disease", "--missing", "?", "--missing", "*")
    data = parsed(shoal("verify", "out.csv", *options, "-k", 2, "--json"), status=1)
    assert (data["classes"], data["reached"]["k"], data["reached"]["l(disease)"]) == (3, 1, 0)


def test_verify_takes_roles_from_a_schema_and_reads_cells_as_text(shoal, folder):
    # bounds and hierarchies of the original do not fit the released texts, and need not
    (folder / "s.yaml").write_text(
        "columns:\n"
        "  age: {role: quasi, kind: numeric, bounds: [0, 99], hierarchy: {intervals: [5]}}\n"
        "  town: quasi\n  disease: sensitive\n  name: identifier\n"
    )
    (folder / "out.csv").write_text(GROUPED)
    assert (
        parsed(shoal("verify", "out.csv", "--schema", "s.yaml", "-k", 2, "--json"))["classes"] == 2
    )


def test_hierarchy_make_check_and_show_go_together(shoal, folder):
    made = shoal("hierarchy", "make", "people.csv", "-c", "age", "-o", "age.csv",
                 "--recipe", "intervals: [2, 4]")  # fmt: skip
    assert (made.status, made.err) == (0, "")
    assert "4 values and 3 levels above them written to age.csv" in made.out
    assert (folder / "age.csv").read_text().splitlines()[0] == "30;[30, 32[;[28, 32[;*"
    fits = shoal("hierarchy", "check", "age.csv", "people.csv", "-c", "age")
    assert (fits.status, fits.err) == (0, "")
    assert "age.csv: fits (4 values, groups per level: 4, 2, 2, 1)" in fits.out
    drawn = shoal("hierarchy", "show", "age.csv")
    assert "[30, 32[" in drawn.out
    data = parsed(shoal("hierarchy", "show", "age.csv", "--json"))
    assert (data["height"], data["rows"][0]) == (3, ["30", "[30, 32[", "[28, 32[", "*"])


def test_hierarchy_make_guesses_without_a_recipe_and_spares_an_edited_file(shoal, folder):
    options = ("people.csv", "-c", "town", "-o", "town.csv")
    assert parsed(shoal("hierarchy", "make", *options, "--json"))["values"] == 2
    (folder / "town.csv").write_text("edited")
    assert shoal("hierarchy", "make", *options).status == 2
    assert (folder / "town.csv").read_text() == "edited"
    assert shoal("hierarchy", "make", *options, "--force").status == 0


def test_hierarchy_check_shows_its_owner_the_values_that_are_missing(shoal, folder):
    (folder / "town.csv").write_text("QXZW 0;*\n")
    found = shoal("hierarchy", "check", "town.csv", "people.csv", "-c", "town")
    assert (found.status, found.err) == (2, "")
    assert "lacks 1 of 2 values" in found.out
    assert "QXZW 1" in found.out
    data = parsed(
        shoal("hierarchy", "check", "town.csv", "people.csv", "-c", "town", "--json"), status=2
    )
    assert (data["fits"], data["missing"]) == (False, ["QXZW 1"])


def test_hierarchy_check_shows_torn_labels(shoal, folder):
    (folder / "not_nested.csv").write_text("a;[x];p;*\nb;[x];q;*\n")
    found = shoal("hierarchy", "check", "not_nested.csv")
    assert found.status == 2
    assert "[x]" in found.out
    data = parsed(shoal("hierarchy", "check", "not_nested.csv", "--json"), status=2)
    assert [not_nested["label"] for not_nested in data["not_nested"]] == ["[x]"]


def test_methods_lists_methods_and_models_with_their_options(shoal):
    shown = shoal("methods").out
    assert all(part in shown for part in ("mondrian", "k-anonymity", "t-closeness"))
    data = parsed(shoal("methods", "--json"))
    assert data["models"]["l-diversity"]["options"] == ["l", "column", "count_missing"]
    assert "about" in data["methods"]["mondrian"]


def test_methods_explains_every_option(shoal):
    data = parsed(shoal("methods", "--json"))
    for method in data["methods"].values():
        for option in method["options"].values():
            assert option["meaning"]
            assert (option["type"] == "choice") == bool(option["choices"])
    effort = data["methods"]["mondrian"]["options"]["effort"]
    assert (effort["type"], effort["default"]) == ("choice", "normal")
    shown = " ".join(shoal("methods").out.split())
    assert "-O effort=normal (or low, limited, high) how far to look ahead" in shown
    assert "-O strict=true (or false) keep equal records together" in shown
    assert "Literal" not in shown


def test_a_wide_hierarchy_is_drawn_so_far_only(shoal, folder):
    (folder / "wide.csv").write_text("".join(f"{i};{i // 2};*\n" for i in range(20)))
    whole = shoal("hierarchy", "show", "wide.csv", "--most", 20).out.splitlines()
    assert len(whole) == 31
    drawn = shoal("hierarchy", "show", "wide.csv", "--most", 20, "--lines", 7).out.splitlines()
    assert drawn[0] == whole[0]
    assert len(drawn) == 8
    assert drawn[-1].startswith("… the tree has more lines")
    exact = shoal("hierarchy", "show", "wide.csv", "--most", 20, "--lines", 31)
    assert exact.out.splitlines() == whole


def test_datasets_tells_whether_the_public_files_are_there(shoal, folder, monkeypatch):
    monkeypatch.delenv("SHOAL_DATA", raising=False)
    unset = parsed(shoal("datasets", "--json"))
    assert unset["adult"]["state"] == "SHOAL_DATA not set"
    assert unset["health-record"]["state"] == "built in"
    assert "SHOAL_DATA not set" in shoal("datasets").out
    monkeypatch.setenv("SHOAL_DATA", str(folder))
    (folder / "adult").mkdir()
    (folder / "adult" / "adult.csv").write_text("x")
    data = parsed(shoal("datasets", "--json"))
    assert (data["adult"]["state"], data["cmc"]["state"]) == ("present", "absent")


def test_datasets_lists_tables_and_generates_patients(shoal, folder):
    assert "health-record" in shoal("datasets").out
    assert "about" in parsed(shoal("datasets", "--json"))["adult"]
    found = parsed(shoal("datasets", "patients", 50, "-o", "p.csv", "--seed", 3, "--json"))
    assert found == {"output": "p.csv", "schema": "p.yaml", "rows": 50, "seed": 3}
    assert len(read(folder / "p.csv", folder / "p.yaml")) == 50
    assert (
        "50 rows written to q.parquet" in shoal("datasets", "patients", 50, "-o", "q.parquet").out
    )
    assert pq.read_metadata(folder / "q.parquet").num_rows == 50


def test_generated_patients_do_not_overwrite_unasked(shoal, folder):
    (folder / "p.yaml").write_text("mine")
    assert shoal("datasets", "patients", 5, "-o", "p.csv").status == 2
    assert (folder / "p.yaml").read_text() == "mine"
    assert not (folder / "p.csv").exists()
    assert shoal("datasets", "patients", 5, "-o", "p.csv", "--force").status == 0


@pytest.mark.parametrize(
    ("typed", "offered"), [("shoal anon", "anonymize"), ("shoal ver", "verify")]
)
def test_the_shell_completes_commands(monkeypatch, typed, offered):
    program = [
        sys.executable,
        "-c",
        "import sys; sys.argv[0] = 'shoal'; import shoal.cli as c; c.main()",
    ]
    told = {"_SHOAL_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": "1"}
    for name, value in told.items():
        monkeypatch.setenv(name, value)
    found = subprocess.run(program, capture_output=True, text=True, check=False)
    assert found.stdout.split() == [offered]


def test_the_shell_script_for_completion_is_shown(shoal, monkeypatch):
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert "_SHOAL_COMPLETE=complete_bash" in shoal("--show-completion", "bash").out


def test_a_picture_alone_is_told_and_is_no_release(shoal, folder):
    found = shoal(
        "anonymize", "people.csv", *ROLES, "-k", 3, "--method", "flash", "--picture", "l.svg"
    )
    assert found.status == 0
    assert found.out.endswith("\npicture written to l.svg\n")
    assert found.err.endswith("note: no release was written; name an output file with -o\n")
    assert (folder / "l.svg").exists()


@pytest.mark.parametrize("there", ["patients.csv", "patients.yaml", "anonymous.csv", "report.html"])
def test_a_demo_leaves_files_alone_that_are_not_of_a_demo(shoal, folder, there):
    (folder / "mine").mkdir()
    (folder / "mine" / there).write_text("mine")
    found = shoal("demo", "--rows", 200, "-k", 3, "--out", "mine")
    assert (found.status, found.out) == (2, "")
    assert f"{there}: exists already" in found.err
    assert [path.name for path in (folder / "mine").iterdir()] == [there]
    assert (folder / "mine" / there).read_text() == "mine"
    assert shoal("demo", "--rows", 200, "-k", 3, "--out", "mine", "--force").status == 0


def test_a_demo_that_fails_leaves_the_earlier_one(shoal, folder):
    shoal("demo", "--rows", 200, "-k", 3, "--out", "tried")
    before = {path.name: path.read_bytes() for path in (folder / "tried").iterdir()}
    found = shoal("demo", "--rows", 4, "-k", 5, "--out", "tried")
    assert found.status == 2
    assert {path.name: path.read_bytes() for path in (folder / "tried").iterdir()} == before
    assert shoal("demo", "--rows", 4, "-k", 5, "--out", "new").status == 2
    assert not (folder / "new").exists()


def test_inspect_writes_the_schema_that_it_suggests(shoal, folder):
    (folder / "visits.csv").write_text(
        "nummer;wann;kosten\n" + "".join(f"{i};{i + 1:02}.03.2024;{i},50\n" for i in range(12))
    )
    stated = ("--decimal", ",", "--dates", "DD.MM.YYYY")
    found = shoal("inspect", "visits.csv", *stated, "-o", "visits.yaml")
    assert (found.status, found.err) == (0, "")
    assert "shoal anonymize visits.csv --schema visits.yaml -k 5" in found.out
    asked = ("anonymize", "visits.csv", "--schema", "visits.yaml", "--quasi", "wann,kosten")
    assert parsed(shoal(*asked, "-k", 3, "--json"))["verified"] is True
    again = shoal("inspect", "visits.csv", "-o", "visits.yaml")
    assert (again.status, again.out) == (2, "")
    for wrong in ("visits.csv", "visits.txt"):
        assert shoal("inspect", "visits.csv", "-o", wrong, "--force").status == 2


def test_inspect_reads_numbers_and_dates_as_they_are_written(shoal, folder):
    (folder / "visits.csv").write_text(
        "wann;kosten\n" + "".join(f"{i + 1:02}.03.2024;{i},50\n" for i in range(20))
    )
    shown = shoal("inspect", "visits.csv", "-o", "visits.yaml").out
    assert "the file was read with dates 'DD.MM.YYYY', decimal ','" in " ".join(shown.split())
    schema = yaml.safe_load((folder / "visits.yaml").read_text())
    assert schema["file"] == {"delimiter": ";", "decimal": ",", "dates": "DD.MM.YYYY"}
    command = shown.strip().splitlines()[-1].split()[1:]
    assert shoal(*command).status == 0
    assert (folder / "visits-anonymous.csv").exists()
    assert "visits-anonymous-2.csv" in shoal("inspect", "visits.csv", "-o", "b.yaml").out


def test_a_comma_that_may_separate_thousands_is_not_taken_for_a_decimal_one(shoal, folder):
    (folder / "pay.csv").write_text("pay;age\n" + "1,234;31\n12,500;32\n" * 9)
    shown = " ".join(shoal("inspect", "pay.csv").out.split())
    assert "was read with" not in shown


def test_dates_of_two_readings_are_asked_about(shoal, folder):
    (folder / "visits.csv").write_text("seen,age\n" + "03/04/2024,31\n04/05/2024,32\n" * 9)
    shown = " ".join(shoal("inspect", "visits.csv").out.split())
    assert "seen: dates: add --dates DD/MM/YYYY or --dates MM/DD/YYYY" in shown
    assert "was read with" not in shown


@pytest.mark.parametrize(
    "rows",
    [
        ["ticket,fare", *(f"T{i % 30},{i / 7:.4f}" for i in range(60))],  # a number that repeats
        ["patient_id,age", *(f"{'' if i == 7 else i % 30},{i % 9}" for i in range(60))],
        ["salt,empty", *(f"{i % 5}," for i in range(60))],  # nothing that is surely known
        [" age , sex ", *(f" {i % 9} , {'fm'[i % 2]} " for i in range(60))],
        ["age,sex", "31,f", "32,m", "33,f"],  # fewer than five people
        ["name,born", *(f"Ann Lee,{1 + i % 12}/{13 + i % 9}/{1950 + i % 40}" for i in range(60))],
    ],
)
def test_the_command_that_inspect_prints_runs(shoal, folder, rows):
    (folder / "t.csv").write_text("\n".join(rows) + "\n")
    found = parsed(shoal("inspect", "t.csv", "--json"))
    for command in found["commands"]:
        outcome = shoal(*shlex.split(command)[1:])
        assert outcome.status == 0, outcome.err
    assert (folder / "t-anonymous.csv").exists()


@pytest.mark.parametrize("command", EXAMPLES)
def test_help_ends_with_examples_as_they_are_typed(shoal, monkeypatch, command):
    monkeypatch.setenv("COLUMNS", "400")
    shown = shoal(*command.split()[1:], "--help").out
    for line in EXAMPLES[command]:
        assert f"$ {line}" in shown


def test_the_summary_counts_people_and_households(shoal, folder):
    """Two homes of two people with two rows each, alike in age, and one person of another age."""
    rows = [f"p{i},h{i // 2},30\n" * 2 for i in range(4)]
    (folder / "visits.csv").write_text("id,home,age\n" + "".join(rows) + "p9,h9,99\n")
    asked = ("anonymize", "visits.csv", "--quasi", "age", "--person", "id", "-k", 2)
    asked += ("--method", "datafly", "--hierarchy", "age=mask: right", "-O", "max_suppression=0.2")
    data = parsed(shoal(*asked, "--json"))
    assert (data["records"], data["people"], data["released"]) == (9, 5, 8)
    assert (data["released_people"], data["suppressed_people"]) == (4, 1)
    assert data["person_columns"] == ["id"]
    shown = " ".join(shoal(*asked).out.split())
    assert "released 8 of 9 rows about 4 of 5 people" in shown
    assert "suppressed 1 row; 1 person lost all rows" in shown
    assert "classes 1, the smallest with 4 people" in shown
    shown = " ".join(shoal(*asked, "--household", "home").out.split())
    assert "households 2 of 3 released" in shown
    assert "classes 1, the smallest with 2 people from at least 2 households" in shown


def test_the_summary_repeats_that_rows_were_stated_to_be_people(shoal, folder):
    (folder / "rows.csv").write_text("name,age\nann,1\nann,1\n")
    asked = ("anonymize", "rows.csv", "--identifier", "name", "--quasi", "age", "-k", 2)
    shown = " ".join(shoal(*asked, "--rows-are-people").out.split())
    assert "person you stated that every row is a different person" in shown


def test_verify_counts_people_where_it_can(shoal, folder):
    lines = [f"p{p},{20 + p}" for p in range(10) for _ in range(5)]
    (folder / "visits.csv").write_text("\n".join(["patient,age", *lines]) + "\n")
    asked = ("anonymize", "visits.csv", "--person", "patient", "--quasi", "age", "-k", 5)
    assert shoal(*asked, "-o", "out.csv").status == 0
    check = ("verify", "out.csv", "--quasi", "age", "-k", 5)
    alone = shoal(*check)
    assert alone.status == 0
    assert "each row counts as one person" in alone.out
    beside = shoal(*check, "--person", "patient", "--original", "visits.csv", "--json")
    assert beside.status == 0
    found = json.loads(beside.out)
    assert (found["people"], found["reached"]["k"]) == (10, 5)
    raw = shoal("verify", "visits.csv", "--quasi", "age", "-k", 5, "--person", "patient")
    assert raw.status == 1
    assert "10 people in 50 rows, 10 classes" in raw.out
    unknown = shoal(*check, "--person", "patient")
    assert unknown.status == 2
    assert "name the original that has it with --original" in unknown.err


def test_verify_judges_the_rows_of_a_person_together(shoal, folder):
    lines = [f"p{p},{ward}" for p in range(4) for ward in ("north", "south")]
    (folder / "visits.csv").write_text("\n".join(["patient,ward", *lines, "p4,north"]) + "\n")
    asked = ("verify", "visits.csv", "--quasi", "ward", "--person", "patient", "-k", 3)
    linked = shoal(*asked)
    assert linked.status == 1
    assert "1 of 3 classes violate it (1 record)" in " ".join(linked.out.split())
    assert shoal(*asked, "--unlinked").status == 0
    events = ("verify", "visits.csv", "--quasi", "ward", "--person", "patient")
    assert shoal(*events, "--model", "km-anonymity(4, 2)").status == 0
    assert shoal(*events, "--model", "km-anonymity(5, 2)").status == 1


def test_repeated_identifiers_are_refused_with_both_ways_out(shoal, folder):
    lines = [f"p{p},{20 + p}" for p in range(10) for _ in range(5)]
    (folder / "visits.csv").write_text("\n".join(["patient,age", *lines]) + "\n")
    asked = ("anonymize", "visits.csv", "--identifier", "patient", "--quasi", "age", "-k", 5)
    refused = shoal(*asked)
    assert refused.status == 2
    assert "'patient' has 10 distinct values in 50 rows" in refused.err
    for way in (("--person", "patient"), ("--rows-are-people",)):
        assert way[0] in refused.err
        assert shoal(*asked, *way, "-o", "out.csv", "--force").status == 0


def test_verify_beside_an_original_whose_people_have_one_row_each(shoal, folder):
    (folder / "one.csv").write_text("pid,q\na,1\nb,1\nc,1\n")
    roles = ("--quasi", "q", "--person", "pid", "-k", 2)
    assert shoal("anonymize", "one.csv", *roles, "-o", "out.csv").status == 0
    assert shoal("verify", "out.csv", *roles, "--original", "one.csv").status == 0
