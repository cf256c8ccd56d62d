"""Draw the rooms of `src/shoal` in their levels: `python docs/_house.py` writes the picture.

Arrows are what rooms import, read from the syntax trees; levels are those in CONTRIBUTING.md. Of
the arrows that point down, those are drawn that no longer way replaces; all that point up are
drawn, dashed.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
PICTURE = ROOT / "docs" / "pictures" / "house.svg"
SOURCE = ROOT / "src" / "shoal"
INK, BOX, LINE, UPWARDS = "#1f2933", "#e8f1f4", "#2a7f9e", "#c0442c"
FONT = "Inter, Helvetica Neue, Helvetica, Arial, sans-serif"
WIDTH, STEP, HEIGHT, GAP = 900, 62, 26, 44  # of the picture; between levels; of a box; of boxes
_LEVEL = re.compile(r"^\| (\d+) \| `(\w+)` \|", re.MULTILINE)

Arrows = dict[str, set[str]]  # the rooms that a room imports


def house() -> str:
    """Return the picture as SVG."""
    levels, arrows = stated_levels(), imports()
    down, up = needed(arrows, levels), exceptions(arrows, levels)
    spots = places(levels, down)
    height = (max(levels.values()) + 1) * STEP + 60
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="{FONT}" font-size="13">',
        "<title>The rooms of Shoal in their levels</title>",
        f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
        f"<defs>{_head('down', LINE)}{_head('up', UPWARDS)}</defs>",
    ]
    for level in sorted(set(levels.values())):
        y = _top(level, levels) + HEIGHT / 2 + 4
        lines.append(f'<text x="16" y="{y:.0f}" fill="#6b7785">{level}</text>')
    lines += [_down(spots[a], spots[b]) for a, b in _pairs(down)]
    lines += [_up(spots[a], spots[b]) for a, b in _pairs(up)]
    lines += [_box(room, *spots[room]) for room in levels]
    key = f"arrow: imports    dashed: upwards, {sum(map(len, up.values()))} listed exceptions"
    lines.append(f'<text x="40" y="{height - 16}" fill="#6b7785" xml:space="preserve">{key}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def stated_levels() -> dict[str, int]:
    """Return the level of each room, as CONTRIBUTING.md states it."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    return {room: int(level) for level, room in _LEVEL.findall(text)}


def imports(source: Path = SOURCE) -> Arrows:
    """Return the parts of Shoal that each room imports, at the top of modules or in functions."""
    arrows: Arrows = {}
    for path in sorted(source.rglob("*.py")):
        room = path.relative_to(source).parts[0].removesuffix(".py")
        arrows.setdefault(room, set()).update(set(imported(path)) - {room})
    return arrows


def needed(arrows: Arrows, levels: dict[str, int]) -> Arrows:
    """Return the arrows to lower levels without those that a way over other rooms replaces."""
    down = {
        room: {other for other in arrows[room] if levels.get(other, level) < level}
        for room, level in levels.items()
    }
    below: Arrows = {}  # all rooms that a room reaches, filled from the lowest level upwards
    for room in sorted(levels, key=lambda room: levels[room]):
        below[room] = down[room].union(*(below[other] for other in down[room]))
    return {
        room: {end for end in ends if not any(end in below[via] for via in ends)}
        for room, ends in down.items()
    }


def exceptions(arrows: Arrows, levels: dict[str, int]) -> Arrows:
    """Return the arrows that do not point to a lower level; those within level 0 are fine."""
    return {
        room: {
            other
            for other in arrows[room]
            if other in levels and levels[other] >= level and (level or levels[other])
        }
        for room, level in levels.items()
    }


def places(levels: dict[str, int], down: Arrows) -> dict[str, tuple[float, float, float]]:
    """Return left, top and width of the box of each room; each near the rooms that it imports."""
    spots: dict[str, tuple[float, float, float]] = {}
    for level in sorted(set(levels.values())):
        row = [room for room in levels if levels[room] == level]

        def centre(room: str) -> float:
            ends = [spots[other][0] + spots[other][2] / 2 for other in down[room]]
            return sum(ends) / len(ends) if ends else WIDTH / 2

        row.sort(key=lambda room: (centre(room), room))
        widths = {room: 8.0 * len(room) + 24 for room in row}
        taken = sum(widths.values()) + GAP * (len(row) - 1)
        # rows lean left and right in turn, so that arrows over several levels stay visible
        lean = (0, -170, 150, -90, 190)[level % 5] if len(row) == 1 else 0
        x = (WIDTH - taken) / 2 + lean
        for room in row:
            spots[room] = (x, _top(level, levels), widths[room])
            x += widths[room] + GAP
    return spots


def imported(path: Path) -> Iterator[str]:
    """Yield the parts of Shoal that a module imports, at its top or inside its functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("shoal"):
            parts = (node.module or "").split(".")
            yield from [parts[1]] if len(parts) > 1 else [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            yield from [a.name.split(".")[1] for a in node.names if a.name.startswith("shoal.")]


def _pairs(arrows: Arrows) -> list[tuple[str, str]]:
    return [(room, end) for room, ends in arrows.items() for end in sorted(ends)]


def _top(level: int, levels: dict[str, int]) -> float:
    return 20.0 + (max(levels.values()) - level) * STEP


def _head(name: str, colour: str) -> str:
    return (
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        f'markerHeight="7" orient="auto"><path d="M0,0L8,4L0,8Z" fill="{colour}"/></marker>'
    )


def _box(room: str, x: float, y: float, width: float) -> str:
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{width:.0f}" height="{HEIGHT}" rx="5" fill="{BOX}" '
        f'stroke="{LINE}"/><text x="{x + width / 2:.0f}" y="{y + HEIGHT / 2 + 4:.0f}" '
        f'fill="{INK}" text-anchor="middle">{room}</text>'
    )


def _down(one: tuple[float, float, float], other: tuple[float, float, float]) -> str:
    """Draw an arrow from the lower edge of a box to the upper edge of a lower one."""
    x, y, to, end = one[0] + one[2] / 2, one[1] + HEIGHT, other[0] + other[2] / 2, other[1]
    bend = (end - y) / 2
    line = f"M{x:.0f},{y:.0f}C{x:.0f},{y + bend:.0f} {to:.0f},{end - bend:.0f} {to:.0f},{end:.0f}"
    return f'<path d="{line}" fill="none" stroke="{LINE}" marker-end="url(#down)"/>'


def _up(one: tuple[float, float, float], other: tuple[float, float, float]) -> str:
    """Draw a dashed arrow that leaves and enters boxes at their right edges."""
    x, y, to, end = one[0] + one[2], one[1] + HEIGHT / 2, other[0] + other[2], other[1] + HEIGHT / 2
    out = max(x, to) + 30 + abs(end - y) / 3
    line = f"M{x:.0f},{y:.0f}C{out:.0f},{y:.0f} {out:.0f},{end:.0f} {to:.0f},{end:.0f}"
    return (
        f'<path d="{line}" fill="none" stroke="{UPWARDS}" stroke-dasharray="5 3" '
        'marker-end="url(#up)"/>'
    )


if __name__ == "__main__":
    PICTURE.write_text(house(), encoding="utf-8")
