"""`shoal dp`: plan, account for and audit differential privacy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer
from rich.text import Text

from shoal.cli.dp import audit as dp_audit
from shoal.cli.dp import ledger as dp_ledger
from shoal.cli.shared.console import emit, grid, number, out, share
from shoal.cli.shared.options import Command, Group, Json, names
from shoal.errors import InputError
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.dp.planning import Setting

_Value = TypeVar("_Value", int, float)
app = typer.Typer(
    cls=Group, help="Plan, account for and audit differential privacy.", no_args_is_help=True
)


@app.callback()
def dp() -> None:
    """Plan, account for and audit differential privacy."""


app.command(cls=Command)(dp_audit.audit)
app.add_typer(dp_ledger.app, name="ledger")


@app.command(cls=Command)
def plan(
    rows: Annotated[
        int,
        typer.Option(metavar="N", help="Publicly known number of records in the table."),
    ],
    epsilon: Annotated[
        float | None,
        typer.Option(
            metavar="X", help="The total epsilon. Default: choice - ln(1 - beta) for each beta."
        ),
    ] = None,
    delta: Annotated[
        float | None,
        typer.Option(metavar="X", help="The largest acceptable delta. Default: 0.1/N."),
    ] = None,
    k: Annotated[
        str,
        typer.Option(
            "--k", "-k", metavar="N,...", help="Values of k. Default: the smallest for each beta."
        ),
    ] = "",
    beta: Annotated[
        str,
        typer.Option(
            metavar="X,...", help="Sampling rates. Default: the tenths that can reach delta."
        ),
    ] = "",
    choice_epsilon: Annotated[
        float, typer.Option(metavar="X", help="The part of epsilon for choosing the recoding.")
    ] = 0.1,
    sizes: Annotated[
        str, typer.Option(metavar="N,...", help="Class sizes to report.")
    ] = "100,200,500",
    json: Json = False,
) -> None:
    """List settings of k and beta that make a sampled release (epsilon, delta)-private.

    Each of the N records is sampled with probability beta, and classes with fewer than k sampled
    records are dropped. A larger beta keeps more records but needs a larger epsilon; a larger k
    lowers delta. `safe-la` runs every setting listed; it refuses a red one unless
    allow_large_delta is set.

    The exit status is 1 if --delta is given and no setting reaches it.
    """
    from shoal.dp import plan as planned

    found = planned(
        rows,
        epsilon,
        delta,
        k=_numbers("k", k, int),
        beta=_numbers("beta", beta, float),
        choice_epsilon=choice_epsilon,
        sizes=_numbers("sizes", sizes, int),
    )
    wanted = 0.1 / rows if delta is None else delta
    data = {"rows": rows, "delta": wanted, "settings": [asdict(setting) for setting in found]}
    emit(json, data, lambda: _show(found, rows, wanted))
    if delta is not None and not any(setting.reached for setting in found):
        raise typer.Exit(1)


def _numbers(option: str, text: str, kind: Callable[[str], _Value]) -> list[_Value]:
    """Read `1,2,3`."""
    try:
        return [kind(part) for part in names(text)]
    except ValueError:
        raise InputError(f"{option} must be numbers such as 50,60, not {text!r}") from None


def _show(found: list[Setting], rows: int, wanted: float) -> None:
    sizes = list(found[0].kept)
    kept = [f"of {size:,}" for size in sizes]
    shown = grid("beta", "k", "epsilon", "delta", "", "published", "its k", *kept)
    for setting in found:
        shown.add_row(
            number(setting.beta),
            f"{setting.k:,}",
            number(_up(setting.epsilon)),
            Text(_delta(setting.delta), setting.colour),
            Text(setting.colour, setting.colour),
            "" if setting.published_delta is None else _delta(setting.published_delta),
            "" if setting.published_least_k is None else f"{setting.published_least_k:,}",
            *(share(setting.kept[size]) for size in sizes),
        )
    out.print(shown)
    reached = sum(setting.reached for setting in found)
    out.print(f"\n{reached} of {len(found)} settings reach a delta of {_delta(wanted)}")
    out.print(
        Text.assemble(
            ("green", "green"),
            f": below 0.1/N = {_delta(0.1 / rows)}; ",
            ("yellow", "yellow"),
            f": below 1/N = {_delta(1 / rows)}; ",
            ("red", "red"),
            ": 1/N or more",
        )
    )
    out.print(f"epsilon includes {number(found[0].choice_epsilon)} for the choice of the recoding")
    out.print(
        "published: the delta by the theorem of Li, Qardaji & Su (2012); its k: the k it needs"
    )
    if sizes:
        out.print(f"{kept[0]}: expected share released of a class of {counted(sizes[0], 'record')}")
    choice = found[0].choice_epsilon
    out.print(
        "to make such a release: shoal anonymize FILE --schema FILE --method safe-la -k K "
        f"-O beta=BETA -O epsilon=EPSILON -O choice={choice:g} -O n0={rows} -o FILE",
        soft_wrap=True,
    )


def _up(value: float) -> float:
    """Return an epsilon rounded up to four digits, because a smaller one would not be enough.

    >>> _up(0.79314718), _up(1.31)
    (0.7932, 1.31)
    """
    exact = Decimal(repr(value))
    return float(exact.quantize(Decimal(1).scaleb(exact.adjusted() - 3), ROUND_CEILING))


def _delta(value: float) -> str:
    return f"{value:.2e}"
