from __future__ import annotations

from pathlib import Path
from urllib.parse import urlparse
from urllib.request import url2pathname

import pytest

from shoal.engines.memory import Budget
from shoal.engines.spark import sessions

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

    def build(master):
        return sessions._with_master(Builder(), master, Budget.parse("2GB")).settings

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
