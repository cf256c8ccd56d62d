"""A record that is not drawn changes nothing that leaves the command line.

Tables have one row at least: a file without rows is refused when it is read.
"""

import contextlib
import io
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.cli import main
from shoal.cli.shared import console
from shoal.methods.lattice.node_choice import NodeChoice
from shoal.methods.lattice.sampled_draw import SampledDraw

TOWNS = ["a", "b;c", "d, e", 'f"g', "é"]
TREE = {"west": ["a", "b;c"], "east": {"hill": ["d, e"], "coast": ['f"g', "é"]}}
SCHEMA = {
    "who": {"role": "identifier"},
    "age": {
        "role": "quasi", "type": "integer", "bounds": [0, 99], "hierarchy": {"intervals": [10, 50]},
    },
    "town": {"role": "quasi", "type": "text", "values": TOWNS, "hierarchy": {"tree": TREE}},
    "born": {
        "role": "quasi", "type": "date", "bounds": ["1990-01-01", "1999-12-31"],
        "hierarchy": {"dates": ["month", "year"]},
    },
    "ill": {"role": "sensitive", "type": "text", "values": ["flu", "gout", "none"]},
    "pay": {"role": "insensitive", "type": "decimal(2)", "bounds": [0, 99]},
}  # fmt: skip
HEIGHTS = {"age": 3, "town": 3, "born": 3}
CELLS = {
    "age": st.sampled_from(["", "0", "20", "23", "31", "99"]),
    "town": st.sampled_from(["", *TOWNS]),
    "born": st.sampled_from(["", "1990-01-01", "1994-02-28", "1999-12-31"]),
    "ill": st.sampled_from(["flu", "gout", "none", ""]),
    "pay": st.sampled_from(["0.50", "7.25", "99.00", ""]),
}


def record(columns):
    return st.tuples(*(CELLS[name] for name in columns))


@st.composite
def neighbours(draw):
    """Return rows with who was drawn, and one record or person more, who was not."""
    columns = draw(
        st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4, unique=True).filter(
            lambda names: set(names) & set(HEIGHTS)
        )
    )
    kinds = draw(st.lists(record(columns), min_size=1, max_size=3))
    named = draw(st.booleans())
    rows = []
    for index in range(draw(st.integers(0, 14))):
        who = f"p{index // draw(st.integers(1, 2))}" if named else f"p{index}"
        rows.append((who, draw(st.sampled_from(kinds)), draw(st.booleans())))
    more = draw(st.lists(record(columns), min_size=1, max_size=3 if named else 1))
    extra = [("new", cells, False) for cells in more]
    place = draw(st.integers(0, len(rows)))
    node = tuple(draw(st.integers(0, HEIGHTS[name])) for name in columns if name in HEIGHTS)
    return {
        "columns": columns,
        "person": named,
        "tables": [rows, [*rows[:place], *extra, *rows[place:]]],
        "node": node,
        "k": draw(st.integers(2, 4)),
        "slots": draw(st.integers(1, 2)) if named else 1,
        "output": draw(st.sampled_from(["out.csv", "out.parquet"])),
        "more": draw(
            st.sampled_from([[], ["--json"], ["--report", "r.json"], ["--report", "r.html"]])
        ),
    }


def ranks_within(people):
    """The rank of each row among the rows of its person, in the order of the file."""
    seen = {}
    return np.array([seen.setdefault(who, []).append(0) or len(seen[who]) - 1 for who in people])


def released(case, rows, folder):
    """Run the command on these rows with fixed draws; return everything that leaves."""
    columns = case["columns"]
    lines = [",".join(["who", *columns])]
    for who, cells, _ in rows:
        quoted = ('"' + cell.replace('"', '""') + '"' if cell else "" for cell in cells)
        lines.append(",".join([who, *quoted]))
    (folder / "in.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    schema = {"columns": {name: SCHEMA[name] for name in ("who", *columns)}}
    schema |= {"person": "who"} if case["person"] else {}
    (folder / "in.yaml").write_text(json.dumps(schema), encoding="utf-8")
    ranks = ranks_within([who for who, _, _ in rows]) if case["person"] else np.zeros(len(rows))
    drawn = np.array([inside for _, _, inside in rows], dtype=np.int64)
    slots = [(ranks == slot).astype(np.int64) for slot in range(case["slots"])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(console, "note_compilation", lambda: None)
        patch.setattr(SampledDraw, "_draw_slots", lambda *_: slots)
        patch.setattr(SampledDraw, "_sample", lambda _, slot, seed: slot * drawn)
        patch.setattr(NodeChoice, "draw", lambda *_: case["node"])
        status, shown = run(patch, folder, case)
    files = {
        path.name: path.read_bytes() for path in folder.iterdir() if not path.name.startswith("in.")
    }
    return status, shown, files


def run(patch, folder, case):
    rows = ["-O", f"max_rows_per_person={case['slots']}"] if case["person"] else []
    command = ["shoal", "anonymize", "in.csv", "--schema", "in.yaml", "-k", str(case["k"])]
    command += ["--method", "safe-la", "-O", "allow_large_delta=true", *rows, "-o", case["output"]]
    patch.setattr(sys, "argv", [*command, *case["more"]])
    patch.setattr(sys.modules["__main__"], "__package__", None)
    patch.chdir(folder)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
            status = 0
        except SystemExit as ended:
            status = ended.code or 0
    return status, (out.getvalue(), err.getvalue())


def both(case):
    for rows in case["tables"]:
        with tempfile.TemporaryDirectory() as folder:
            yield released(case, rows, Path(folder))
            os.chdir("/")


@pytest.mark.slow
@examples(100, deep=3000)
@given(neighbours())
def test_a_neighbour_that_is_not_drawn_leaves_no_trace(case):
    first, second = both(case)
    assert first[0] == 0, first[1][1]
    assert first == second


def test_one_that_is_drawn_does():
    """So the test above looks at something."""
    rows = [(f"p{i}", ("20",), True) for i in range(4)]
    case = {
        "columns": ["age"], "person": False, "node": (0,), "k": 2, "slots": 1,
        "output": "out.csv", "more": ["--report", "r.json"], "tables": [rows, rows[:-1]],
    }  # fmt: skip
    first, second = both(case)
    assert first[0] == second[0] == 0
    assert first[1] != second[1]
    assert all(first[2][name] != second[2][name] for name in ("out.csv", "r.json"))


def test_whose_the_released_rows_are_leaves_no_trace():
    """Two people with two rows each, or four people: the released rows are the same."""
    rows = [("20",), ("20",), ("40",), ("40",)] * 3
    linked = [(f"p{i // 2}", cells, True) for i, cells in enumerate(rows)]
    crossed = [(f"p{i % 6}", cells, True) for i, cells in enumerate(rows)]
    for output, more in (("out.csv", ["--json"]), ("out.parquet", ["--report", "r.html"])):
        case = {
            "columns": ["age"], "person": True, "node": (0,), "k": 2, "slots": 2,
            "output": output, "more": more, "tables": [linked, crossed],
        }  # fmt: skip
        first, second = both(case)
        assert first[0] == 0, first[1][1]
        assert first == second


def test_whether_anybody_has_several_rows_leaves_no_trace():
    """Somebody with two rows, who is not drawn, or nobody: what leaves is the same."""
    rows = [(f"p{i}", ("20",), True) for i in range(9)]
    twice = [("new", ("20",), False)] * 2
    case = {
        "columns": ["age"], "person": True, "node": (0,), "k": 2, "slots": 2,
        "output": "out.csv", "more": ["--json"], "tables": [rows, [*rows, *twice]],
    }  # fmt: skip
    first, second = both(case)
    assert first[0] == 0, first[1][1]
    assert first == second
