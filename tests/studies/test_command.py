"""The command line of the studies, in this process."""

from __future__ import annotations

import pytest

from studies import STUDIES, __main__


@pytest.fixture
def _recorded(monkeypatch, tmp_path):
    from studies.risk import study

    monkeypatch.setattr(__main__, "RESULTS", tmp_path)
    monkeypatch.setattr(study, "run", lambda out, **options: out / f"{options['full']}.html")


def test_without_a_name_all_studies_are_listed(capsys):
    assert __main__.main([]) == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in STUDIES)


@pytest.mark.usefixtures("_recorded")
@pytest.mark.parametrize(
    ("options", "page"), [([], "risk-generated/False"), (["--full"], "risk-generated-full/True")]
)
def test_each_size_of_a_study_has_its_own_folder(capsys, options, page):
    assert __main__.main(["risk", *options]) == 0
    assert f"{page}.html" in "".join(capsys.readouterr().err.split())


def test_a_published_run_names_the_command_that_repeats_it(monkeypatch, tmp_path):
    from studies.metrics import study

    commands = []
    monkeypatch.setattr(study, "run", lambda out, **_: out / "report.html")
    monkeypatch.setattr(__main__, "publish", lambda *given: commands.append(given[-1]))
    monkeypatch.setattr(__main__, "write_pages", lambda: None)
    given = ["metrics", "--out", str(tmp_path), "--publish"]
    __main__.main(given)
    __main__.main([*given, "--data", "cmc", "--full", "--releases", "20"])
    plain = "make study NAME=metrics"
    assert commands == [plain, f"{plain} DATA=cmc FULL=1 RELEASES=20"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rsk"], "no study 'rsk' (did you mean 'risk'?)"),
        (["risk", "--data", "adult"], "no data 'adult' for the study risk; use one of generated"),
        (["risk", "--releases", "5"], "the study risk has no option 'releases'; leave it out"),
    ],
)
def test_a_wrong_argument_is_one_line_and_exit_status_2(capsys, arguments, message):
    assert __main__.main(arguments) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_every_study_has_a_folder_with_its_module():
    from importlib.util import find_spec

    assert all(find_spec(f"studies.{name}.study") for name in STUDIES)
