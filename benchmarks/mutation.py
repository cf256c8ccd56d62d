"""Section mutation: small faults in the source, one at a time; do the tests turn red?

Also `python benchmarks/mutation.py --seed 7 --count 20 core privacy`, which prints each as it goes.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import resource
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as Grid

from jobs import HERE, scratch
from mutants import Mutant, mutants

ROOT = HERE.parent
FOLDERS = (
    "core", "dp", "privacy", "reading", "anonymize", "metrics", "risk", "utility", "robust",
    "comparison", "report",
)  # fmt: skip
COUNT, FULL = 12, 100
LIMIT = 400  # CPU seconds for the tests of a fault: beyond that, it has caused an infinite loop
NO_END, NOTHING = "no end", "no test could run"
CONTRACT = "tests/test_contract.py"


def measure(*, full: bool, seed: int = 0) -> dict[str, Any]:
    """Try a dozen faults; with `full`, a hundred."""
    return {"seed": seed, "faults": list(tried(FULL if full else COUNT, seed, FOLDERS))}


def tried(count: int, seed: int, folders: tuple[str, ...]) -> Iterator[dict[str, Any]]:
    """Yield the outcome of each of some random faults."""
    draw = random.Random(seed)
    with scratch() as named:
        clean, home = _copy(Path(named) / "clean"), _copy(Path(named) / "tree")
        source = home / "src" / "shoal"
        files = [path for folder in folders for path in sorted((source / folder).rglob("*.py"))]
        files = [path for path in files if path.name != "__init__.py"]
        chosen: list[Mutant] = []
        while len(chosen) < count:  # a file by its length, then one of its faults
            path = draw.choices(files, [path.stat().st_size for path in files])[0]
            found = list(mutants(path))
            if found:
                chosen.append(draw.choice(found))
        red: set[str] = set()
        for mutant in chosen:
            began = time.perf_counter()
            outcome, by = _outcome(mutant, home, clean, red)
            yield {
                "file": str(mutant.path.relative_to(source)),
                "line": mutant.line,
                "before": mutant.before,
                "after": mutant.after,
                "outcome": outcome,
                "by": by,
                "seconds": time.perf_counter() - began,
            }


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    ends = Counter(row["outcome"] for row in result["faults"])
    grid = Grid(
        title="mutation: small faults in the source",
        caption=(
            f"{', '.join(f'{n} {end}' for end, n in ends.most_common())} (seed {result['seed']}). "
            "Killed: a test that passes without the fault turned red. A survivor has no "
            "visible effect, or needs a test. Unknown: the tests could not be run."
        ),
    )
    for head in ("place", "was", "fault", "outcome"):
        grid.add_column(head, overflow="fold")
    for row in result["faults"]:
        by = escape(f"{row['outcome']} {row['by']}".strip())
        place = f"{row['file']}:{row['line']}"
        grid.add_row(place, *(escape(_short(row[key])) for key in ("before", "after")), by)
    return [grid]


def _copy(home: Path) -> Path:
    """Copy what the tests need, with the compiled kernels, whose files must keep their times."""
    home.mkdir()
    for name in ("src", "tests", "studies", "docs"):
        shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("results"))
    for name in ("pyproject.toml", "README.md"):
        shutil.copy2(ROOT / name, home / name)
    return home


def _outcome(mutant: Mutant, home: Path, clean: Path, red: set[str]) -> tuple[str, str]:
    """Return the outcome of a fault, and the test that found it.

    red: tests that fail without any fault; they are excluded.
    """
    shutil.rmtree(home / "src")
    shutil.copytree(clean / "src", home / "src")
    mutant.path.write_text(mutant.source())
    for path in _users(mutant.path, home):
        for kept in path.parent.glob(f"__pycache__/{path.stem}.*"):
            kept.unlink()
    for tests in _mirror(mutant.path, home):
        while failed := _first_failure(tests, home, red):
            if failed == NO_END:
                return "no end", ""
            if failed == NOTHING or failed in red:
                return "unknown", failed
            if _first_failure([failed], clean, set()) is None:
                return "killed", failed
            red.add(failed)
    return "survived", ""


def _users(place: Path, home: Path) -> set[Path]:
    """Return a file and those that import it, directly or not: compiled kernels hold each other."""
    files = {_module(path, home): path for path in (home / "src").rglob("*.py")}
    named = {
        path: {
            n.module
            for n in ast.walk(ast.parse(path.read_bytes()))
            if isinstance(n, ast.ImportFrom)
        }
        for path in files.values()
    }
    users, more = set(), {place}
    while more:
        users |= more
        names = {_module(path, home) for path in more}
        more = {path for path, imported in named.items() if imported & names} - users
    return users


def _module(path: Path, home: Path) -> str:
    return ".".join(path.relative_to(home / "src").with_suffix("").parts)


def _mirror(path: Path, home: Path) -> list[list[str]]:
    """Return the tests of a file, nearest first: by its name, in its folder, the contract."""
    folder = home / "tests" / path.parent.relative_to(home / "src" / "shoal")
    while not folder.is_dir():
        folder = folder.parent
    near = [str(p.relative_to(home)) for p in folder.glob(f"test_*{path.stem.strip('_')}*.py")]
    return [near, [str(folder.relative_to(home))], [CONTRACT]][not near :]


def _first_failure(tests: list[str], home: Path, red: set[str]) -> str | None:
    left_out = [f"--deselect={t}" if "::" in t else f"--ignore={t}" for t in sorted(red)]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-p", "no:cacheprovider", *left_out, *tests],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home / "src")},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=_limit,
    )
    if ended.returncode < 0:
        return NO_END
    failed = [line for line in ended.stdout.splitlines() if line.startswith(("FAILED", "ERROR"))]
    if failed:
        return failed[0].split(" - ")[0].split(" ", 1)[1]
    return None if ended.returncode == 0 else NOTHING


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:57]} …"


def main() -> None:
    """Try faults in the given folders, and report each when it is done."""
    parser = argparse.ArgumentParser(description="Put small faults into the source and test it.")
    parser.add_argument("folders", nargs="*", default=FOLDERS, help="of src/shoal")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    out, faults = Console(highlight=False, emoji=False), []
    for row in tried(asked.count, asked.seed, tuple(asked.folders)):
        line = f"{row['file']}:{row['line']}: {row['outcome']} {row['by']} ({row['seconds']:.0f} s)"
        out.print(line, markup=False, emoji=False, soft_wrap=True)
        faults.append(row)
    for grid in show({"seed": asked.seed, "faults": faults}):
        out.print(grid)


if __name__ == "__main__":
    main()
