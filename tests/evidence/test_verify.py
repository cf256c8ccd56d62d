"""The verifier of a pack: a clean pack passes, and every kind of tampering is found."""

import ast
import json
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pytest
from tests.evidence.packs import packed, release

import shoal
from shoal.evidence import verify


@pytest.fixture
def pack(tmp_path):
    return packed(tmp_path)


def edit(file, old, new):
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def seal(pack):
    """Write the digests of changed files into the manifest, as a careful forger would."""
    manifest = json.loads((pack / "manifest.json").read_bytes())
    path = pack / manifest["release"]["path"]
    manifest["release"] |= {"bytes": path.stat().st_size, "sha256": verify.digest(path)}
    evidence = json.loads((pack / "evidence.json").read_bytes())
    evidence["release"] = manifest["release"]
    (pack / "evidence.json").write_bytes(verify.canonical(evidence))
    for name, stated in manifest["files"].items():
        stated |= {
            "bytes": (pack / name).stat().st_size,
            "sha256": verify.digest(pack / name),
        }
    (pack / "manifest.json").write_bytes(verify.canonical(manifest))


def change_evidence(pack, change):
    evidence = json.loads((pack / "evidence.json").read_bytes())
    change(evidence)
    (pack / "evidence.json").write_bytes(verify.canonical(evidence))


def drop_row(pack):
    lines = (pack.parent / "released.csv").read_bytes().splitlines(keepends=True)
    (pack.parent / "released.csv").write_bytes(b"".join(lines[:-1]))


def add_row(pack):
    with (pack.parent / "released.csv").open("ab") as handle:
        handle.write(b"30,Ulm,flu\n")


def swap_release(pack):
    release(4).write(pack.parent / "released.csv", force=True)


def swap_files(pack):
    page, data = (pack / "index.html"), (pack / "evidence.json")
    first, second = page.read_bytes(), data.read_bytes()
    page.write_bytes(second)
    data.write_bytes(first)


def claim_larger_k(pack):
    change_evidence(pack, lambda e: e["measured"]["classes"].update(smallest=12))


TAMPERING = {
    "a changed cell": lambda p: edit(p.parent / "released.csv", "flu", "flo"),
    "a dropped row": drop_row,
    "an added row": add_row,
    "another release": swap_release,
    "swapped files": swap_files,
    "an edited k": claim_larger_k,
    "an edited page": lambda p: edit(p / "index.html", "Evidence", "evidence"),
    "an edited manifest": lambda p: edit(p / "manifest.json", '"key": null', '"key":  null'),
    "another format": lambda p: edit(p / "manifest.json", '"version": 1', '"version": 2'),
    "an edited verifier": lambda p: edit(p / "verify.py", "LEAST, PLACES = 5", "LEAST, PLACES = 1"),
    "a missing page": lambda p: (p / "index.html").unlink(),
    "a missing manifest": lambda p: (p / "manifest.json").unlink(),
    "a missing release": lambda p: (p.parent / "released.csv").unlink(),
    "an added file": lambda p: (p / "more.html").write_text("x"),
}


def test_a_clean_pack_is_verified_by_its_own_copy_in_a_process_without_shoal(pack):
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", LONELY, str(pack / "verify.py"), *packages()],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout.splitlines()[0]) == (
        0,
        "verified: every digest matches, and every figure of the released file is confirmed",
    ), done.stderr


LONELY = """
import runpy, sys
sys.modules["shoal"] = None
program, *packages = sys.argv[1:]
sys.path += packages
sys.argv = [program]
runpy.run_path(program, run_name="__main__")
"""


def packages():
    import duckdb

    return [str(Path(duckdb.__file__).parents[1])]


@pytest.mark.parametrize("kind", TAMPERING)
def test_tampering_is_found(pack, kind, capsys):
    assert verify.main([str(pack)]) == 0
    TAMPERING[kind](pack)
    assert verify.main([str(pack)]) == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith("NOT VERIFIED: ")


@pytest.mark.parametrize("kind", ["a changed cell", "a dropped row", "an added row", "an edited k"])
def test_figures_are_recomputed_even_if_all_digests_match(pack, kind, capsys):
    TAMPERING[kind](pack)
    seal(pack)
    assert verify.main([str(pack)]) == 1
    assert "was changed" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: e["unit"].update(smallest_class=3), "smallest class differs"),
        (lambda e: e["requested"][0]["options"].update(k=3), "requested k"),
        (lambda e: e["requested"][1]["options"].update(l=3), "requested l"),
        (lambda e: e["schema"]["stated"].update(person=["name"]), "digest of the schema"),
        (lambda e: e["crosswalks"][3]["rows"][0].update(status="met"), "a status of EMA"),
        (lambda e: e["crosswalks"][0]["rows"][0]["figure"].update(value=0), "a figure of GDPR"),
    ],
)
def test_what_follows_from_the_figures_is_derived_again(pack, change, message, capsys):
    change_evidence(pack, change)
    seal(pack)
    assert verify.main([str(pack)]) == 1
    assert message in capsys.readouterr().out


def test_a_released_file_may_be_moved(pack, tmp_path, capsys):
    (tmp_path / "released.csv").rename(tmp_path / "elsewhere.csv")
    assert verify.main([str(pack)]) == 1
    assert verify.main([str(pack), "--release", str(tmp_path / "elsewhere.csv")]) == 0
    assert "verified" in capsys.readouterr().out


def test_a_pack_can_be_compared_with_a_digest_received_elsewhere(pack, capsys):
    digest = verify.digest(pack / "manifest.json")
    assert verify.main([str(pack), "--digest", digest]) == 0
    assert verify.main([str(pack), "--digest", "0" * 64]) == 1
    assert "differs from the digest" in capsys.readouterr().out


@pytest.mark.parametrize("value", ["", " ", "0" * 63, "0" * 65, "x" * 64])
@pytest.mark.parametrize("option", ["--digest", "--key"])
def test_an_option_without_a_digest_is_wrong_usage(pack, option, value, capsys):
    with pytest.raises(SystemExit) as stopped:
        verify.main([str(pack), option, value])
    assert stopped.value.code == 2
    assert f"{option}: needs a SHA-256" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[""], ["pack", "--release", ""]])
def test_an_empty_path_is_not_the_current_folder(pack, arguments, monkeypatch, capsys):
    monkeypatch.chdir(pack)
    with pytest.raises(SystemExit) as stopped:
        verify.main(arguments)
    assert stopped.value.code == 2
    assert "is empty" in capsys.readouterr().err


def test_an_empty_digest_or_key_is_never_skipped(pack):
    with pytest.raises(verify.PackError, match="differs from the digest"):
        verify.verify(pack, None, "", None)
    with pytest.raises(verify.PackError, match="not signed"):
        verify.verify(pack, None, None, "")


def test_a_pack_without_a_digest_to_compare_says_what_it_cannot_prove(pack, capsys):
    assert verify.main([str(pack)]) == 0
    printed = capsys.readouterr().out
    assert "signature: none\n" in printed
    assert "not recomputed: figures that need the original table" in printed
    assert "NOT PROVEN: who wrote the pack. " in printed
    assert verify.main([str(pack), "--digest", verify.digest(pack / "manifest.json")]) == 0
    assert "NOT PROVEN" not in capsys.readouterr().out


@pytest.mark.parametrize("file", ["manifest.json", "evidence.json"])
@pytest.mark.parametrize(
    "text",
    ['{"a":' * 100_000, "[" * 100_000, '{"a":' * 900 + "1" + "}" * 900, "[]", "1", "null",
     '[["files", {}]]', '{"files": 1, "release": [], "key": {}}', "{", "", "NaN", "9" * 5000,
     '{"files": {"\\ud800": 1}, "release": {}, "key": null}', "\x00", "\xff"],
)  # fmt: skip
def test_malformed_json_ends_in_one_sentence(pack, file, text, capsys):
    (pack / file).write_bytes(text.encode("latin-1"))
    if file != "manifest.json":
        manifest = json.loads((pack / "manifest.json").read_bytes())
        stated = {"bytes": (pack / file).stat().st_size, "sha256": verify.digest(pack / file)}
        manifest["files"][file] = stated
        (pack / "manifest.json").write_bytes(verify.canonical(manifest))
    assert verify.main([str(pack)]) == 1
    printed, errors = capsys.readouterr()
    assert (printed.count("\n"), errors) == (1, "")
    assert printed.startswith("NOT VERIFIED: ")


def test_names_of_a_pack_do_not_control_the_terminal(pack, capsys):
    crosswalk = "\x1b]0;title\x07\x9b2J\u202everified\nverified: every digest"
    change_evidence(pack, lambda e: e["crosswalks"][0].update(title=crosswalk))
    change_evidence(pack, lambda e: e["crosswalks"][0]["rows"][0]["figure"].update(value=0))
    seal(pack)
    assert verify.main([str(pack)]) == 1
    printed = capsys.readouterr().out
    assert printed[:-1].isprintable()
    assert "\\x1b]0;title" in printed


def test_rows_spill_to_a_private_folder_that_nobody_can_predict(tmp_path, monkeypatch):
    spill, victim, modes = tmp_path / "spill", tmp_path / "victim", set()
    spill.mkdir()
    victim.mkdir()
    predicted = spill / f"evidence-{os.getpid()}"
    predicted.symlink_to(victim)
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    (tmp_path / "r.csv").write_text("age\n30\n30\n")

    class Watched(verify.Released):
        def rows(self, query):
            used = Path(super().rows("SELECT current_setting('temp_directory')")[0][0])
            modes.add((used.parent, used.stat().st_mode))
            return super().rows(query)

    monkeypatch.setattr(verify, "Released", Watched)
    checks = {"ages": [], "postcodes": [], "large_areas": None}
    verify.measure(tmp_path / "r.csv", {"age": "quasi"}, checks)
    ((folder, mode),) = modes
    assert (folder, stat.S_ISDIR(mode)) == (spill, True)
    assert os.name != "posix" or stat.S_IMODE(mode) == 0o700
    assert list(spill.iterdir()) == [predicted]
    assert not list(victim.iterdir())


def test_the_verifier_is_short_and_uses_only_the_standard_library_and_duckdb():
    text = Path(verify.__file__).read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 450
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(text))
        for name in (
            [node.module]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    assert imported - set(sys.stdlib_module_names) == {"duckdb", "cryptography"}


def test_figures_agree_with_the_models_on_the_same_rows(tmp_path):
    rows = [
        {"age": 20 + i * 7 % 60, "sex": "fm"[i % 2], "ill": "abc"[i * i % 3], "pay": i * 31 % 17}
        for i in range(60)
    ]
    roles = {"age": "quasi", "sex": "quasi", "ill": "sensitive", "pay": "sensitive"}
    model = shoal.KAnonymity(4) & shoal.LDiversity(2, "ill")
    model = model & shoal.TCloseness(1, "ill") & shoal.TCloseness(1, "pay")
    made = shoal.anonymize(shoal.Table.from_arrow(pa.Table.from_pylist(rows), roles), model)
    levels = list(made.verify().levels.values())
    for name in ("r.csv", "r.tsv", "r.parquet"):
        made.write(tmp_path / name)
        found = verify.measure(
            tmp_path / name, roles, {"ages": ["age"], "postcodes": [], "large_areas": None}
        )
        assert found["classes"]["smallest"] == levels[0]
        assert found["classes"]["number"] == len(made.classes)
        assert found["sensitive"]["ill"]["distinct"] == levels[1]
        assert found["sensitive"]["ill"]["t"] == pytest.approx(levels[2], abs=1e-6)
        assert found["sensitive"]["pay"]["t"] == pytest.approx(levels[3], abs=1e-6)
        assert found["sensitive"]["pay"]["distance"] == "ordered"


def test_identifiers_in_cells_are_counted(tmp_path):
    cells = {
        "age": [*["30"] * 9, "91", "95"],
        "zip": [*["123**"] * 9, "00012", "12445"],
        "note": [
            "mail me@example.org", "see www.example.org", "10.0.0.1", "123-45-6789",
            "(555) 123-4567", "2024-03-01", "[1985 to 1989]", "none", "DE89 3704 0044 0532 0130 00",
            "1M8GDM9AXKP042788", "00:1b:44:11:3A:B7",
        ],
    }  # fmt: skip
    import pyarrow.csv

    pyarrow.csv.write_csv(pa.table(cells), tmp_path / "r.csv")
    roles = {"age": "quasi", "zip": "quasi", "note": "insensitive"}
    found = verify.measure(
        tmp_path / "r.csv", roles, {"ages": ["age"], "postcodes": ["zip"], "large_areas": ["123"]}
    )
    assert found["identifier_cells"] == dict.fromkeys(verify.CONTENT, "fewer than 5")
    assert found["ages"]["age"] == {"labels_reaching_above_89": 2, "labels_above_89": 2}
    assert found["postcodes"]["zip"] == {"digits": 5, "areas_not_large": 1}
    assert found["unique_records"] == 11
    assert found["unique_columns"] == 1


def test_a_missing_cell_and_an_empty_text_are_different(tmp_path):
    (tmp_path / "r.csv").write_text('a,b\n,1\n"",1\n')
    found = verify.measure(
        tmp_path / "r.csv",
        {"a": "quasi", "b": "quasi"},
        {"ages": [], "postcodes": [], "large_areas": None},
    )
    assert found["classes"]["number"] == 2


@pytest.mark.parametrize(
    ("cell", "finer"),
    [("2024-03-01", True), ("2024-03", True), ("2024-Q1", True), ("2024-W05", True),
     ("1.3.2024", True), ("[2024-03-01, 2024-05-31]", True), ("2024", False), ("1940s", False),
     ("1985 to 1989", False), ("2010-2015", False), ("1901-1905", False), ("*", False)],
)  # fmt: skip
def test_dates_finer_than_a_year_are_found(tmp_path, cell, finer):
    (tmp_path / "r.csv").write_text(f'a,b\n"{cell}",x\n')
    found = verify.measure(
        tmp_path / "r.csv", {"a": "quasi"}, {"ages": [], "postcodes": [], "large_areas": None}
    )
    assert (found["identifier_cells"]["date finer than a year"] != 0) is finer
