"""Charts of a release for notebooks: a column before and after, class sizes, losses.

Like the report, they show nothing that too few people share.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shoal.core.column import Role
from shoal.core.release import Release
from shoal.errors import InputError, UnknownColumn, unknown
from shoal.report.candidates import size_bars
from shoal.report.charts import INK, SOFT, styled
from shoal.report.distributions import distribution
from shoal.report.kept import released_only
from shoal.report.losses import losses
from shoal.report.masking import LEAST, Mask
from shoal.risk.reidentification import Reidentification

WIDTH, BAR = 520, 22
_AFTER, _BEFORE = "#0b6e8a", "#c5ccd3"


def release_chart(release: Release, column: str | None = None, *, of: str = "classes") -> Any:
    """Return an Altair chart of a release.

    Parameters:
        release: The release to draw.
        column: A quasi-identifier or sensitive column, to show its values before and after.
        of: Without a column, `classes` for class sizes or `loss` for the loss of each column.

    Returns:
        The chart.
    """
    if release.withheld:
        raise InputError(
            "a chart compares the release with the original table, which a release with a "
            "differential privacy claim must not reveal; plot the rows of to_pandas() instead"
        )
    kept = released_only(release)
    mask = Mask(max(int(getattr(release.model, "least_size", 1)), LEAST))
    if column is not None:
        return _before_and_after(kept, column, mask)
    if of not in _CHARTS:
        raise unknown("no chart of", of, _CHARTS)
    return _CHARTS[of](kept, mask)


def _before_and_after(kept: Release, name: str, mask: Mask) -> Any:
    shown = [c.name for c in kept.original if c.role in (Role.QUASI, Role.SENSITIVE)]
    if name not in shown:
        raise UnknownColumn(f"no chart of column {name!r}; there are {', '.join(shown)}")
    found = distribution(kept.original[name], kept.recodings.get(name), kept.original, mask)
    if not found["groups"]:
        raise InputError(f"column {name!r} cannot be shown: too few people share each value")
    sides = ("before", "after") if name in kept.recodings else ("after",)
    values = [
        {"value": group["label"], "side": side, "share": group[side]}
        for group in found["groups"]
        for side in sides
    ]
    labels = [group["label"] for group in found["groups"]]
    title = f"{name} before and after" if len(sides) > 1 else f"{name}, published unchanged"
    return _bars(values, labels, "share", title, "share of the released rows", sides=sides)


def _class_sizes(kept: Release, mask: Mask) -> Any:
    bars = size_bars(Reidentification.of_classes(kept.classes), mask)
    values = [{"value": _size(bar), "number": bar["number"]} for bar in bars]
    labels = [value["value"] for value in values]
    return _bars(values, labels, "number", "People in a class", "classes", form=",d")


def _size(bar: dict[str, Any]) -> str:
    if bar["to"] is None:
        return f"{bar['from']:,} or more"
    return f"{bar['from']:,}" if bar["from"] == bar["to"] else f"{bar['from']:,} – {bar['to']:,}"


def _loss_by_column(kept: Release, mask: Mask) -> Any:
    found = losses(kept, mask)["attributes"]
    values = [{"value": each["column"], "loss": each["loss"]} for each in found]
    labels = [each["column"] for each in sorted(found, key=lambda each: -each["loss"])]
    title = "Loss by column (ncp: 0 = all cells exact, 1 = all hidden)"
    return _bars(values, labels, "loss", title, "ncp")


_CHARTS: dict[str, Callable[[Release, Mask], Any]] = {
    "classes": _class_sizes,
    "loss": _loss_by_column,
}


def _bars(
    values: Sequence[dict[str, Any]],
    labels: Sequence[str],
    measure: str,
    title: str,
    axis: str,
    *,
    sides: Sequence[str] = ("after",),
    form: str = ".0%",
) -> Any:
    import altair as alt

    shown = ".3f" if measure == "loss" else form
    encoding: dict[str, Any] = {
        "y": alt.Y("value:N", sort=list(labels), title=None, axis=alt.Axis(labelLimit=260)),
        "x": alt.X(f"{measure}:Q", title=axis, axis=alt.Axis(format=shown)),
        "tooltip": [alt.Tooltip("value:N"), alt.Tooltip(f"{measure}:Q", format=shown)],
    }
    if len(sides) > 1:
        scale = alt.Scale(domain=list(sides), range=[_BEFORE, _AFTER])
        encoding["color"] = alt.Color("side:N", scale=scale, title=None, sort=list(sides))
        encoding["yOffset"] = alt.YOffset("side:N", sort=list(sides))
        encoding["tooltip"].append(alt.Tooltip("side:N"))
    chart = alt.Chart(alt.Data(values=list(values))).mark_bar(
        **({} if len(sides) > 1 else {"color": _AFTER})
    )
    return styled(
        chart.encode(**encoding).properties(
            width=WIDTH,
            height=alt.Step(BAR if len(sides) == 1 else BAR * 0.7),
            title=alt.TitleParams(title, color=INK, subtitleColor=SOFT),
        )
    )
