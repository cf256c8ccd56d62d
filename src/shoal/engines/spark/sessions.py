"""Sessions of Spark: the one that runs already, or a new one for a master."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

from shoal.engines.memory import Budget
from shoal.engines.spark.failures import PANDAS, explained
from shoal.errors import InputError, MissingExtra
from shoal.support.wording import option

# options of reading: the pages of Parquet files are checked where they have checksums
CHECKED = {"parquet.page.verify-checksum.enabled": "true"}

_SHARE = 0.5  # of the budget, for the Java process of a local session
_LEAST = (
    512 << 20
)  # bytes of a Java process: Spark requires 450 MiB, of which the collector has part
_COLLECTOR = "-XX:+UseParallelGC"  # 5 % less CPU than the default on two cores
_LOG = Path(__file__).with_name("log4j2.properties")
_LOCAL = {  # settings of a local session, which a stated one replaces
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def find_session(master: str | None, budget: Budget) -> Any:
    """Return the session to use.

    Parameters:
        master: Where Spark runs: `local[2]`, the address of a cluster, or `sc://host` for Spark
            Connect. Without it, the active session, the one of spark-submit, or a local one.
        budget: The memory that may be used, of which a local session gets a share.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("pyspark", "spark") from None
    active = SparkSession.getActiveSession()
    if active is not None and master is None:
        return active
    submitted = "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ
    if master is None and not submitted:
        master = "local[*]"
    builder = SparkSession.builder.appName("shoal")
    if master is not None and master.startswith("sc://"):
        builder = builder.remote(master)
    elif not submitted:
        check_java()
        if master is not None:
            builder = _with_master(builder, master, budget)
    with explained("start a session"):
        return builder.getOrCreate()


def _with_master(builder: Any, master: str, budget: Budget) -> Any:
    builder = builder.master(master)
    if not master.startswith("local"):
        return builder
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ.setdefault("PYTHONWARNINGS", f"ignore:{PANDAS}:FutureWarning")  # of its workers
    own = {"spark.driver.memory": f"{_java_memory(budget) >> 20}m"}
    if "SPARK_CONF_DIR" not in os.environ:
        logging = f"-Dlog4j2.configurationFile={_LOG.as_uri()}"
        own["spark.driver.extraJavaOptions"] = f"{logging} {_COLLECTOR}"
    for name, value in (_LOCAL | own).items():
        builder = builder.config(name, value)
    return builder


def _java_memory(budget: Budget) -> int:
    """Return the bytes that the Java process of a local session gets, if they are enough."""
    share = budget.share(_SHARE)
    if share < _LEAST:
        raise InputError(
            f"Spark needs at least 1.1 GB of memory on this machine, not {budget}; state "
            f"{option('memory', '1.1GB')} or more, or {option('engine', 'duckdb')}"
        )
    return share


def check_java() -> None:
    """Raise an error if there is no Java, which Spark needs outside of Spark Connect."""
    home = os.environ.get("JAVA_HOME")
    if not shutil.which("java", path=os.path.join(home, "bin") if home else None):  # noqa: PTH118
        raise InputError(
            "Spark needs Java 17 or later, and there is none; install it (on Debian: apt install "
            "openjdk-17-jre-headless), set JAVA_HOME, or use Spark Connect: --master sc://host"
        )
