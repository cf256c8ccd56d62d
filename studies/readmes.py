"""The pages of the repository on the studies, written from the verdicts of their runs.

A published run leaves its verdicts and one picture in the folder of its study; figures are never
typed.
"""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from studies import STUDIES, Study
from studies.coverage import ITEMS, Item
from studies.page import VERDICTS
from studies.verdicts import RULE

HOME = Path(__file__).parent
BEGIN, END = "<!-- written by python -m studies --pages -->\n", "<!-- end -->\n"
Summary = dict[str, Any]  # of a run: title, about, command, sections with their verdicts
_OWN = ("ours)", "left open there)")  # ends of claims that no document makes
_VERBS = {"agrees": ("agrees", "agree"), "disagrees": ("disagrees", "disagree")}


def publish(study: Study, data: str, out: Path, command: str, home: Path = HOME) -> None:
    """Store the verdicts and the picture of a run in the folder of its study."""
    summary = json.loads((out / VERDICTS).read_text(encoding="utf-8"))
    folder = home / study.name
    text = json.dumps({**summary, "command": command}, ensure_ascii=False, indent=1)
    (folder / _stored(study, data)).write_text(text + "\n", encoding="utf-8")
    shutil.copyfile(out / study.picture, folder / _picture(study, data))


def write_pages(home: Path = HOME) -> None:
    """Write the page of every study, and the table of all algorithms, tables and figures."""
    for path, text in pages(home).items():
        path.write_text(text, encoding="utf-8")


def pages(home: Path = HOME) -> dict[Path, str]:
    """Return the text of each page by its path."""
    found: dict[Path, str] = {}
    stored: dict[str, Summary] = {}
    for study in STUDIES.values():
        for data in study.data:
            path = home / study.name / _stored(study, data)
            summary = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
            if summary is not None:
                stored[f"{study.name}/{data}"] = summary
            if summary is not None or data == study.data[0]:
                found[home / study.name / _page(study, data)] = page_of(study, data, summary)
    index = home / "README.md"
    before, _, rest = index.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    found[index] = before + BEGIN + _table(stored) + END + after
    return found


def page_of(study: Study, data: str, summary: Summary | None) -> str:
    """Return the page of a study on one of its tables; None if it has no published run."""
    parts = [
        f"# {study.about}",
        f"Source: {study.source}. This page is written by `make study NAME={study.name} "
        "PUBLISH=1`; do not edit it.",
        f"## Published\n\n{study.published}",
    ]
    if summary is None:
        parts.append(f"## Measured\n\nNo run is published yet: `{_command(study, data)}`.")
        return "\n\n".join(parts) + "\n"
    counts = _counts(_verdicts(summary["sections"]))
    parts += [
        f"## Measured\n\nOf the published claims, {counts}. Command: `{summary['command']}`.",
        summary["about"],
        f"![{summary['title']}]({_picture(study, data)})",
        f"## Verdicts\n\n{RULE}",
        *(_section(section) for section in summary["sections"] if section["verdicts"]),
    ]
    return "\n\n".join(parts) + "\n"


def _section(section: Mapping[str, Any]) -> str:
    rows = [
        f"### {section['heading']}: {section['title']}",
        "",
        "| claim | verdict | measured here |",
    ]
    rows.append("|---|---|---|")
    for verdict in section["verdicts"]:
        cells = (verdict["claim"], verdict["word"], verdict["found"])
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _table(stored: Mapping[str, Summary]) -> str:
    """Return the table of all items, document by document."""
    lines = []
    for document in dict.fromkeys(item.document for item in ITEMS):
        lines += [f"\n### {document}\n", "| item | contents | repeated |", "|---|---|---|"]
        lines += [
            f"| {item.name} | {item.about} | {_status(item, stored)} |"
            for item in ITEMS
            if item.document == document
        ]
    return "\n".join(lines) + "\n"


def _status(item: Item, stored: Mapping[str, Summary]) -> str:
    if item.reason:
        return f"no: {item.reason}"
    if item.tests:
        return f"exactly, by [a test](../{item.tests})"
    name, _, data = item.study.partition("/")
    study = STUDIES[name]
    data = data or study.data[0]
    summary = stored.get(f"{name}/{data}")
    command = f"`{_command(study, data)}`"
    if summary is None:
        return f"{command}; no run is published yet"
    chosen = [s for s in summary["sections"] if s["name"] in item.sections]
    page = f"[{_counts(_verdicts(chosen))}]({name}/{_page(study, data)})"
    return f"{page}; {command}"


def _verdicts(sections: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the verdicts on published claims; our own are left out."""
    return [
        verdict["word"]
        for section in sections
        for verdict in section["verdicts"]
        if not verdict["claim"].endswith(_OWN)
    ]


def _counts(words: Sequence[str]) -> str:
    """Return how many claims agree, disagree and are undecided, as text."""
    if not words:
        return "shown, without a claim"
    counts = Counter(words)
    parts = [
        f"{counts[word]} {forms[counts[word] != 1]}"
        for word, forms in _VERBS.items()
        if counts[word]
    ]
    if counts["undecided"]:
        parts.append(f"{counts['undecided']} undecided")
    return ", ".join(parts)


def _command(study: Study, data: str) -> str:
    chosen = "" if data == study.data[0] else f" DATA={data}"
    return f"make study NAME={study.name}{chosen}"


def _stored(study: Study, data: str) -> str:
    return f"verdicts-{data}.json"


def _page(study: Study, data: str) -> str:
    return "README.md" if data == study.data[0] else f"{data}.md"


def _picture(study: Study, data: str) -> str:
    return f"picture-{data}{Path(study.picture).suffix}"
