"""The evidence of a release on disk has the figures of the same release in memory."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.rows.conftest import TREES, rows, write_csv

import shoal
from shoal.evidence import Questionnaire, verify, write_evidence
from shoal.files import writing

ROLES = {
    "patient": "identifier",
    "postcode": "quasi",
    "age": "quasi",
    "sex": "quasi",
    "note": "insensitive",
    "illness": "sensitive",
    "cost": "sensitive",
}
HIERARCHIES = {name: TREES[name] for name in ("postcode", "age")}
MODEL = "k-anonymity(3) & l-diversity(2, illness)"


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "people.csv"
    write_csv(path, [{name: row[name] for name in ROLES} for row in rows()])
    return path


def options(**more):
    known = {"roles": ROLES, "hierarchies": HIERARCHIES, "missing": ["NA"], **more}
    return known if "person" in known else {**known, "rows_are_people": True}


def made(table, released, method="flash"):
    release = shoal.anonymize(table, MODEL, method)
    release.write(released)
    return release


def read(pack):
    return json.loads((pack / "evidence.json").read_text())


@pytest.mark.parametrize("more", [{}, {"person": "patient"}], ids=["rows", "people"])
@pytest.mark.parametrize("method", ["flash", "mondrian"])
def test_the_figures_are_those_of_the_release_in_memory(source, tmp_path, method, more):
    answers = Questionnaire(population=5000, recipient="a clinic")
    found = []
    for name, table in (("one", shoal.read), ("other", shoal.open)):
        released = tmp_path / name / "released.csv"
        released.parent.mkdir()
        release = made(table(source, **options(**more)), released, method)
        write_evidence(release, tmp_path / name / "pack", released, questionnaire=answers)
        found.append(read(tmp_path / name / "pack"))
    memory, disk = found
    assert memory["rehearsal"]["measured"]
    assert disk["rehearsal"]["reason"] == "rows on disk"
    for each in found:
        del each["rehearsal"], each["run"]["notes"]
        for crosswalk in each["crosswalks"]:
            crosswalk["rows"] = [r for r in crosswalk["rows"] if "rehearsal" not in str(r)]
    assert memory == disk


@pytest.fixture
def parts(source, tmp_path, monkeypatch):
    """A folder of several parts with its pack, both of a release on disk."""
    monkeypatch.setattr(writing, "PART_ROWS", 100)
    monkeypatch.setattr("shoal.release.large_release.BATCH", 100)
    released = tmp_path / "released"
    release = made(shoal.open(source, **options()), released)
    write_evidence(release, tmp_path / "pack", released)
    assert len(list(released.glob("part-*.parquet"))) == 3
    return released


def tamper_cell(released):
    part = released / "part-00001.parquet"
    table = pq.read_table(part)
    column = table.column_names.index("illness")
    pq.write_table(table.set_column(column, "illness", table.column("cost")), part)


def swap_parts(released):
    one, other = (released / f"part-0000{number}.parquet" for number in (0, 1))
    kept = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(kept)


TAMPERING = {
    "a changed cell": tamper_cell,
    "swapped parts": swap_parts,
    "a missing part": lambda released: (released / "part-00002.parquet").unlink(),
    "an added part": lambda released: (released / "part-00009.parquet").write_bytes(
        (released / "part-00000.parquet").read_bytes()
    ),
    "a changed manifest": lambda released: (released / "_manifest.json").write_text("{}"),
}


@pytest.mark.parametrize("kind", TAMPERING)
def test_a_changed_part_is_detected(parts, tmp_path, capsys, kind):
    assert verify.main([str(tmp_path / "pack")]) == 0
    TAMPERING[kind](parts)
    assert verify.main([str(tmp_path / "pack")]) == 1
    assert "NOT VERIFIED" in capsys.readouterr().out


def test_figures_of_parts_are_those_of_one_file(source, parts, tmp_path):
    one = tmp_path / "one.parquet"
    release = made(shoal.open(source, **options()), one)
    write_evidence(release, tmp_path / "whole", one)
    assert read(tmp_path / "pack")["measured"] == read(tmp_path / "whole")["measured"]
    assert read(tmp_path / "pack")["measured"]["records"] == len(pq.read_table(one))


def test_a_forged_figure_is_recomputed_from_all_parts(parts, tmp_path):
    """Even if every digest of the pack is made to match."""
    pack = tmp_path / "pack"
    evidence = read(pack)
    evidence["measured"]["records"] -= 1
    (pack / "evidence.json").write_bytes(verify.canonical(evidence))
    manifest = json.loads((pack / "manifest.json").read_text())
    file = pack / "evidence.json"
    manifest["files"]["evidence.json"] = {
        "bytes": file.stat().st_size,
        "sha256": verify.digest(file),
    }
    (pack / "manifest.json").write_bytes(verify.canonical(manifest))
    with pytest.raises(verify.PackError, match="/records differs from the released file"):
        verify.verify(pack, parts, None, None)


def test_csv_parts_are_verified_by_the_copy_in_the_pack(source, tmp_path, monkeypatch):
    monkeypatch.setattr(writing, "PART_ROWS", 100)
    monkeypatch.setattr("shoal.release.large_release.BATCH", 100)
    release = shoal.anonymize(shoal.open(source, **options()), MODEL, "flash")
    release.write(tmp_path / "released", parts="csv")
    write_evidence(release, tmp_path / "pack", tmp_path / "released")
    done = subprocess.run([sys.executable, str(tmp_path / "pack" / "verify.py")],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    part = tmp_path / "released" / "part-00001.csv"
    part.write_bytes(part.read_bytes().replace(b"flu", b"flo", 1))
    done = subprocess.run([sys.executable, str(tmp_path / "pack" / "verify.py")],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert (done.returncode, done.stdout) == (
        1,
        "NOT VERIFIED: the released part part-00001.csv: was changed\n",
    )


def test_a_release_in_partitions_has_evidence(source, tmp_path):
    table = shoal.open(source, **options(), partition_rows=100)
    release = shoal.anonymize(table, MODEL, "greedy")
    assert len(release.run.notes) > 0
    release.write(tmp_path / "released")
    write_evidence(release, tmp_path / "pack", tmp_path / "released")
    assert verify.main([str(tmp_path / "pack")]) == 0
    found = read(tmp_path / "pack")
    assert found["risk"]["before"]["maximum"] == 1.0
    assert found["risk"]["after"]["maximum"] <= 0.334
    assert found["measured"]["classes"]["smallest"] >= 3


def test_a_pack_is_not_written_into_the_released_folder(source, tmp_path):
    release = made(shoal.open(source, **options()), tmp_path / "released")
    with pytest.raises(shoal.OutputError, match="in the folder of the released parts"):
        write_evidence(release, tmp_path / "released" / "pack", tmp_path / "released")
    assert not Path(tmp_path / "released" / "pack").exists()
