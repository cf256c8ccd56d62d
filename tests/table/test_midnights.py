"""Times at midnight are read, published and matched as dates."""

from datetime import datetime

import pyarrow as pa
import pytest

import shoal
from shoal.table.frames import as_dates

DAYS = [datetime(2024, 1, 1), datetime(2024, 1, 2), datetime(2024, 2, 1), datetime(2024, 2, 5)]
LATER = [*DAYS[:3], datetime(2024, 2, 5, 9, 30)]


def visits(when, seen):
    return pa.table({"when": when * 2, "seen": seen * 2, "ward": ["a", "b"] * 4})


def released(when=DAYS, seen=DAYS):
    data = visits(when, seen)
    return shoal.anonymize(data, k=4, quasi=["when"], sensitive=["ward"], insensitive=["seen"])


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_any_unit_become_dates_only_if_all_are_at_midnight(unit):
    kind = pa.timestamp(unit)
    assert as_dates(pa.array([*DAYS, None], kind)).type == pa.date32()
    assert as_dates(pa.array(LATER, kind)).type == kind
    assert as_dates(pa.array([None], kind)).type == kind
    assert as_dates(pa.array(DAYS, pa.timestamp(unit, "UTC"))).type == pa.timestamp(unit, "UTC")


def test_ranges_of_midnights_are_ranges_of_dates():
    cells = set(released().to_arrow().column("when").to_pylist())
    assert cells == {"[2024-01-01, 2024-01-02]", "[2024-02-01, 2024-02-05]"}
    later = set(released(LATER).to_arrow().column("when").to_pylist())
    assert "[2024-02-01 00:00:00, 2024-02-05 09:30:00]" in later


def test_a_declared_type_stays():
    data = visits(DAYS, DAYS)
    roles = {"when": {"role": "quasi-identifier", "type": "datetime"}}
    table = shoal.Table.from_arrow(data, roles)
    assert table["when"].labels[0] == "2024-01-01 00:00:00"


def test_other_columns_keep_their_type_in_frames_and_print_as_dates_in_text(tmp_path):
    release = released()
    assert pa.types.is_timestamp(release.to_arrow().schema.field("seen").type)
    release.write(tmp_path / "out.csv")
    assert "00:00:00" not in (tmp_path / "out.csv").read_text()


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("seen", [DAYS, LATER])
def test_dates_and_midnights_are_matched_when_a_release_is_read(tmp_path, ending, seen):
    release = released(seen=seen)
    release.write(tmp_path / f"out{ending}")
    found = shoal.read_released(tmp_path / f"out{ending}", release.original, model=release.model)
    assert found.verify()
    assert len(found.classes) == 2


def test_a_release_with_midnights_covers_an_original_with_dates(tmp_path):
    release = released()
    text = "when,ward,seen\n" + "".join(
        f"{day:%Y-%m-%d} 00:00:00,{ward},{day:%Y-%m-%d %H:%M:%S}\n"
        for day, ward in zip(DAYS * 2, ["a", "b"] * 4, strict=True)
    )
    (tmp_path / "other.csv").write_text(text)
    found = shoal.read_released(tmp_path / "other.csv", release.original)
    assert len(found.classes) == 4
