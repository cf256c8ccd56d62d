"""Bad input gets one line that names what is wrong and what to do, and nothing is written."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SECRET = "QXZW"
ROLES = ("--quasi", "age,town", "--sensitive", "disease", "--identifier", "name")


def refused(outcome, *told, status=2):
    """Check the one line; return it."""
    assert outcome.status == status
    assert outcome.out == ""
    *noted, said = outcome.err.splitlines()
    assert all(line.startswith("note: ") for line in noted)
    assert said.startswith("shoal: ")
    assert "Traceback" not in outcome.err
    assert SECRET not in outcome.err
    for part in told:
        assert part in said
    return said


@pytest.fixture
def anonymize(shoal, folder):
    def run(*arguments, file="people.csv", roles=ROLES, k=("-k", 3), output="out.csv"):
        before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
        found = shoal("anonymize", file, *roles, *k, "-o", output, *arguments)
        assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before
        return found

    return run


@pytest.mark.parametrize("command", ["inspect", "anonymize", "verify"])
@pytest.mark.parametrize(
    ("content", "told"),
    [
        (None, "no such file; check the path"),
        ("", "the file is empty"),
        ("age,town,disease,name\n", "has a header but no rows"),
        (f"age,town,disease,name\n1,2,3,4\n{SECRET},2\n", "line 3 has 2 fields but the header"),
        (f'age,town,disease,name\n1,2,3,"{SECRET}\n', "line 2 opens a quote"),
        (b"age,town,disease,name\n1,2,3,\0\n", "contains binary data, not text"),
        (b"age,town,disease,name\n1,\x81,3,4\n", "line 2 is not cp1252 text; state the right enc"),
    ],
)
def test_a_bad_file_is_named_with_the_fault(shoal, folder, command, content, told):
    if content is not None:
        path = folder / "bad.csv"
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    options = [] if command == "inspect" else ["-k", 3, "--quasi", "age,town"]
    found = shoal(command, "bad.csv", *options)
    refused(found, "shoal: bad.csv: ", told)


def test_a_folder_without_tables_is_refused(anonymize, folder):
    (folder / "people").mkdir()
    refused(anonymize(file="people"), "people: has no Parquet or CSV files")


def test_a_damaged_spreadsheet_is_refused(anonymize, folder):
    (folder / "people.xlsx").write_bytes(b"PK")
    refused(anonymize(file="people.xlsx"), "people.xlsx", "damaged or not a spreadsheet")


def test_a_torn_packed_file_is_refused(anonymize, folder):
    packed = gzip.compress((folder / "people.csv").read_bytes())
    (folder / "torn.csv.gz").write_bytes(packed[:-20])
    refused(anonymize(file="torn.csv.gz"), "torn.csv.gz: cannot be decompressed")


def test_a_wrong_encoding_is_refused_with_the_line(anonymize, folder):
    text = (folder / "people.csv").read_text() + "Zoë,1,x,y\n"
    (folder / "latin.csv").write_bytes(text.encode("latin-1"))
    refused(anonymize("--encoding", "utf-8", file="latin.csv"), "latin.csv: line 14 is not utf-8")
    refused(anonymize("--encoding", "klingon"), "encoding 'klingon' is not known; try utf-8")


def test_a_delimiter_is_one_sign(anonymize):
    refused(anonymize("--delimiter", ",,"), "delimiter must be a single plain character")


def test_an_unknown_column_is_named_with_those_there_are(anonymize):
    refused(
        anonymize(roles=("--quasi", "age,job")), "'job' is given a role", "name, age, town, disease"
    )


def test_an_unknown_column_of_the_schema_is_named(anonymize, folder):
    (folder / "s.yaml").write_text("columns: {age: quasi, job: sensitive}")
    refused(anonymize(roles=("--schema", "s.yaml")), "column 'job' is given a role but not in")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("columns: {age: quasi", "s.yaml: line 1 is not valid YAML"),
        ("columns: {age: {rule: quasi}}", "s.yaml: column 'age': unknown option 'rule'"),
        ("columns: {age: {weight: 2}}", "shoal: s.yaml: column 'age': no role"),
        ("columns: {age: quazi}", "shoal: s.yaml: column 'age': role 'quazi'"),
        ("columns: {town: {role: quasi, kind: numeric}}", "12 of 12 rows are not numbers"),
        (
            "columns: {age: {role: quasi, bounds: [0, 31]}}",
            "'age': 6 of 12 cells are outside the bounds",
        ),
        ("columns: {town: {role: quasi, hierarchy: no.csv}}", "no.csv: no such file"),
    ],
)
def test_a_faulty_schema_is_refused(anonymize, folder, text, told):
    (folder / "s.yaml").write_text(text)
    refused(anonymize(roles=("--schema", "s.yaml")), told)


@pytest.mark.parametrize("command", ["verify", "inspect", "metrics"])
def test_a_misspelt_role_is_not_passed_over(shoal, folder, command):
    (folder / "s.yaml").write_text("columns: {age: quazi, town: quasi}")
    files = ["people.csv", "people.csv"] if command == "metrics" else ["people.csv"]
    model = ["-k", 2] if command == "verify" else []
    found = shoal(command, *files, "--schema", "s.yaml", *model)
    refused(found, "shoal: s.yaml: column 'age': role 'quazi' (did you mean 'quasi'?)")


def test_a_missing_schema_is_named(anonymize):
    refused(anonymize(roles=("--schema", "no.yaml")), "no.yaml: no such file")


@pytest.mark.parametrize(
    ("k", "told"),
    [
        (13, "k is 13 but the table has 12 people; choose a smaller k"),
        (1, "k must be a whole number, 2 or more, not 1"),
        (-5, "k must be a whole number, 2 or more, not -5"),
    ],
)
def test_k_fits_the_table(anonymize, k, told):
    refused(anonymize(k=("-k", k)), told)


@pytest.mark.parametrize("command", ["anonymize", "verify"])
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-k", "five"], ["invalid value for '-k': must be a whole number"]),
        (["--bogus"], ["no such option: --bogus"]),
        (["-k", "3", "extra"], ["extra"]),
    ],
)
def test_a_wrong_option_is_one_line_with_the_way_to_the_manual(shoal, command, arguments, told):
    found = shoal(command, "people.csv", "--quasi", "age", *arguments)
    refused(found, *told, f"see shoal {command} --help")


def test_a_wrong_command_or_a_lacking_argument_is_one_line(shoal):
    refused(shoal("anonymise"), "no such command 'anonymise'. Did you mean 'anonymize'? See shoal")
    refused(shoal("anonymize"), "FILE", "see shoal anonymize --help")
    refused(shoal("anonymize", "people.csv", "-k"), "'-k' requires an argument", "--help")
    refused(shoal("hierarchy", "fix"), "fix", "see shoal hierarchy --help")


def test_no_guarantee_is_none(anonymize):
    refused(anonymize(k=()), "no guarantee is requested; give -k 5")


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ("l-diversty(2, disease)", "'l-diversty' (did you mean 'l-diversity'?); there are k-an"),
        ("l-diversity(2, job)", "no column 'job'"),
        ("l-diversity(2, age)", "column 'age' is quasi; the model needs a sensitive column"),
        ("l-diversity(1, disease)", "l-diversity: l must be"),
        ("l-diversity(2", "privacy model: expected"),
        ("l-diversity(2, disease, odd=5)", "no option 'odd'"),
        ("", "privacy model: expected one of"),
    ],
)
def test_a_wrong_model_is_refused_with_the_right_ones(anonymize, model, told):
    refused(anonymize("--model", model), told)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--method", "magic"], "no method 'magic'; there are auto, mondrian"),
        (["--method", "mondrain"], "no method 'mondrain' (did you mean 'mondrian'?); there are"),
        (["-O", "strickt=1"], "no option 'strickt' (did you mean 'strict'?); there are"),
        (["-O", "depth=3"], "mondrian has no option 'depth'; there are"),
        (["-O", "depth"], "option 'depth' must be written name=value"),
        (["-O", "mode=[1"], "option 'mode': its value cannot be read"),
    ],
)
def test_a_wrong_method_or_option_is_refused(anonymize, arguments, told):
    refused(anonymize(*arguments), told)


def test_a_guarantee_beyond_the_data_is_infeasible_and_so_status_1(anonymize):
    refused(anonymize("--model", "l-diversity(3, disease)"), "l-diversity", status=1)


def test_a_hierarchy_that_misses_values_counts_them(anonymize, folder):
    (folder / "town.csv").write_text(f"{SECRET} 0;*\n")
    (folder / "s.yaml").write_text("columns: {town: {role: quasi, hierarchy: town.csv}}")
    said = refused(anonymize(roles=("--schema", "s.yaml")), "column 'town'", "lacks 1 of 2 values")
    assert "shoal hierarchy check" in said


def test_a_torn_hierarchy_is_refused_by_its_file(anonymize, folder):
    (folder / "town.csv").write_text(f"{SECRET} 0;a;x;*\n{SECRET} 1;a;y;*\n")
    (folder / "s.yaml").write_text("columns: {town: {role: quasi, hierarchy: town.csv}}")
    refused(anonymize(roles=("--schema", "s.yaml")), "town.csv: ", "not nested")


def test_a_column_has_one_role(anonymize):
    refused(
        anonymize(roles=("--quasi", "age,town", "--sensitive", "town")),
        "column 'town' is given two roles, quasi and sensitive; choose one",
    )


def test_some_column_is_quasi_identifying(anonymize, shoal):
    refused(anonymize(roles=("--sensitive", "disease")), "no column is quasi-identifying; give")
    told = ("no column has a role; give a schema with --schema", "--quasi", "shoal inspect FILE")
    refused(anonymize(roles=()), *told)
    refused(shoal("verify", "people.csv", "-k", 3), *told)


def test_a_schema_without_columns_is_no_schema(anonymize, folder):
    (folder / "s.yaml").write_text("columns: {}")
    refused(anonymize(roles=("--schema", "s.yaml")), "no column has a role", "--quasi")


@pytest.mark.parametrize("arguments", [["-k", 3], ["--quasi", "age"], []])
def test_a_missing_file_is_told_before_what_else_is_missing(shoal, arguments):
    refused(shoal("anonymize", "no.csv", *arguments), "no.csv: no such file")
    refused(shoal("verify", "no.csv", *arguments), "no.csv: no such file")


@pytest.mark.parametrize(
    ("stated", "told"),
    [
        ("age", "hierarchy 'age' must be written column=file or column=recipe"),
        ("=age.csv", "must be written column=file"),
        ("age=no.csv", "no.csv: no such file; check the path"),
        ("age=bisect: 2", "column 'age': hierarchy must be a file or one of intervals"),
        ("town=intervals: [5]", "column 'town': intervals"),
        ("job=ordering", "column 'job' is given a hierarchy but not in the data"),
    ],
)
def test_a_wrong_hierarchy_is_refused(anonymize, stated, told):
    refused(anonymize("--hierarchy", stated), told)


def test_a_column_has_one_hierarchy(anonymize):
    twice = ("--hierarchy", "age=ordering", "--hierarchy", "age=intervals: [2]")
    refused(anonymize(*twice), "column 'age' is given two hierarchies; choose one")


def test_an_existing_output_stays_unless_forced(anonymize, shoal, folder):
    (folder / "out.csv").write_text("old")
    refused(anonymize(), "out.csv: exists already; choose another name or overwrite with --force")
    assert shoal("anonymize", "people.csv", *ROLES, "-k", 3, "-o", "out.csv", "--force").status == 0
    assert (folder / "out.csv").read_text().startswith("age,town")


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("out.docx", "out.docx: cannot write this kind of file; end the name in .csv"),
        ("people.csv/out", "its folder does not exist"),
        ("nowhere/out.csv", "its folder does not exist; create nowhere first"),
        ("people.csv/out.csv", "its folder does not exist"),
        (".", "exists already; choose another name"),
    ],
)
def test_an_output_that_cannot_be_is_refused_before_any_work(anonymize, output, told):
    refused(anonymize(output=output), told)


def test_a_folder_that_may_not_be_written_to_is_refused(anonymize, folder, monkeypatch):
    (folder / "shut").mkdir()
    allowed = os.access
    monkeypatch.setattr(  # root, who may run these tests, may write anywhere
        os, "access", lambda path, mode: not str(path).endswith("shut") and allowed(path, mode)
    )
    refused(anonymize(output="shut/out.csv"), "shut/out.csv: its folder is not writable")


@pytest.mark.skipif(not Path("/proc/self").is_dir(), reason="no such folder here")
def test_a_folder_that_takes_no_files_is_refused(anonymize):
    refused(anonymize(output="/proc/out.csv"), "/proc/out.csv: ", "written")


def test_a_full_disk_is_told_and_leaves_nothing(anonymize, monkeypatch):
    from shoal.files import writing

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(writing, "open_writer", full)
    refused(anonymize(), "out.csv: cannot be written (No space left on device)")


@pytest.mark.parametrize("name", ["people.csv", "linked.csv", "hard.csv", "towns.csv", "ages.csv"])
def test_the_output_may_not_be_an_input_even_by_force(anonymize, folder, name):
    (folder / "linked.csv").symlink_to("people.csv")
    (folder / "hard.csv").hardlink_to(folder / "people.csv")
    (folder / "towns.csv").write_text(f"{SECRET} 0;*\n{SECRET} 1;*\n")
    (folder / "ages.csv").write_text("".join(f"{age};*\n" for age in range(30, 34)))
    (folder / "s.yaml").write_text(
        "columns: {age: {role: quasi, hierarchy: ages.csv}, town: quasi, disease: sensitive}"
    )
    roles = ("--schema", "s.yaml", "--hierarchy", "town=towns.csv")
    refused(anonymize("--force", roles=roles, output=name), f"{name}: is read by this command")


def test_a_report_or_schema_may_not_replace_a_schema_that_is_read(anonymize, shoal, folder):
    for name in ("s.json", "s.yaml"):
        (folder / name).write_text('{"columns": {"age": "quasi", "town": "quasi"}}')
    told = "is read by this command; choose another name"
    roles = ("--schema", "s.json")
    refused(anonymize("--report", "s.json", "--force", roles=roles), f"s.json: {told}")
    found = shoal("inspect", "people.csv", "--schema", "s.yaml", "-o", "s.yaml", "--force")
    refused(found, f"s.yaml: {told}")


def test_two_outputs_need_two_files(anonymize):
    both = ("--report", "both.html", "--picture", "both.html", "--method", "ola")
    refused(anonymize(*both), "two outputs have the same file name")


def test_a_hierarchy_may_not_replace_the_table_it_is_made_from(shoal, folder):
    before = (folder / "people.csv").read_bytes()
    found = shoal("hierarchy", "make", "people.csv", "-c", "age", "-o", "people.csv", "--force")
    refused(found, "people.csv: is read by this command")
    assert (folder / "people.csv").read_bytes() == before


@pytest.mark.parametrize(
    "option", ["table=1", "model=1", "method=ola", "what=x", "ledger=x", "self=1", "seed=3"]
)
def test_a_name_that_is_no_option_of_the_method_is_refused_with_those_there_are(anonymize, option):
    name = option.partition("=")[0]
    refused(anonymize("-O", option), f"mondrian has no option '{name}'", "there are strict")


def test_a_seed_may_be_given_as_an_option_of_the_method_but_not_twice(shoal, anonymize):
    model = ("--model", "freeform-anonymity(2)", "--method", "doka-greedy")
    stated = shoal("anonymize", "people.csv", *ROLES, *model, "--seed", 3, "--json")
    option = shoal("anonymize", "people.csv", *ROLES, *model, "-O", "seed=3", "--json")
    assert json.loads(stated.out)["seed"] == json.loads(option.out)["seed"] == 3
    twice = anonymize(*model, "-O", "seed=3", "--seed", 4, k=())
    refused(twice, "the seed is given twice; omit -O seed")


@pytest.mark.parametrize("seed", ["-1", str(2**63)])
@pytest.mark.parametrize(
    "command",
    [
        "anonymize people.csv --quasi age -k 2", "compare people.csv --quasi age -k 2",
        "risk rehearse people.csv --quasi age -k 2", "risk link people.csv people.csv --known age",
        "risk assess people.csv people.csv --quasi age", "datasets patients 10 -o out.csv",
        "utility people.csv people.csv --quasi age --target disease", "demo", "dp audit",
    ],
)  # fmt: skip
def test_a_seed_that_no_generator_takes_is_refused(shoal, command, seed):
    refused(shoal(*command.split(), "--seed", seed), "seed must be")


@pytest.mark.parametrize(
    "option",
    ["max_suppression=2023-02-30", "max_suppression=!!int x", "max_suppression=&a [*a]", "a=[1"],
)
def test_an_option_whose_value_is_no_value_is_refused(anonymize, option):
    refused(anonymize("--method", "datafly", "-O", option), "its value cannot be read")


def test_an_option_may_not_be_given_twice(anonymize):
    twice = ("-O", "strict=true", "-O", "strict=false")
    refused(anonymize(*twice), "option 'strict' is given twice")


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ("mask: {length: 100000000}", "its hierarchy would have 99,999,999 levels"),
        ("quantiles: [1000000000]", "groups must be from 1 to 1,000,000"),
        ("ordering: -1", "fanout must be a whole number, 2 or more"),
    ],
)
def test_a_recipe_that_would_never_end_is_refused(anonymize, recipe, told):
    refused(anonymize("--hierarchy", f"age={recipe}"), "column 'age'", told)


def test_names_that_look_like_markup_or_break_lines_do_no_harm(shoal, folder):
    (folder / "odd.csv").write_text('"[/b]",":id:","a\nb"\n1,2,3\n1,2,3\n')
    found = shoal("inspect", "odd.csv")
    assert (found.status, found.err) == (0, "")
    assert "[/b]" in found.out
    assert ":id:" in found.out
    refused(shoal("anonymize", "odd.csv", "--quasi", "[/b],x", "-k", 2), "[/b], :id:, a b")
    found = shoal("verify", "odd.csv", "--quasi", "[/b]", "-k", 2)
    assert (found.status, "k-anonymity(k=2)  holds" in found.out) == (0, True)


def test_verify_names_a_released_file_that_lacks_a_column(shoal, folder):
    (folder / "part.csv").write_text("age,disease\n1,x\n1,x\n")
    options = ("--quasi", "age,town", "--sensitive", "disease", "-k", 2)
    refused(shoal("verify", "part.csv", *options), "part.csv: ", "'town'")
    refused(
        shoal("verify", "part.csv", *options, "--original", "people.csv"), "part.csv: ", "'town'"
    )


@pytest.mark.parametrize(
    "command",
    [
        ("anonymize", "bare.csv", "--quasi", "age", "-k", 2),
        ("verify", "bare.csv", "--quasi", "age,town", "-k", 2),
        ("risk", "records", "bare.csv", "--quasi", "age"),
        ("risk", "link", "bare.csv", "people.csv", "--known", "age"),
        ("hierarchy", "make", "bare.csv", "-c", "age", "-o", "tree.csv"),
    ],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_first_line_of_cells_is_not_shown_as_names(shoal, folder, command):
    people = (folder / "people.csv").read_text()
    (folder / "bare.csv").write_text(people.partition("\n")[2])
    refused(shoal(*command), "bare.csv: ")


def test_verify_refuses_a_release_with_values_that_the_original_lacks(shoal, folder):
    (folder / "other.csv").write_text(f"age,town,disease\n1,x,{SECRET} plague\n1,x,y\n")
    options = ("--quasi", "age,town", "--sensitive", "disease", "--original", "people.csv")
    said = refused(shoal("verify", "other.csv", *options, "-k", 2), "other.csv: column 'disease': ")
    assert "2 cells with a value that the original does not have" in said


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["make", "people.csv", "-c", "job", "-o", "t.csv"], "people.csv: no column 'job'; `shoal"),
        (
            ["make", "people.csv", "-c", "age", "-o", "t.csv", "--recipe", "[1"],
            "--recipe must have the form",
        ),
        (
            ["make", "people.csv", "-c", "town", "-o", "t.csv", "--recipe", "intervals: [5]"],
            "column 'town': intervals",
        ),
        (["check", "no.csv"], "no.csv: no such file"),
        (["check", "good.csv", "people.csv"], "name the column with --column"),
        (["show", "people.csv"], "people.csv: "),
    ],
)
def test_hierarchy_commands_refuse_in_one_line(shoal, folder, arguments, told):
    (folder / "good.csv").write_text("1;*\n")
    refused(shoal("hierarchy", *arguments), told)
    assert not (folder / "t.csv").exists()


def test_patients_and_demo_refuse_what_they_cannot_do(shoal, folder):
    told = "rows must be from 1 to 100,000,000, not"
    refused(shoal("datasets", "patients", 0, "-o", "p.csv"), f"{told} 0")
    refused(shoal("datasets", "patients", 10**8 + 1, "-o", "p.csv"), f"{told} 100,000,001")
    refused(shoal("demo", "--rows", 0), "'--rows'", "1")
    refused(shoal("datasets", "patients", 5, "-o", "p.docx"), "p.docx: cannot write")
    refused(shoal("demo", "--out", "people.csv"), "people.csv: cannot be created")
    assert sorted(p.name for p in folder.iterdir()) == ["people.csv"]


def test_the_installed_command_says_the_same(folder):
    program = [sys.executable, "-m", "shoal", "anonymize", "no.csv", "--quasi", "a", "-k", "2"]
    found = subprocess.run(program, capture_output=True, text=True, check=False)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == "shoal: no.csv: no such file; check the path\n"


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_a_reader_who_leaves_is_no_verdict(folder, options):
    reading, writing = os.pipe()
    os.close(reading)
    program = [sys.executable, "-m", "shoal", "inspect", "people.csv", *options]
    found = subprocess.run(program, stdout=writing, stderr=subprocess.PIPE, cwd=folder, check=False)
    os.close(writing)
    assert (found.returncode, found.stderr) == (141, b"")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (("--quasi", "age", "--quasi", "town"), "--quasi is given twice; give all values at once"),
        (("--quasi", "age", "-k", 3, "-k", 4), "-k is given twice; give it once"),
        (("--quasi", "age", "-k", 3, "-o", "a.csv", "--output", "b.csv"), "is given twice; give"),
    ],
)
def test_an_option_given_twice_is_refused_where_one_would_be_lost(shoal, given, told):
    refused(shoal("anonymize", "people.csv", *given), told)


def test_repeatable_options_and_flags_may_be_given_twice(shoal):
    missing = ("--missing", "NA", "--missing", "?", "--json", "--json")
    assert shoal("inspect", "people.csv", *missing).status == 0


@pytest.mark.parametrize(
    ("recipe", "told"),
    [
        ("town=dates: [month]", "dates: needs dates, but some values read as text; write all like"),
        ("town=intervals: [5]", "intervals: needs numbers, but some values read as text; write"),
        ("age=dates: [month]", "dates: needs dates, but the values are numeric, of type int64"),
    ],
)
def test_a_recipe_for_other_values_says_how_to_write_them(anonymize, recipe, told):
    refused(anonymize("--hierarchy", recipe), "people.csv: column '", told)


@pytest.mark.parametrize("cell", ["*", '"[30, 34]"', '"[30, 35["', '"{30, 34}"'])
def test_a_released_file_in_place_of_the_raw_one_is_told_so(shoal, folder, cell):
    (folder / "s.yaml").write_text("columns: {age: {role: quasi, kind: numeric}}")
    (folder / "released.csv").write_text(f"age,town\n{cell},x\n30,y\n")
    found = shoal("metrics", "released.csv", "people.csv", "--schema", "s.yaml")
    refused(found, "released.csv: column 'age': ", "give the original table, not a release")


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_times_outside_the_calendar_are_refused_or_passed_on(shoal, folder, output):
    import pyarrow as pa
    import pyarrow.parquet as pq

    seen = pa.array([0, 3 * 10**11] * 6, pa.int64()).cast(pa.timestamp("s"))
    pq.write_table(pa.table({"seen": seen, "age": [1, 2, 3] * 4}), folder / "far.parquet")
    asked = ("anonymize", "far.parquet", "-k", 2, "-o", output)
    studied = shoal(*asked, "--quasi", "seen")
    refused(studied, "column 'seen': holds times outside the years 1 to 9999")
    carried = shoal(*asked, "--quasi", "age", "--insensitive", "seen", "--report", "report.html")
    assert carried.status == 0, carried.err


def test_a_lack_of_memory_is_called_that(shoal, monkeypatch):
    import duckdb

    from shoal.files import query

    class Exhausted:
        def cursor(self):
            return self

        def sql(self, statement, params):
            raise duckdb.OutOfMemoryException(f"Out of Memory Error: {SECRET}")

        def close(self):
            pass

    monkeypatch.setattr(query, "_database", lambda process: Exhausted())
    said = refused(shoal("anonymize", "people.csv", *ROLES, "-k", "3", "-o", "out.csv"))
    assert said.startswith("shoal: out of memory; close other programs, use a machine with more")
