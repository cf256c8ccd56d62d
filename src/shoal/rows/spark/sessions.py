"""Sessions of Spark: found or started for a master, with their errors and types in our terms.

Messages of Spark quote cells; `explained` turns them into errors that do not.
"""

from __future__ import annotations

import os
import shutil
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError, MissingExtra, ShoalError
from shoal.rows.memory import Budget
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


_ADVICE = {  # what a message of Spark contains, and what to do
    "maxResultSize": "the result is too large for the driver; raise spark.driver.maxResultSize",
    "OutOfMemoryError": "a process ran out of memory; give the driver or the executors more",
    "No space left": "a disk is full; name another folder in spark.local.dir",
    "ExecutorLost": "an executor was lost; start again",
    "exited unexpectedly": "a Python worker ended, perhaps for lack of memory; use smaller "
    "partitions",
    "PATH_NOT_FOUND": "the path does not exist",
    "No FileSystem for scheme": "Spark lacks the package that reads this kind of address",
    "ClassNotFoundException": "Spark lacks a package; add it with spark.jars.packages",
    "No module named 'shoal": "the executors do not have Shoal; ship it to them with --py-files, "
    "--archives or addArtifacts",
    "No module named": "the Python of the executors lacks a package; ship an environment with it "
    "with --archives or addArtifacts",
    "computed again with another result": "the stored results of a partition were lost, and the "
    "method gave others; anonymize again",
}


PANDAS = "PySpark does not yet fully support pandas"  # a warning; Shoal needs none of it
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


class SparkFailed(ShoalError):  # noqa: N818
    """Spark could not finish a step; the message names the step and the type of the error.

    kind: the class or condition of the error of Spark.
    """

    exit_status = 1

    def __init__(self, step: str, kind: str, advice: str = "") -> None:
        self.kind = kind
        reason = advice or "the log of Spark has the details"
        super().__init__(f"Spark failed to {step} ({kind}): {reason}; nothing was written")


@contextmanager
def explained(step: str) -> Iterator[None]:
    """Turn errors of Spark, whose messages quote cells, into errors that do not.

    step: what is being done, as in "group the rows".
    """
    try:
        with _unlogged():
            yield
    except ShoalError:
        raise
    except Exception as error:
        if _is_interrupt(error):
            raise KeyboardInterrupt from None
        if not _is_of_spark(error):
            raise
        text = str(error)
        advice = next((advice for sign, advice in _ADVICE.items() if sign in text), "")
        raise SparkFailed(step, _kind(error), advice) from None


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep the messages of errors, which quote cells, out of the log of the Python process.

    A warning about pandas is left out too.
    """
    from pyspark.logger import PySparkLogger

    warnings.filterwarnings("ignore", PANDAS, FutureWarning)
    loggers: list[Any] = [PySparkLogger.getLogger(name) for name in _LOGGERS]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error followed an interrupt, which pyspark hides when it cleans up."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _is_of_spark(error: BaseException) -> bool:
    """Return whether an error comes from Spark, its gateway or its connection."""
    modules = {each.__module__.partition(".")[0] for each in type(error).__mro__}
    return bool(modules & {"pyspark", "py4j", "grpc"}) or isinstance(error, ConnectionError)


def _kind(error: Any) -> str:
    """Return the condition of an error, else the name of its class."""
    for name in ("getCondition", "getErrorClass"):
        if hasattr(error, name):
            found = getattr(error, name)()
            if isinstance(found, str) and found.replace("_", "").replace(".", "").isalnum():
                return found
    return type(error).__name__


_SIMPLE = {
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "string": pa.string(),
    "timestamp_ntz": pa.timestamp("us"),
    "timestamp": pa.timestamp("us", "UTC"),
    "binary": pa.binary(),
}


def arrow_type(kind: Any) -> Any:
    """Return the Arrow type of a type of Spark, by its name; None if there is no plain one.

    >>> class Kind:
    ...     def simpleString(self):
    ...         return "decimal(9,2)"
    >>> arrow_type(Kind())
    Decimal128Type(decimal128(9, 2))
    """
    name = kind.simpleString()
    if name.startswith("decimal("):
        precision, scale = name[len("decimal(") : -1].split(",")
        return pa.decimal128(int(precision), int(scale))
    if name.startswith(("string collate", "varchar", "char")):
        return pa.string()
    return _SIMPLE.get(name)


def spark_type(kind: Any) -> str:
    """Return the name of the Spark type that holds values of an Arrow type.

    >>> spark_type(pa.int16()), spark_type(pa.timestamp("ms"))
    ('smallint', 'timestamp_ntz')
    """
    if pa.types.is_dictionary(kind):
        return spark_type(kind.value_type)
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_large_string(kind) or pa.types.is_null(kind):
        return "string"
    if pa.types.is_timestamp(kind):
        return "timestamp_ntz"
    if pa.types.is_unsigned_integer(kind):
        wider = {8: "smallint", 16: "int", 32: "bigint", 64: "decimal(20,0)"}
        return wider[kind.bit_width]
    return next(name for name, found in _SIMPLE.items() if found == kind)


def types_of(frame: Any) -> Mapping[str, Any]:
    """Return the Arrow type of each column of a frame; nested ones are null."""
    return {field.name: arrow_type(field.dataType) or pa.null() for field in frame.schema.fields}


def check_zone(name: str, kind: Any) -> None:
    """Reject times with a time zone, which Spark's `timestamp` has."""
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        raise InputError(
            f"column {name!r}: its times depend on the time zone of the session; cast the column "
            "to timestamp_ntz, or to date"
        )
