"""The tasks of CONTRIBUTING.md: their new files, changes and commands."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r'^```(\w+)(?: title="([^"]+)")?\n(.*?)^```$', re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Task:
    """What a section of the page says to do.

    files: {path: the text of a new file}; changes: (path, changed lines), in their order.
    """

    name: str
    files: dict[str, str]
    changes: list[tuple[str, str]]
    commands: list[list[str]]

    @classmethod
    def of(cls, section):
        """Read a section, which begins with its heading."""
        files, changes, commands = {}, [], []
        for language, path, body in _BLOCK.findall(section):
            if language == "console":
                commands += [shlex.split(line.removeprefix("$ ")) for line in body.splitlines()]
            elif language == "diff":
                changes.append((path, body))
            else:
                files[path] = body
        return cls(section.partition("\n")[0], files, changes, commands)

    def carry_out(self, folder):
        """Write the new files of the task into a checkout, and change the others."""
        for path, text in self.files.items():
            assert not (folder / path).exists(), path
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
        for path, lines in self.changes:
            text = (folder / path).read_text(encoding="utf-8")
            (folder / path).write_text(changed(text, lines), encoding="utf-8")


TASKS = [
    Task.of(section)
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)
    if section.startswith("Add ")
]


def changed(text, lines):
    """Return a text after a change, whose places each occur once in it."""
    for place in re.split(r"^@@\n", lines, flags=re.MULTILINE):
        marked = [line if line.strip() else " \n" for line in place.splitlines(keepends=True)]
        before, after = (
            "\n" + "".join(line[1:] for line in marked if line[0] in signs)
            for signs in (" -", " +")
        )
        assert {line[0] for line in marked} <= set(" +-")
        assert ("\n" + text).count(before) == 1, f"not found, or not unique:{before}"
        text = ("\n" + text).replace(before, after)[1:]
    return text
