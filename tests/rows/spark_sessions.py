"""A small local Spark session for tests, or the reason why there is none."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import warnings

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
    "spark.connect.grpc.binding.address": "127.0.0.1",
    "spark.connect.grpc.binding.port": "0",  # any that is free
}
TINY = {  # settings for tables of a few rows, for which no compiled plan is worth its cost
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
QUICK = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a short session gains nothing from more
LOGGING = """
rootLogger.level = info
rootLogger.appenderRef.file.ref = file
appender.file.type = File
appender.file.name = file
appender.file.fileName = {log}
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %p %c: %m%n%ex
"""


def missing():
    """Return what Spark needs and is not installed, "" if nothing is."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        return "NO SPARK: pyspark is not installed; pip install 'shoal-privacy[spark]'"
    java = os.environ.get("JAVA_HOME") or shutil.which("java")
    return "" if java else "NO SPARK: Java is not installed; install Java 17 or later"


def started(folder):
    """Return a local session with two threads, which logs everything to spark.log in a folder."""
    settings = folder / "log4j2.properties"
    settings.write_text(LOGGING.format(log=folder / "spark.log"), encoding="utf-8")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of pandas 3
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("shoal tests")
        options = f"{QUICK} -Dlog4j2.configurationFile=file:{settings}"
        java = {"spark.driver.extraJavaOptions": options}
        for name, value in (SETTINGS | TINY | java).items():
            builder = builder.config(name, value)
        handler = signal.getsignal(signal.SIGINT)
        session = builder.getOrCreate()
        signal.signal(signal.SIGINT, handler)  # Spark replaces it
        return session


def connect_address(session):
    """Return the address of the Spark Connect server in the Java process of a session."""
    services = session._jvm.org.apache.spark.sql.connect.service
    service = getattr(getattr(services, "SparkConnectService$"), "MODULE$")
    return f"sc://127.0.0.1:{service.localPort()}"
