"""Errors of Spark, whose messages quote cells, as errors that do not."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from shoal.errors import ShoalError

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
