"""Write the pages that are derived from the code, and the outputs that the other pages show.

`python docs/_generate.py` rewrites commands.md, api.md, the table in metrics.md, the options of
each method and the picture of the rooms, and runs the examples. It skips pages whose examples have
run with the same code, page and libraries; `--all` runs them too, `--derived` runs none.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import inspect
import json
import os
import re
import sys
import tempfile
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

import shoal
from shoal import errors
from shoal.cli import app
from shoal.cli.catalogue import default_of, described_options, other_values
from shoal.cli.shared.options import EXAMPLES

DOCS = Path(__file__).parent
SEEN = DOCS.parent / "build" / "examples.json"  # {page: the digest with which its examples ran}


def beside(name: str) -> types.ModuleType:
    """Return a module of this folder, which is not a package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"_{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


reference = beside("api")
api = reference.api
SHELL = ("install_completion", "show_completion")  # typer's own, described in a sentence
OPTIONS = re.compile(r"(<!-- options of (\S+) -->\n)(?:\n(?:\|.*\n)+)?")
WORDS = {int: "N", float: "X", Path: "PATH", str: "TEXT"}

COMMANDS = """\
# Commands

{note}

All commands and options of `shoal`. `shoal COMMAND --help` shows the same in the terminal.

## Exit statuses

| status | means | raised as |
|---|---|---|
{statuses}

A wrong option on the command line also ends with 2. Messages go to the error stream and show file
names, column names, line numbers and counts, never a cell. With status 3 the message names the
location in Shoal's code. `SHOAL_TRACEBACK=1` in the environment shows the traceback, which may
contain cells.

A character that the terminal encoding lacks is spelled out: `inf` for ∞, `epsilon` for ε. In
`--json` output it is escaped, so that the output stays valid JSON.

## Common options

| option | description |
|---|---|
| `--json` | prints the result as JSON on the output stream; infinite numbers become `null` |
| `-O NAME=VALUE` | sets an option of the method; the value is read as YAML; repeatable |
| `--model MODEL` | a [privacy model](models.md) like `'t-closeness(0.2, diagnosis)'`; repeatable |
| `--schema FILE` | roles, kinds, weights, bounds, hierarchies: [one YAML file](reading.md#schema) |
| `--delimiter`, `--encoding`, `--missing` | how a text file is written, if detection fails |
| `--trim` | removes spaces around its names and cells |
| `--decimal`, `--dates` | how it writes [numbers and dates](reading.md#notations) |

Notes go to the error stream, so `--json` output can be piped. If several models are given, all must
hold. Option values are YAML: `true`, `3`, `0.5`, `high`.

Every command has `--help` or `-h`. `shoal --install-completion` installs shell completion for
commands and options; `shoal --show-completion` prints what it would install.

Column lists are written `a,b,c`. A role on the command line overrides the role in the schema.
"""


def main() -> None:
    """Write the generated pages, then run the examples of all pages and insert their outputs."""
    (DOCS / "commands.md").write_text(commands(), encoding="utf-8")
    (DOCS / "api.md").write_text(api(), encoding="utf-8")
    (DOCS / "metrics.md").write_text(metrics(), encoding="utf-8")
    picture = beside("house")
    picture.PICTURE.write_text(picture.house(), encoding="utf-8")
    for page in pages():
        page.write_text(with_options(page.read_text(encoding="utf-8")), encoding="utf-8")
    if "--derived" in sys.argv:
        return
    ran = run_examples(code_digest(), again="--all" in sys.argv)
    print(f"up to date; examples ran on {len(ran)} of {len(pages())} pages:", ", ".join(ran))


def run_examples(code: str, *, again: bool = False) -> list[str]:
    """Insert the outputs of examples into the pages, and return the names of pages that ran.

    code: a digest of what the examples run. A page that ran with it is unchanged by another run.
    again: run such pages too.
    """
    refresh, ran = beside("examples").refresh, []
    seen = {} if again or not SEEN.exists() else json.loads(SEEN.read_text(encoding="utf-8"))
    for page in pages():
        name, text = page.relative_to(DOCS).as_posix(), page.read_text(encoding="utf-8")
        if seen.get(name) == _digest(code, text):
            continue
        with tempfile.TemporaryDirectory() as folder:
            text = refresh(text, Path(folder))
        page.write_text(text, encoding="utf-8")
        seen[name] = _digest(code, text)
        SEEN.parent.mkdir(exist_ok=True)
        SEEN.write_text(json.dumps(seen, indent=1), encoding="utf-8")
        ran.append(name)
    return ran


def code_digest() -> str:
    """Return a digest of Shoal, of the program that runs examples, and of their surroundings."""
    source = Path(shoal.__file__).parent
    files = sorted(path for path in source.rglob("*") if path.is_file())
    files = [path for path in files if "__pycache__" not in path.parts]
    libraries = {(each.name, each.version) for each in importlib.metadata.distributions()}
    options = sorted(item for item in os.environ.items() if item[0].startswith("SHOAL_"))
    return _digest(
        sys.version,
        str(sorted(libraries)),
        str(options),
        *(f"{path.relative_to(source)} {_file_digest(path)}" for path in files),
        _file_digest(DOCS / "_examples.py"),
    )


def _file_digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def pages() -> list[Path]:
    """Return every page of the site."""
    return sorted(DOCS.rglob("*.md"))


def commands() -> str:
    """Return the command reference."""
    parts = [COMMANDS.format(note=reference.NOTE, statuses="\n".join(_statuses()))]
    parts += [_command(path, command) for path, command in _walk("shoal", _root())]
    return "\n".join(parts)


def _root() -> Any:
    return typer.main.get_command(app)


def _statuses() -> list[str]:
    meanings = {
        0: "success; with `verify`, the guarantee holds",
        1: "the guarantee cannot be met, or does not hold",
        2: "the input, an option or a file is wrong, or memory runs out; with `hierarchy check`, "
        "the hierarchy does not fit",
        3: "an internal error of Shoal; no verdict",
        4: "the output stream cannot be written to, such as a full disk; no verdict",
        130: "interrupted from the keyboard; no unfinished file is left",
        141: "the reader of the output closed it early, as `head` does; no verdict",
    }
    raised: dict[int, list[str]] = {}
    for error in vars(errors).values():
        if isinstance(error, type) and issubclass(error, errors.ShoalError):
            raised.setdefault(error.exit_status, []).append(f"`{error.__name__}`")
    return [f"| {n} | {text} | {', '.join(raised.get(n, []))} |" for n, text in meanings.items()]


def _walk(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, below in getattr(command, "commands", {}).items():
        yield from _walk(f"{path} {name}", below)


def _command(path: str, command: Any) -> str:
    arguments = [p for p in command.params if not p.opts[0].startswith("-")]
    options = [p for p in command.params if p.opts[0].startswith("-") and p.name not in SHELL]
    usage = [p.name.upper() if p.required else f"[{p.name.upper()}]" for p in arguments]
    below = ["[COMMAND …]"] if getattr(command, "commands", None) else []
    text = inspect.cleandoc(command.help or "").replace("\n", " ").replace("  ", "\n\n")
    lines = [f"## {path}", "", text, "", "```text"]
    lines += [" ".join([path, *usage, *(["[OPTIONS]"] if options else []), *below]), "```"]
    hints = _hints(command)
    if arguments:
        lines += ["", "| argument | description |", "|---|---|"]
        lines += [f"| `{p.name.upper()}` | {reference.cell(p.help)} |" for p in arguments]
    if options:
        lines += ["", "| option | description | default |", "|---|---|---|"]
        lines += [_option(p, hints) for p in options]
    if path in EXAMPLES:
        lines += ["", "```console", *(f"$ {line}" for line in EXAMPLES[path]), "```"]
    return "\n".join(lines) + "\n"


def _option(option: Any, hints: dict[str, Any]) -> str:
    value = "" if option.is_flag else f" {option.metavar or _word(hints.get(option.name, str))}"
    names = ", ".join(f"`{name}{value}`" for name in (*option.opts, *option.secondary_opts))
    default = "required" if option.required else ""
    if not option.is_flag and option.default not in (None, "", [], ()):
        default = f"`{option.default}`"
    return f"| {names} | {reference.cell(option.help)} | {default} |"


def _hints(command: Any) -> dict[str, Any]:
    return typing.get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}


def _word(hint: Any) -> str:
    found = [word for kind, word in WORDS.items() if kind is hint or kind in _inside(hint)]
    return found[0] if found else "TEXT"


def _inside(hint: Any) -> list[Any]:
    parts = list(typing.get_args(hint))
    return parts + [deeper for part in parts for deeper in _inside(part)]


def with_options(text: str) -> str:
    """Return a page with a table of the options of each method that it names in a comment."""
    return OPTIONS.sub(lambda found: f"{found[1]}\n{_method_options(found[2])}", text)


def _method_options(method: str) -> str:
    """Return the table of the options of a method, which are the fields of its dataclass."""
    lines = ["| option | default | other values | meaning |", "|---|---|---|---|"]
    for name, option in described_options(shoal.METHODS[method]).items():
        others = other_values(option).removeprefix("or ")
        cells = f"`{name}`", f"`{default_of(option)}`", others, option["meaning"]
        lines.append(f"| {' | '.join(map(reference.cell, cells))} |")
    return "\n".join(lines) + "\n"


def metrics() -> str:
    """Return the page on metrics with the table that is derived from the code."""
    text = (DOCS / "metrics.md").read_text(encoding="utf-8")
    lines = "".join(f"{_metric(metric)}\n" for metric in shoal.metrics.METRICS.values())
    return re.sub(r"(?:^\| `.*\n)+", lambda _: lines, text, count=1, flags=re.MULTILINE)


def _metric(metric: Any) -> str:
    scale = metric.raw_range + (", high is best" if metric.raw_best == "high" else "")
    cells = [metric.formula, scale, metric.use, metric.source, metric.requires]
    row = "".join(f" {cell} |" if cell else " |" for cell in map(reference.cell, cells))
    return f"| `{metric.name}` |{row}"


if __name__ == "__main__":
    main()
