from __future__ import annotations

import re
import sys
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from shoal.cli import main
from shoal.errors import InputError
from shoal.rows.memory import Budget
from shoal.rows.spark import sessions

LOG = "spark.driver.extraJavaOptions"


class Builder:
    """Notes what a session is built with."""

    def __init__(self):
        self.settings = {}

    def master(self, master):
        self.settings["master"] = master
        return self

    def config(self, name, value):
        self.settings[name] = value
        return self


@pytest.fixture
def build(monkeypatch):
    for name in ("PYSPARK_PYTHON", "SPARK_LOCAL_IP", "PYTHONWARNINGS", "SPARK_CONF_DIR"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)

    def build(master, memory="2GB"):
        return sessions._with_master(Builder(), master, Budget.parse(memory)).settings

    return build


def test_a_local_session_logs_errors_only(build):
    logging, collector = build("local[2]")[LOG].split()
    assert collector == "-XX:+UseParallelGC"
    option, _, address = logging.partition("=")
    assert option == "-Dlog4j2.configurationFile"
    settings = Path(url2pathname(urlparse(address).path)).read_text(encoding="utf-8")
    assert "rootLogger.level = error" in settings.splitlines()


def test_the_stated_logging_of_a_machine_is_kept(build, monkeypatch):
    monkeypatch.setenv("SPARK_CONF_DIR", "/etc/spark")
    assert LOG not in build("local[2]")


def test_a_cluster_keeps_all_its_settings(build):
    assert build("spark://host:7077") == {"master": "spark://host:7077"}


def test_too_little_memory_is_refused_before_java_starts(build):
    wanted = "at least 1.1 GB of memory on this machine, not 1 GB; state memory='1.1GB' or more"
    with pytest.raises(InputError, match=re.escape(wanted)):
        build("local[2]", "1GB")
    least = build("local[2]", "1.1GB")["spark.driver.memory"]
    assert least == "524m"  # Java counts eight ninths of it, and Spark requires 450
    assert build("spark://host:7077", "1GB") == {"master": "spark://host:7077"}


def test_the_command_names_its_options(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sessions, "check_java", lambda: None)
    session = pytest.importorskip("pyspark.sql").SparkSession
    monkeypatch.setattr(session, "getActiveSession", lambda: None)
    (tmp_path / "in.csv").write_text("age\n" + "30\n" * 9)
    asked = ["anonymize", str(tmp_path / "in.csv"), "--quasi", "age", "-k", "2"]
    engine = ["--method", "flash", "--engine", "spark", "--memory", "1GB"]
    monkeypatch.setattr(sys, "argv", ["shoal", *asked, *engine])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert "state --memory 1.1GB or more, or --engine duckdb" in told
    assert "Java" not in told
