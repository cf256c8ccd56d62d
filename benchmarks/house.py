"""The shape of the code: `make house`.

    files, lines, imports          read from the syntax trees of src/shoal
    the walk of one command        traced: which files and functions of Shoal it crosses

The figures say where the code is fragmented: a module with a single importer may belong into it,
an import that points up breaks the order of the layers, a long walk is hard to follow.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import statistics
import subprocess
import sys
import tempfile
import tokenize
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table as Grid

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "shoal"
_PRAGMA = re.compile(r"#\s*(noqa|type:|mypy:|pragma|fmt:|ruff:)")
_SMALL, _LARGE = 50, 700  # lines of a file
_SHORT = 5  # lines of a function that may say no more than its name
_DISK = re.compile("on_disk")
# each walk in a process of its own, which prints the events of its trace
WALKS = {
    "shoal anonymize, with a report": (
        "sys.argv = 'shoal anonymize patients.csv --schema patients.yaml -k 5 -o out.csv "
        "--report out.html'.split()\n"
        "from shoal.cli import main\nmain()"
    ),
    "shoal.anonymize and write": (
        "import shoal\n"
        "table = shoal.read('patients.csv', schema='patients.yaml')\n"
        "shoal.anonymize(table, k=5).write('out.csv')"
    ),
    "shoal anonymize --engine duckdb": (
        "sys.argv = 'shoal anonymize patients.csv --schema patients.yaml -k 5 --method ola "
        "--engine duckdb -o out.csv'.split()\n"
        "from shoal.cli import main\nmain()"
    ),
}
TRACER = """
import collections, io, json, os, sys
home, seen, moves, last = {home!r}, collections.Counter(), 0, None
def trace(frame, event, _):
    global moves, last
    name = frame.f_code.co_filename
    is_function = frame.f_code.co_flags & 1 and not frame.f_code.co_name.startswith("<")
    if event == "call" and name.startswith(home) and is_function:  # not the body of a class
        seen[name[len(home) + 1:], frame.f_code.co_qualname] += 1
        package = os.path.dirname(name)
        moves, last = moves + (package != last), package
printed = sys.stdout
sys.stdout = io.StringIO()
sys.setprofile(trace)
try:
    exec({code!r})
except SystemExit as end:
    assert not end.code, sys.stdout.getvalue()
finally:
    sys.setprofile(None)
    sys.stdout = printed
print(json.dumps({{"moves": moves, "calls": [[*key, n] for key, n in seen.items()]}}))
"""


@dataclass(frozen=True)
class Module:
    """One file of the source.

    imports: the modules of Shoal that its statements name, one entry for each statement.
    at_top: the modules that it imports when it is loaded.
    """

    path: str
    lines: int
    comments: int
    imports: list[str]
    at_top: set[str]
    functions: list[tuple[str, int]]
    private: list[str]
    mentions: int

    @property
    def name(self) -> str:
        """The dotted name."""
        return "shoal." + self.path.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def read_modules(source: Path = SOURCE) -> list[Module]:
    """Return all modules below a folder."""
    return [_module(path, source) for path in sorted(source.rglob("*.py"))]


def _module(path: Path, source: Path) -> Module:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    functions = [
        (node.name, (node.end_lineno or node.lineno) - node.lineno + 1)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return Module(
        path.relative_to(source).as_posix(),
        len(text.splitlines()),
        _own_line_comments(text),
        [name for node in ast.walk(tree) for name in _imported(node)],
        {name for node in tree.body for name in _imported(node)},
        functions,
        [name for name, _ in functions if name.startswith("_") and not name.startswith("__")],
        len(_DISK.findall(text)),
    )


def _own_line_comments(text: str) -> int:
    """Return the number of comments that stand on a line of their own, without pragmas."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(
        token.type == tokenize.COMMENT
        and not token.line[: token.start[1]].strip()
        and not _PRAGMA.match(token.string)
        for token in tokens
    )


def _imported(node: ast.AST) -> list[str]:
    """Return the modules of Shoal that a statement names; one of several names counts once."""
    if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "shoal":
        return [node.module or ""]
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names if alias.name.partition(".")[0] == "shoal"]
    return []


def shape(modules: list[Module]) -> dict[str, Any]:
    """Return the figures that need no run."""
    importers = importers_of(modules)
    lines = sum(module.lines for module in modules)
    lengths = sorted(length for module in modules for _, length in module.functions)
    twice = Counter(module.path.rpartition("/")[2] for module in modules)
    del twice["__init__.py"]
    used_once = _used_once(modules)
    return {
        "files": len(modules),
        "lines": lines,
        "import statements per 1,000 lines": 1000 * sum(len(m.imports) for m in modules) / lines,
        "modules with one importer": sum(_has_one_importer(m, importers) for m in modules),
        f"files under {_SMALL} lines": sum(m.lines < _SMALL for m in modules),
        "median lines of a file": statistics.median(m.lines for m in modules),
        f"files over {_LARGE} lines": sum(m.lines > _LARGE for m in modules),
        "own-line comments per 1,000 lines": 1000 * sum(m.comments for m in modules) / lines,
        "lines of a function, 95th percentile": lengths[int(0.95 * len(lengths))],
        "private functions used once": used_once,
        "most files of one name": "{1} × {0}".format(*twice.most_common(1)[0]),
        "mentions of on_disk outside the engines": sum(
            m.mentions for m in modules if not m.path.startswith(("engines/", "rows/"))
        ),
    }


def importers_of(modules: list[Module]) -> dict[str, set[str]]:
    """Return the modules that import each module, at its top or inside functions."""
    names = {module.name for module in modules}
    importers: dict[str, set[str]] = defaultdict(set)
    for module, text in zip(modules, _texts(modules), strict=True):
        for node in ast.walk(ast.parse(text)):
            for target in _targets(node, names):
                importers[target].add(module.name)
    return importers


def _has_one_importer(module: Module, importers: dict[str, set[str]]) -> bool:
    return len(importers[module.name]) == 1 and not module.path.endswith("__init__.py")


def stands_out(modules: list[Module], room: str) -> list[tuple[str, str]]:
    """Return what of a room may be cut too small, as pairs of a place and what it is."""
    importers = importers_of(modules)
    own = [module for module in modules if module.path.startswith((f"{room}/", f"{room}."))]
    texts = dict(zip([m.path for m in modules], _texts(modules), strict=True))
    found = []
    for module in own:
        if _has_one_importer(module, importers):
            found.append((module.path, f"only {next(iter(importers[module.name]))} imports it"))
        if module.lines < _SMALL or module.lines > _LARGE:
            found.append((module.path, f"{module.lines} lines"))
        words = Counter(re.findall(r"\w+", texts[module.path]))
        once = {name for name in module.private if words[name] == 2}
        short = [name for name, lines in module.functions if name in once and lines <= _SHORT]
        if short:
            found.append((module.path, f"used once, {_SHORT} lines at most: {' '.join(short)}"))
    lines = sum(module.lines for module in own)
    comments = sum(module.comments for module in own)
    found.append((room, f"{len(own)} files, {lines:,} lines, {comments} own-line comments"))
    return found


def _texts(modules: list[Module]) -> list[str]:
    return [(SOURCE / module.path).read_text(encoding="utf-8") for module in modules]


def _targets(node: ast.AST, names: set[str]) -> list[str]:
    """Return the modules that a statement imports: a module, or names of one."""
    if isinstance(node, ast.ImportFrom) and (node.module or "") in names | {"shoal"}:
        whole = [f"{node.module}.{alias.name}" for alias in node.names]
        return [name if name in names else str(node.module) for name in whole]
    return [name for name in _imported(node) if name in names]


def _used_once(modules: list[Module]) -> str:
    """Return the share of private functions whose name occurs once besides its definition."""
    single = total = 0
    for module, text in zip(modules, _texts(modules), strict=True):
        words = Counter(re.findall(r"\w+", text))
        total += len(module.private)
        single += sum(words[name] == 2 for name in module.private)
    return f"{single / total:.0%} of {total:,}"


def walk(code: str) -> dict[str, int]:
    """Run one piece of work in a new process and folder; count what it crosses."""
    with tempfile.TemporaryDirectory() as folder:
        made = [sys.executable, "-m", "shoal", "datasets", "patients", "2000", "-o", "patients.csv"]
        subprocess.run(made, cwd=folder, check=True, capture_output=True)
        traced = subprocess.run(
            [sys.executable, "-c", TRACER.format(home=str(SOURCE), code=code)],
            cwd=folder, check=True, capture_output=True, text=True,
        )  # fmt: skip
    found = json.loads(traced.stdout)
    calls = {(file, name): count for file, name, count in found["calls"]}
    return {
        "files": len({file for file, _ in calls}),
        "functions": len(calls),
        "changes of package": found["moves"],
        "recounts": sum(count for (_, name), count in calls.items() if name == "recount"),
        "tables built": sum(
            count for (_, name), count in calls.items() if name == "Table.__post_init__"
        ),
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--no-walks", action="store_true", help="read the source only")
    parser.add_argument("--room", help="list what stands out in one folder of src/shoal")
    stated = parser.parse_args()
    console = Console()
    if stated.room:
        for place, what in stands_out(read_modules(), stated.room):
            console.print(f"{place}: {what}", soft_wrap=True, highlight=False)
        return
    figures = Grid("figure", "now", title="the source")
    for name, value in shape(read_modules()).items():
        figures.add_row(name, f"{value:,.1f}" if isinstance(value, float) else f"{value}")
    console.print(figures)
    if stated.no_walks:
        return
    walks = {name: walk(code) for name, code in WALKS.items()}
    headings = list(next(iter(walks.values())))
    grid = Grid("walk", *headings, title="what one run crosses")
    for name, row in walks.items():
        grid.add_row(name, *(f"{row[heading]:,}" for heading in headings))
    console.print(grid)


if __name__ == "__main__":
    main()
