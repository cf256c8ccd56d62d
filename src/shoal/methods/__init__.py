"""The only entry point that runs methods; it verifies every release independently.

    frame with roles, or a table        → Table, or a table whose rows stay where they are
    model as text, k                    → Model
    method by name with its options     → Algorithm
    identifiers to replace, population  → checked, added to the table
    search                              → Release, verified against table and model; then its record

A ledger is charged before anything is drawn. Tables that are not in memory call the same search on
their distinct tuples, or on each partition.
"""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from shoal._version import __version__
from shoal.errors import InputError, NotAnonymous, unknown
from shoal.methods import registry
from shoal.methods.algorithm import Algorithm, Option, make, options_of
from shoal.methods.listing import without_lists
from shoal.methods.registry import *  # noqa: F403  its __all__ lists the methods
from shoal.methods.registry import METHODS, Auto
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model
from shoal.privacy.models import parse
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.support.memory import return_memory
from shoal.support.options import check_seed
from shoal.support.progress import report, working_time
from shoal.support.wording import counted
from shoal.table.column import Role
from shoal.table.declared import schema_fingerprint
from shoal.table.frames import from_frame, is_spark_frame, origin_of, with_text_dates
from shoal.table.roles import as_names, roles_of, warn_unassigned
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.dp.claims import Claim
    from shoal.dp.ledger import Ledger
    from shoal.identifiers.keys import Key
    from shoal.identifiers.lookup import Lookup
    from shoal.identifiers.replacement import Context
    from shoal.rows.large_table import LargeTable
    from shoal.table.linked import Replaced
    from shoal.table.people import Unit

__all__ = [
    "METHODS",
    "Algorithm",
    "Option",
    "anonymize",
    "check_askable",
    "options_of",
    "versions",
]


def anonymize(
    data: Any,
    model: Model | str | None = None,
    method: str | Algorithm = "mondrian",
    *,
    k: int | None = None,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    identifier: str | Sequence[str] = (),
    weight: str = "",
    person: str | Sequence[str] = (),
    household: str | Sequence[str] = (),
    rows_are_people: bool = False,
    hierarchies: Mapping[str, Any] | bool | None = None,
    replace: Mapping[str, Any] | None = None,
    key: Key | None = None,
    domain: str = "",
    lookup: Lookup | None = None,
    max_left_out: float = 0.05,
    population: Any = None,
    list_values: bool = False,
    seed: int | None = None,
    ledger: Ledger | None = None,
    what: str = "",
    **options: Any,
) -> Release:
    """Anonymize a table and check the release, using only the released values.

    Parameters:
        data: A frame (pandas, polars, pyarrow or any other with the Arrow C stream interface), with
            the roles of its columns as keywords; a frame of Spark, whose rows stay in Spark; or a
            table from `shoal.read` or `shoal.open`, which has roles.
        model: The guarantee: a privacy model, or its text such as `"l-diversity(3, disease)"`.
        method: A name from `METHODS`, with its options as keywords, or an instance.
        k: Adds k-anonymity to the guarantee; without a model it is the whole guarantee.
        quasi: Columns that others may know about a person; they are generalized.
        sensitive: Columns that others must not learn about a person; they are published unchanged.
        insensitive: Columns that are published unchanged and need no protection.
        identifier: Columns that name people; they are not published.
        weight: The sampling weight: how many people of the population a record stands for. It is
            not published, and k counts people of the table whatever their weight.
        person: Columns that identify the person of a row; guarantees then count people.
        household: The same for households.
        rows_are_people: State that every row is a different person, although identifiers repeat.
        hierarchies: Hierarchies or recipes by column, such as `{"age": {"intervals": [5, 10]}}`.
            With False the method ignores the hierarchies of the table, if it does not need them.
            By default Mondrian makes one for a nominal column that has none and many values.
        replace: How identifiers are published, by column: a name such as "pseudonym", or an
            instance such as `shoal.identifiers.Pseudonym(length=20)`. Identifiers that it does not
            name are not published. It takes precedence over the schema of a table.
        key: The secret key of pseudonyms and other keyed replacements.
        domain: The recipient or project: only releases of one key and domain can be joined.
        lookup: The file of random tokens; new tokens are stored in it before they are published.
        max_left_out: Share of rows that `km-anonymity` may leave out if people have several rows,
            because too few people have as many rows like these, or to keep other rows detailed.
            All rows of suppressed people count.
        population: A table or frame of everyone, with all quasi-identifiers, for k-map and
            delta-presence. In a frame, `identifier`, `person`, `household` and `rows_are_people`
            mean the same as in the data: a person with several rows counts once.
        list_values: Accept quasi-identifiers whose values belong to one or two people each, such as
            names: without a hierarchy, cells list them.
        seed: For methods that draw at random; the same seed gives the same release.
        ledger: The ledger that a release with a differential privacy claim is charged to before
            anything is drawn. A ledger of a table with another schema is rejected.
        what: Name of the release in the ledger.
        options: Options of the method.

    Returns:
        The release, which has passed the check.

    Raises:
        Infeasible: No release by this method meets the guarantee.
        NotAnonymous: The method broke the guarantee; nothing is released.

    >>> import pyarrow as pa
    >>> ages = pa.table({"age": [31, 33, 47, 48], "disease": ["flu", "asthma", "flu", "gout"]})
    >>> release = anonymize(ages, k=2, quasi="age", sensitive="disease")
    >>> release.to_native().column("age").to_pylist()
    ['[31, 33]', '[31, 33]', '[47, 48]', '[47, 48]']
    """
    if isinstance(hierarchies, bool):
        options["hierarchies"], hierarchies = hierarchies, None
    described = Described(
        quasi=quasi,
        sensitive=sensitive,
        insensitive=insensitive,
        identifier=identifier,
        weight=weight or (),
        person=person,
        household=household,
        rows_are_people=rows_are_people,
        hierarchies=hierarchies,
    )
    model = as_model(model, k)
    check_seed(seed)
    algorithm = _algorithm(method, seed, options)
    if is_spark_frame(data):
        data, described = described.opened(data), Described()
    if _is_stored(data):
        if described or replace or population is not None:
            raise InputError(
                "a table that is not in memory has its roles and replacements already, and takes "
                "no population; state replace in the schema or the roles"
            )
        if ledger is not None:
            _check_priced(algorithm)
        if model.over_rows:
            raise InputError(f"{model} needs the rows of each person; read the table into memory")
        from shoal.identifiers.replacement import Context

        secrets = Context(key, domain, lookup=lookup)
        return _released_on_disk(
            data, model, algorithm, seed, ledger, what, secrets, list_values=list_values
        )
    table = _with_population(_with_replacements(described.table(data), replace), population)
    check_askable(table, model, any_size=getattr(algorithm, "any_size", False))
    replaced = _replaced(table, algorithm, key=key, domain=domain, lookup=lookup)
    if ledger is None:
        return _released(
            table, model, algorithm, seed, replaced, max_left_out, list_values=list_values
        )
    return _charged(table, model, algorithm, seed, ledger, what)


def _with_population(table: Table, population: Any) -> Table:
    """Return the table with a population, given as a table or a frame.

    A frame has the table's identifiers: its people and households are those that the same columns
    identify, and if it has no such columns, an identifier that repeats is refused as in the table.
    """
    if population is None:
        return table
    if not isinstance(population, Table):
        frame = from_frame(population)
        roles = {
            column.name: column.role
            for column in table
            if column.role in (Role.QUASI, Role.IDENTIFIER) and column.name in frame.column_names
        }
        try:
            population = Table.from_arrow(
                frame,
                roles,
                person=_shared_unit(table.person, frame, "a person"),
                household=_shared_unit(table.household, frame, "a household"),
                rows_are_people=table.rows_are_people,
            )
        except InputError as error:
            error.args = (f"population: {error}", *error.args[1:])
            raise
    return replace(table, population=population)


def _shared_unit(unit: Unit | None, frame: Any, what: str) -> tuple[str, ...]:
    """Return the columns of a unit that a frame of the population has: all of them, or none."""
    named = () if unit is None else unit.columns
    lacking = [name for name in named if name not in frame.column_names]
    if lacking and len(lacking) < len(named):
        raise InputError(
            f"has no column {lacking[0]!r}; {', '.join(named)} together identify {what}"
        )
    return () if lacking else named


def _with_replacements(table: Table, stated: Mapping[str, Any] | None) -> Table:
    """Return the table with all its replacements; partly shown identifiers are quasi-identifiers.

    stated: those that take precedence over the table's own.
    """
    for name in stated or {}:
        if table[name].role is not Role.IDENTIFIER:
            raise InputError(f"column {name!r} has the role {table[name].role}; it has no replace")
    if not (stated or table.replacements):
        return table
    from shoal.identifiers.replacements import coarsened

    return coarsened(replace(table, replacements={**table.replacements, **(stated or {})}))


def _replaced(table: Table, algorithm: Any, **secrets: Any) -> Mapping[str, Replaced]:
    """Return the identifiers that are published in another form."""
    if not table.replacements:
        return {}
    from shoal.identifiers.replacement import Context
    from shoal.identifiers.replacements import replace_identifiers
    from shoal.methods.whole_release import check_replaceable

    report("replace identifiers", 0, None)
    replaced = replace_identifiers(table, Context(**secrets))
    if replaced:
        check_replaceable(table, algorithm)
    return replaced


def _is_stored(data: Any) -> TypeGuard[LargeTable]:
    """Return whether the rows of a table stay where they are."""
    module = sys.modules.get("shoal.rows.large_table")  # there is such a table only if it is loaded
    return module is not None and isinstance(data, module.LargeTable)


def _released_on_disk(
    data: LargeTable,
    model: Model,
    algorithm: Any,
    seed: int | None,
    ledger: Ledger | None,
    what: str,
    secrets: Context,
    *,
    list_values: bool,
) -> Release:
    """Return the release of a table that is not in memory, by the chosen method if it is `auto`."""
    from shoal.methods.stored import anonymize_stored, shape_of

    chosen, reason = algorithm, ""
    if isinstance(algorithm, registry.Auto):
        chosen, reason = algorithm.choose_by(shape_of(data, model), model)
    search = partial(
        _search, model, chosen, seed, ledger=ledger, what=what, list_values=list_values
    )
    release = anonymize_stored(data, model, chosen, search, secrets)
    if chosen is algorithm:
        return release
    notes = (f"auto chose {chosen.name}: {reason}", *release.run.notes)
    run = replace(release.run, method=algorithm.name, options=_options(algorithm), notes=notes)
    return replace(release, run=run)


def _search(
    model: Model,
    algorithm: Any,
    seed: int | None,
    table: Table,
    *,
    part: bool = False,
    ledger: Ledger | None = None,
    what: str = "",
    linked: Mapping[str, Replaced] | None = None,
    list_values: bool = False,
) -> Release:
    """Search for a release of a part or the tuples of a table, which other processes can call.

    part: whether the table is one of many partitions. linked: identifiers that link its rows.
    """
    check_askable(table, model, any_size=getattr(algorithm, "any_size", False))
    if part and hasattr(algorithm, "on_parts"):
        algorithm = algorithm.on_parts()
    if ledger is None:
        return _released(table, model, algorithm, seed, linked, part=part, list_values=list_values)
    return _charged(table, model, algorithm, seed, ledger, what)


def _charged(
    table: Table, model: Model, algorithm: Any, seed: int | None, ledger: Ledger, what: str
) -> Release:
    """Search for a release that a ledger is charged for before anything is drawn."""
    price, schema = _price(algorithm, table, model), schema_fingerprint(table)
    with ledger.spend(price, what=what or algorithm.name, schema=schema):
        return _released(table, model, algorithm, seed)


def _released(
    table: Table,
    model: Model,
    algorithm: Any,
    seed: int | None,
    replaced: Mapping[str, Replaced] | None = None,
    max_left_out: float = 0.0,
    *,
    part: bool = False,
    list_values: bool = False,
) -> Release:
    """Search for a release, check it, and record how it was produced.

    part: whether the table is one of many partitions, whose optimum is not that of all of them.
    """
    from shoal.methods.whole_release import search_model

    begun = working_time()
    made: tuple[str, ...] = ()
    if not part:
        chosen = algorithm.choose(table, model)[0] if isinstance(algorithm, Auto) else algorithm
        table, made = without_lists(table, chosen, list_values=list_values)
    report("search", 0, None)
    release = search_model(table, model, algorithm, replaced or {}, max_left_out)
    searched = working_time()
    return_memory(len(table))
    report("verify", 0, None)
    _check_same(release, table, algorithm)
    checked = release.verify()
    # a method may have searched for another model, so the one asked for is checked as well
    if checked and release.model != model:  # presumably a stricter one
        checked = replace(release, model=model).verify()
    if not checked.truthful:
        raise NotAnonymous(
            f"{algorithm.name} published a value that does not cover the original; "
            "nothing was released"
        )
    if not checked:
        raise NotAnonymous(
            f"{algorithm.name} broke {model} in {checked.failing} of "
            f"{counted(checked.classes, 'class')}; nothing was released"
        )
    if part:
        release = replace(release, proof=None)
    notes = (*made, *release.run.notes)
    if release.proof is not None and release.proof.note:
        notes = (*notes, release.proof.note)
    seconds = {"search": searched - begun, "verify": working_time() - searched}
    run = Run(algorithm.name, _options(algorithm), seed, versions(), seconds, notes)
    return replace(release, run=run)


def _check_same(release: Release, table: Table, algorithm: Any) -> None:
    """Reject a release of another table.

    Weights of columns may differ, and rows of a weighted table may be divided.
    """
    original = release.original
    if original is table:
        return
    columns = [[(column.name, column.role) for column in each] for each in (table, original)]
    same = columns[0] == columns[1] and table.records == original.records
    if same and table.counts is None:
        same = all(a.has_same_cells(b) for a, b in zip(table, original, strict=True))
    same = same and all(
        _same_units(getattr(table, what), getattr(original, what), table.counts is None)
        for what in ("person", "household")
    )
    same = same and _same_weights(table, original) and original.population is table.population
    if not same:
        raise NotAnonymous(f"{algorithm.name} released another table; nothing was released")


def _same_units(one: Unit | None, other: Unit | None, by_row: bool) -> bool:
    if one is None or other is None:
        return one is other
    return one.count == other.count and (not by_row or np.array_equal(one.ids, other.ids))


def _same_weights(table: Table, original: Table) -> bool:
    one, other = table.weights, original.weights
    if one is None or other is None:
        return one is other
    if table.counts is None:
        return np.array_equal(one.values, other.values)
    counts = np.ones(len(other.values)) if original.counts is None else original.counts
    return bool(np.isclose((one.values * table.counts).sum(), (other.values * counts).sum()))


def check_askable(table: Table, model: Model | None, *, any_size: bool = False) -> None:
    """Reject a table without quasi-identifiers or rows, or one that the model does not apply to.

    any_size: accept tables of any size, for a method that must not reveal that a table is small.
    """
    if not table.quasi:
        raise InputError(
            "no column is quasi-identifying; give the role quasi to columns that others may know"
        )
    if any_size:
        return
    if not len(table):
        raise InputError("the table has no rows")
    if model is not None:
        model.check(table)


def _algorithm(method: str | Algorithm, seed: int | None, options: Mapping[str, Any]) -> Any:
    if isinstance(method, str):
        if method not in METHODS:
            raise unknown("no method", method, METHODS)
        chosen = make(METHODS[method], options)
    elif options:
        raise InputError("options need a method's name; set the options of an instance directly")
    else:
        chosen = method
    if seed is not None and is_dataclass(chosen) and "seed" in {f.name for f in fields(chosen)}:
        chosen = replace(chosen, seed=seed)  # type: ignore[type-var]
    return chosen


def _price(algorithm: Any, table: Table, model: Model) -> Claim:
    """Return the claim of a release, which is known before anything is drawn."""
    _check_priced(algorithm)
    algorithm.check(table)
    claim: Claim = algorithm.price(model, table)
    return claim


def _check_priced(algorithm: Any) -> None:
    """Reject a method that a ledger cannot be charged for."""
    if not hasattr(algorithm, "price"):
        raise InputError(f"{algorithm.name} makes no differential privacy claim; use safe-la")


def _options(algorithm: Any) -> dict[str, Any]:
    return asdict(algorithm) if is_dataclass(algorithm) else {}  # type: ignore[arg-type]


@cache
def versions() -> Mapping[str, str]:
    """Return the versions that a release depends on."""
    from importlib.metadata import PackageNotFoundError, version

    installed = {"python": platform.python_version(), "shoal": __version__}
    for package in ("numpy", "pyarrow", "duckdb", "numba", "scipy", "highspy", "opendp"):
        try:
            installed[package] = version(package)
        except PackageNotFoundError:
            continue
    return installed


__all__ += registry.__all__


@dataclass(frozen=True, kw_only=True)
class Described:
    """The roles of a frame's columns, with the options of the same names of `anonymize`."""

    quasi: str | Sequence[str] = ()
    sensitive: str | Sequence[str] = ()
    insensitive: str | Sequence[str] = ()
    identifier: str | Sequence[str] = ()
    weight: str | Sequence[str] = ()
    person: str | Sequence[str] = ()
    household: str | Sequence[str] = ()
    rows_are_people: bool = False
    hierarchies: Mapping[str, Any] | None = None

    def __bool__(self) -> bool:
        return self != Described()

    def table(self, data: Any, stacklevel: int = 2) -> Table:
        """Return a frame as a table; a table is returned unchanged."""
        if isinstance(data, Table):
            if self:
                raise InputError(
                    "a shoal.Table already has roles; pass quasi, sensitive and the other roles "
                    "only with a frame"
                )
            return data
        self._check_quasi(data)
        table = Table.from_arrow(
            with_text_dates(data, as_names(self.quasi)),
            roles_of(self.quasi, self.sensitive, self.insensitive, self.identifier, self.weight),
            self.hierarchies,
            person=self.person,
            household=self.household,
            rows_are_people=self.rows_are_people,
        )
        warn_unassigned(table.unassigned, stacklevel + 1)
        return origin_of(data, table)

    def opened(self, frame: Any) -> Any:
        """Return a frame of Spark as a table whose rows stay there."""
        from shoal.rows.opening import open as open_table

        self._check_quasi(frame)
        return open_table(
            frame,
            roles=roles_of(self.quasi, self.sensitive, self.insensitive, self.identifier),
            hierarchies=self.hierarchies,
            person=self.person,
            household=self.household,
            rows_are_people=self.rows_are_people,
        )

    def _check_quasi(self, data: Any) -> None:
        if not as_names(self.quasi):
            kind = type(data)
            package = kind.__module__.partition(".")[0]
            raise InputError(
                f"quasi is required: list the columns of the {package} {kind.__name__} that others "
                "may know as quasi=[…]; shoal.inspect suggests some, and shoal.read reads a schema"
            )


def as_model(model: Model | str | None, k: int | None) -> Model:
    """Return a model given as a model, as text, as k, or as k and one of these.

    >>> print(as_model("l-diversity(2, disease)", 5))
    k-anonymity(k=5) & l-diversity(l=2, column=disease)
    """
    if isinstance(model, str):
        model = parse(model)
    if not isinstance(model, Model | None):
        raise InputError(
            "the model must be a privacy model such as KAnonymity(5) or 'k-anonymity(5)', "
            f"not {type(model).__name__}"
        )
    if k is None:
        if model is None:
            raise InputError("give a guarantee: k=5, or a model such as 'l-diversity(2, disease)'")
        return model
    size = KAnonymity(k)
    return size if model is None else size & model
