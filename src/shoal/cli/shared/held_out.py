"""A control group: people who are held back from a release, to measure attacks on it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import out
from shoal.cli.shared.options import check_outputs
from shoal.errors import InputError
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.core.table import Table

Control = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Hold this share of the people back, such as 10%, and write them next to the output, "
        "for `shoal risk attack --control`.",
    ),
]
_SHARE = re.compile(r"([0-9]+(?:\.[0-9]+)?|\.[0-9]+)\s*(%?)")


@dataclass(eq=False)
class ControlGroup:
    """The people who are held back from a release; nobody if no share is asked for.

    share: the share of the people, None for nobody.
    file: where they are written: `r.control.csv` for the release `r.csv`.
    force: whether the file may be overwritten.
    people: the held-back people, once they are drawn.
    """

    share: float | None = None
    file: Path | None = None
    force: bool = False
    people: Table | None = None

    @classmethod
    def of(cls, text: str | None, output: Path | None, *, force: bool) -> ControlGroup:
        """Return the control group that is asked for as `10%` or `0.1`."""
        if text is None:
            return cls()
        match = _SHARE.fullmatch(text.strip())
        share = float(match[1]) / (100 if match[2] else 1) if match else 0.0
        if not 0 < share < 1:
            raise InputError(f"--control must be more than 0 and less than 100 %, not {text!r}")
        if output is None:
            raise InputError("--control needs an output file, next to which it is written; give -o")
        file = output.with_name(f"{output.stem}.control{output.suffix}")
        check_outputs(file, None, force=force)
        return cls(share, file, force)

    def held_back(self, table: Table, seed: int | None) -> Table:
        """Draw the control group, and return the table without it.

        All rows of a person, or of a household if the table has households, stay together.
        """
        import numpy as np

        if self.share is None:
            return table
        check_outputs(self.file, None, force=self.force)  # now that all inputs are known
        unit = table.unit
        ids = np.arange(len(table)) if unit is None else unit.ids
        count = len(table) if unit is None else unit.count
        held = max(round(self.share * count), 1)
        if held >= count:
            raise InputError("--control leaves nobody to release; choose a smaller share")
        drawn = np.zeros(count, dtype=np.bool_)
        drawn[np.random.default_rng(seed or 0).permutation(count)[:held]] = True
        self.people = table.take(np.flatnonzero(drawn[ids]))
        return table.take(np.flatnonzero(~drawn[ids]))

    def write(self) -> dict[str, Any]:
        """Write the people, and return what to report about them."""
        from shoal.core.publishing.writing import write_table

        if self.people is None or self.file is None:
            return {}
        write_table(self.people.to_arrow(), self.file, force=self.force)
        return {"control": {"file": str(self.file), "people": self.people.people}}

    def show(self) -> None:
        """Print where the people are written."""
        if self.people is not None:
            out.print(
                f"control group of {counted(self.people.people, 'person', 'people')} written to "
                f"{self.file}; it is not anonymized",
                soft_wrap=True,
            )
