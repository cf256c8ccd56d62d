"""The exact command line and Python that repeat a release."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from shoal.privacy.expressions import parse
from shoal.privacy.k_anonymity import KAnonymity
from shoal.web.project.releasing import REPORT, SCHEMA, RunRequest

COMMAND = "repeat.sh"
PYTHON = "repeat.py"


def command_line(request: RunRequest, source: str) -> str:
    """Return the command that repeats a release, to run in the folder of its schema.

    Parameters:
        request: What was released.
        source: The file as the owner names it.

    Returns:
        One line for a shell.

    >>> request = RunRequest(Path("a.csv"), Path("run"), "out.csv", "k-anonymity(5)")
    >>> command_line(request, "a.csv").partition(" --method")[0]
    'shoal anonymize a.csv --schema schema.yaml -k 5'
    """
    words = ["shoal", "anonymize", source, "--schema", SCHEMA]
    for part in parse(request.model).parts:
        words += ["-k", str(part.k)] if type(part) is KAnonymity else ["--model", str(part)]
    words += ["--method", request.method]
    for name, value in request.options.items():
        words += ["-O", f"{name.replace('_', '-')}={json.dumps(value)}"]
    if request.rows_are_people:
        words.append("--rows-are-people")
    if request.key_file is not None:
        words += ["--key-file", str(request.key_file)]
    if request.domain:
        words += ["--domain", request.domain]
    if request.escape_formulas:
        words.append("--escape-formulas")
    if request.memory is not None:
        words += ["--engine", "duckdb", "--memory", str(request.memory)]
    written = ["-o", request.output]
    return shlex.join([*words, *written, *(["--report", REPORT] if request.reported else [])])


def python_code(request: RunRequest, source: str) -> str:
    """Return the Python program that repeats a release, to run in the folder of its schema.

    Parameters:
        request: What was released.
        source: The file as the owner names it.

    Returns:
        A program that writes the released file and its report.
    """
    reading = [repr(source), f"schema={SCHEMA!r}"]
    if request.rows_are_people:
        reading.append("rows_are_people=True")
    if request.memory is not None:
        reading.append(f"memory={request.memory}")
    read = "read" if request.memory is None else "open"
    keywords: dict[str, Any] = {"method": request.method, **request.options}
    asked = ["table", repr(str(parse(request.model)))]
    asked += [f"{name}={value!r}" for name, value in keywords.items()]
    if request.key_file is not None:
        asked.append(f"key=shoal.identifiers.Key.read({str(request.key_file)!r})")
    if request.domain:
        asked.append(f"domain={request.domain!r}")
    writing = [repr(request.output)]
    if request.escape_formulas:
        writing.append("escape_formulas=True")
    reporting = f"{REPORT!r}, title={request.title!r}, released={request.output!r}"
    steps = [
        f"table = shoal.{read}({', '.join(reading)})",
        f"release = shoal.anonymize({', '.join(asked)})",
        f"release.write({', '.join(writing)})",
    ]
    if request.reported:
        steps.append(f"release.report({reporting})")
    return "\n".join(["import shoal", "", *steps, ""])


def write_recipe(request: RunRequest, source: str) -> dict[str, Path]:
    """Write the command line and the program into the folder of a run.

    Parameters:
        request: What is released.
        source: The file as the owner names it.

    Returns:
        The files, by kind: `command` and `python`.
    """
    command, program = request.folder / COMMAND, request.folder / PYTHON
    command.write_text(f"{command_line(request, source)}\n", encoding="utf-8")
    program.write_text(python_code(request, source), encoding="utf-8")
    return {"command": command, "python": program}
