"""Small faults for the source: each is a location and its replacement text."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq, ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.Mod: ast.FloorDiv,
}  # fmt: skip
CALLED = {
    "min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum",
    "maximum": "minimum", "argmin": "argmax", "argmax": "argmin", "floor": "ceil", "ceil": "floor",
}  # fmt: skip
# messages, types and compiler options: no test is expected to detect these
UNSEEN = (ast.JoinedStr, ast.Raise, ast.Import, ast.ImportFrom)


@dataclass(frozen=True)
class Mutant:
    """One fault: a range of a file and its replacement."""

    path: Path
    line: int
    start: int
    end: int
    before: str
    after: str

    def source(self) -> str:
        """Return the file's text with the fault."""
        text = self.path.read_bytes()
        return (text[: self.start] + self.after.encode() + text[self.end :]).decode()


def mutants(path: Path) -> Iterator[Mutant]:
    """Yield every possible fault of one file."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in _seen(ast.parse(text)):
        after = _changed(node)
        if after is not None and node.end_lineno is not None and node.end_col_offset is not None:
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            before = text[start:end].decode()
            yield Mutant(path, node.lineno, start, end, before, after)


def _seen(tree: ast.AST) -> Iterator[ast.expr]:
    """Yield the executed expressions, outermost first."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, UNSEEN):
            continue
        if isinstance(node, ast.expr):
            yield node
        unseen = {"annotation", "returns", "decorator_list"}
        for name, value in ast.iter_fields(node):
            if name not in unseen:
                parts = value if isinstance(value, list) else [value]
                waiting += [part for part in parts if isinstance(part, ast.AST)]


def _changed(node: ast.expr) -> str | None:
    """Return the text of a node with one fault, or None if it has none."""
    match node:
        case ast.Compare(left, [operator], right) if type(operator) in COMPARED:
            changed: ast.expr = ast.Compare(left, [COMPARED[type(operator)]()], right)
        case ast.BinOp(left, operator, right) if type(operator) in COMPUTED:
            changed = ast.BinOp(left, COMPUTED[type(operator)](), right)
        case ast.BoolOp(operator, values):
            changed = ast.BoolOp(ast.Or() if isinstance(operator, ast.And) else ast.And(), values)
        case ast.UnaryOp(ast.Not(), operand):
            changed = operand
        case ast.Call(ast.Name(name), arguments, keywords) if name in CALLED:
            changed = ast.Call(ast.Name(CALLED[name]), arguments, keywords)
        case ast.Call(ast.Attribute(value, name), arguments, keywords) if name in CALLED:
            changed = ast.Call(ast.Attribute(value, CALLED[name]), arguments, keywords)
        case ast.Constant(bool() as value):
            changed = ast.Constant(not value)
        case ast.Constant(int() as value):
            changed = ast.Constant(value + 1)
        case _:
            return None
    return f"({ast.unparse(changed)})"
