"""`shoal dp`: plan, account for and audit differential privacy.

plan     settings of k and beta that reach an epsilon and a delta
audit    this installation's mechanisms, run on tables that differ in one record or person
ledger   the privacy budget of one table: grant, spend, show
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict
from decimal import ROUND_CEILING, Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from rich.text import Text

from shoal.cli.shared.console import bars, emit, grid, number, one_line, out, share
from shoal.cli.shared.options import Command, Group, Json, names, seed_option
from shoal.errors import InputError
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.auditing import AuditCase
    from shoal.dp.audit import Audit
    from shoal.dp.audit_exact import ExactAudit
    from shoal.dp.ledger import Ledger
    from shoal.dp.planning import Setting

    Audited = tuple[AuditCase, Audit, ExactAudit | None]

_MAX_RUNS = 10_000_000


def audit(
    runs: Annotated[
        int, typer.Option(metavar="N", help="Number of runs of each mechanism on each table.")
    ] = 4_000,
    confidence: Annotated[
        float, typer.Option(metavar="SHARE", help="Confidence level of the bounds on a mechanism.")
    ] = 0.999,
    seed: Annotated[int, seed_option("The same seed gives the same runs.")] = 0,
    json: Json = False,
) -> None:
    """Audit the differentially private mechanisms of this installation on small tables.

    The audit runs the code of `anonymize --method safe-la` and of the private regression on pairs
    of tables that differ in one record or person, and looks for outcomes that refute the claim. It
    uses seeded random numbers: the secure generator is not audited. Use `shoal.dp.audit` in Python
    to audit a mechanism of your own. The exit status is 1 if a claim is refuted.
    """
    from shoal.auditing import audit_cases
    from shoal.support.progress import report

    if not 2 <= runs <= _MAX_RUNS:
        raise InputError(f"runs must be from 2 to {_MAX_RUNS:,}, not {runs:,}")
    audited: dict[str, Audited] = {}
    with bars():
        cases = audit_cases()
        for index, (name, make) in enumerate(cases.items()):
            report("mechanisms", index, len(cases))
            case = make()
            audited[name] = case, case.by_runs(runs, confidence, seed), case.exactly()
    data = {
        name: {
            "about": case.about,
            "claim": str(case.claim),
            "runs": by_runs.to_dict(),
            "exact": None if exact is None else exact.to_dict(),
        }
        for name, (case, by_runs, exact) in audited.items()
    }
    emit(json, data, lambda: _show_audit(audited, runs))
    if any(_is_refuted(*each) for each in audited.values()):
        raise typer.Exit(1)


def _is_refuted(_: AuditCase, by_runs: Audit, exact: ExactAudit | None) -> bool:
    return by_runs.violated or (exact is not None and exact.violated)


def _show_audit(audited: dict[str, Audited], runs: int) -> None:
    rows = grid("mechanism", "claimed ε, δ", "runs prove ≥", "exact", "noticeable", "verdict")
    for name, (case, by_runs, exact) in audited.items():
        refuted = _is_refuted(case, by_runs, exact)
        rows.add_row(
            name,
            _pair(by_runs.epsilon, by_runs.delta),
            _pair(by_runs.epsilon_found, by_runs.delta_found),
            "" if exact is None else _pair(exact.epsilon_found, float(exact.delta_found)),
            _pair(by_runs.noticeable_epsilon, by_runs.noticeable_delta),
            Text("refuted", "red") if refuted else Text("not refuted", "green"),
        )
    out.print(rows)
    out.print()
    about = grid("", "")
    for name, (case, _, _) in audited.items():
        about.add_row(name, case.about)
    out.print(about)
    confidence = next(iter(audited.values()))[1].confidence
    out.print(
        f"\n{runs:,} runs on each table; the bounds that the runs prove hold with confidence "
        f"{confidence:g}. exact: computed from the scores and classes of the same code over every "
        "possible sample, assuming that records and nodes are drawn with the stated probabilities."
    )
    out.print(
        "An audit cannot prove privacy, and it covers only these tables. noticeable: the smallest "
        "ε of a biased coin, and the smallest probability of an event that is impossible without "
        "the person, that the runs would detect. The audit does not detect faults in the last "
        "digits of noise."
    )


def _pair(epsilon: float, delta: float) -> str:
    return f"{'∞' if math.isinf(epsilon) else format(epsilon, '.3g')}, {delta:.3g}"


ledger_app = typer.Typer(
    cls=Group, help="Track the privacy budget of one table.", no_args_is_help=True
)
LedgerFile = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file of the ledger.")]
Epsilon = Annotated[float, typer.Option(metavar="X", help="The epsilon.")]
Delta = Annotated[float, typer.Option(metavar="X", help="The delta.")]
KeyFile = Annotated[
    Path | None,
    typer.Option(
        "--key-file", metavar="FILE", help="A secret key that protects the ledger from changes."
    ),
]


@ledger_app.command(cls=Command)
def grant(
    ledger: LedgerFile,
    epsilon: Epsilon,
    delta: Delta = 0.0,
    slack: Annotated[
        float,
        typer.Option(
            metavar="X",
            help="The part of delta reserved for advanced composition, with which many small "
            "releases cost less than their sum.",
        ),
    ] = 0.0,
    table: Annotated[str, typer.Option(metavar="NAME", help="The name of the table.")] = "",
    unit: Annotated[
        str,
        typer.Option(metavar="UNIT", help="The unit of protection: record, person or household."),
    ] = "record",
    change: Annotated[
        bool,
        typer.Option("--change", help="Change the budget; earlier grants stay on record."),
    ] = False,
    when: Annotated[str | None, typer.Option(metavar="TEXT", help="A date or time.")] = None,
    key_file: KeyFile = None,
    json: Json = False,
) -> None:
    """Create a ledger with a budget of epsilon and delta."""
    from shoal.dp.ledger import Ledger

    if change:
        if slack:
            raise InputError("--slack cannot be changed: it is fixed when the ledger is created")
        found = Ledger.open(ledger, table=table, key=_key(key_file))
        found.regrant(epsilon, delta, when=when)
    else:
        found = Ledger.open(
            ledger,
            (epsilon, delta),
            slack=slack,
            neighbours=f"add or remove one {unit}",
            table=table,
            key=_key(key_file),
            when=when,
        )
    emit(json, _data(found), lambda: _show_ledger(found))


@ledger_app.command(cls=Command)
def spend(
    ledger: LedgerFile,
    epsilon: Epsilon,
    what: Annotated[str, typer.Option(metavar="TEXT", help="The release, in your own words.")],
    delta: Delta = 0.0,
    when: Annotated[str | None, typer.Option(metavar="TEXT", help="A date or time.")] = None,
    key_file: KeyFile = None,
    json: Json = False,
) -> None:
    """Charge a release to the ledger before making it.

    The exit status is 1 if the remaining budget is too small.
    """
    from shoal.dp.claims import DP

    found = opened(ledger, key_file)
    found.reserve(DP(epsilon, delta, what), what=what, when=when)
    emit(json, _data(found), lambda: _show_ledger(found))


@ledger_app.command(cls=Command)
def show(ledger: LedgerFile, key_file: KeyFile = None, json: Json = False) -> None:
    """Show the granted, spent and remaining budget, and the releases charged."""
    found = opened(ledger, key_file)
    emit(json, _data(found), lambda: _show_ledger(found))


def opened(ledger: Path, key_file: Path | None) -> Ledger:
    """Open an existing ledger."""
    from shoal.dp.ledger import Ledger

    return Ledger.open(ledger, key=_key(key_file))


def _key(path: Path | None) -> bytes | None:
    from shoal.support.files import check_readable

    if path is None:
        return None
    check_readable(path)
    return path.read_bytes()


def _data(ledger: Ledger) -> dict[str, Any]:
    book = ledger.book
    epsilon, delta = book.left()
    return {
        **asdict(book),
        "grant": asdict(book.grant),
        "spent": asdict(book.spent()),
        "left": {"epsilon": epsilon, "delta": delta},
    }


def _show_ledger(ledger: Ledger) -> None:
    book = ledger.book
    spent, left = book.spent(), book.left()
    rows = grid("", "epsilon", "delta")
    rows.add_row("granted", _figure(book.grant.epsilon), _figure(book.grant.delta))
    rows.add_row("spent", _figure(spent.epsilon), _figure(spent.delta))
    rows.add_row("left", _figure(left[0]), _figure(left[1]))
    out.print(rows)
    if book.entries:
        out.print()
        listed = grid("release", "epsilon", "delta", "", "")
        for entry in book.entries:
            mark = Text("") if entry.proven else Text("unproven", "yellow")
            name = one_line(entry.what if entry.when is None else f"{entry.what} ({entry.when})")
            listed.add_row(name, _figure(entry.epsilon), _figure(entry.delta), entry.state, mark)
        out.print(listed)
    if book.grant.slack:
        out.print(f"\ncomposition: {spent.rule}; delta of {_figure(book.grant.slack)} is reserved")
    for index, grant in enumerate(book.grants[:-1], start=1):
        stated = "" if grant.when is None else f" ({one_line(grant.when)})"
        out.print(f"\nearlier grant {index}: {grant}{stated}")
    out.print(f"\nneighbours: {book.neighbours}" + (f"; table: {book.table}" if book.table else ""))
    if book.schemas:
        out.print(f"schema: {', '.join(schema[:12] for schema in book.schemas)}")


def _figure(value: float) -> str:
    return number(value) if value >= 1e-3 or not value else f"{value:.2e}"


_Value = TypeVar("_Value", int, float)
app = typer.Typer(
    cls=Group, help="Plan, account for and audit differential privacy.", no_args_is_help=True
)


@app.callback()
def dp() -> None:
    """Plan, account for and audit differential privacy."""


app.command(cls=Command)(audit)
app.add_typer(ledger_app, name="ledger")


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
    emit(json, data, lambda: _show_plan(found, rows, wanted))
    if delta is not None and not any(setting.reached for setting in found):
        raise typer.Exit(1)


def _numbers(option: str, text: str, kind: Callable[[str], _Value]) -> list[_Value]:
    """Read `1,2,3`."""
    try:
        return [kind(part) for part in names(text)]
    except ValueError:
        raise InputError(f"{option} must be numbers such as 50,60, not {text!r}") from None


def _show_plan(found: list[Setting], rows: int, wanted: float) -> None:
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
