"""The tabs Alternatives, Side by side and Usefulness of the screen Release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.web.project.choices import WHY, Candidate, Choices, choices_of
from shoal.web.project.outcomes import Outcome, one_in, percent, side_by_side
from shoal.web.project.project import Project
from shoal.web.project.releasing import RunRequest
from shoal.web.project.runs import Run
from shoal.web.project.studies import Study, compare_releases, measure_utility
from shoal.web.screens.parts import heading, named, study_folder, table, watch
from shoal.web.screens.release_lattice import Palette, chart, tooltip
from shoal.web.text import release as text

Use = Callable[[Candidate], None]
_TIMES = (1, 2, 4)  # the guarantees to try, as multiples of k
_LOG_RATIO = 5.0  # the risk axis is logarithmic if the risks differ by at least this factor


def build(project: Project, run: Run, request: RunRequest, use: Use) -> None:
    """Draw the alternatives to a release.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
        use: Creates the release of an alternative.
    """
    ui.label(text.CHOICES_WHY).classes("s-why")

    def compare() -> None:
        sizes = tuple(run.guarantee.k * times for times in _TIMES)
        project.studies.begin("choices", run.name, compare_releases, request, sizes)

    def draw(study: Study | None) -> None:
        if study is None or study.result is None:
            ui.button(text.COMPARE, on_click=compare)
            ui.label(text.COMPARE_COST).classes("s-small")
            return
        choices = choices_of(study.result["rows"], study.result["loss"])
        _named(choices, use)
        if choices.candidates:
            _picture(choices)
            _table(choices, use)
        if choices.failed:
            heading(3, text.FAILED_RUNS)
            failed = [list(each) for each in choices.failed]
            table(text.FAILED_RUNS, (text.METHOD, text.STATE), failed)

    watch(project, "choices", run, draw)


def _named(choices: Choices, use: Use) -> None:
    with ui.element("div").classes("s-offers"):
        for name, one in choices.named.items():
            with ui.element("section").classes("s-card s-offer"):
                with ui.element("div").classes("s-row"):
                    heading(3, text.choice(one.names)).classes("s-grow")
                    if one is choices.recommended:
                        ui.label(text.RECOMMENDED).classes("s-badge")
                ui.label(WHY[name]).classes("s-why")
                with ui.element("dl").classes("s-facts"):
                    _fact(text.RISK, one_in(one.risk))
                    _fact(text.LOSS, percent(one.loss))
                    _fact(text.LEFT_OUT, percent(one.suppressed))
                ui.label(text.risk_point(one.method, one.k)).classes("s-small")
                _use_button(one, use, outline=one is not choices.recommended)


def _fact(term: str, value: str) -> None:
    with ui.element("div"):
        with ui.element("dt"):
            ui.label(term)
        with ui.element("dd"):
            ui.label(value)


def _use_button(one: Candidate, use: Use, *, outline: bool) -> None:
    button = ui.button(text.USE, on_click=lambda: use(one)).props(
        "dense no-caps padding='4px 12px'"
    )
    button.props("outline" if outline else "")
    named(button, text.use_named(one.method, one.k))


def _picture(choices: Choices) -> None:
    heading(3, text.CHART)
    ui.label(text.CHART_WHY).classes("s-why")
    ui.label(text.alternatives(len(choices.candidates), len(_front(choices)))).classes("s-small")
    chart(lambda palette: _options(choices, palette), text.CHART, "s-pareto")


def _front(choices: Choices) -> list[Candidate]:
    return [one for one in choices.candidates if one.front]


def _options(choices: Choices, palette: Palette) -> dict[str, Any]:
    def point(one: Candidate) -> dict[str, Any]:
        label = text.choice(one.names) if one.names else ""
        return {
            "name": text.risk_point(one.method, one.k),
            "value": [round(100 * one.risk, 3), round(100 * one.loss, 3)],
            "label": {"show": bool(label), "formatter": label},
        }

    axis = {
        "type": "value",
        "nameLocation": "middle",
        "nameTextStyle": {"color": palette.muted},
        "axisLabel": {"color": palette.muted},
        "splitLine": {"lineStyle": {"color": palette.line}},
        "scale": True,
    }
    risks = [one.risk for one in choices.candidates]
    wide = min(risks) > 0 and max(risks) >= _LOG_RATIO * min(risks)
    front = [point(one) for one in _front(choices)]
    return {
        "aria": {"enabled": True},
        "grid": {"left": 64, "right": 90, "top": 28, "bottom": 56},
        "tooltip": tooltip(palette) | {"formatter": "{b}: {c}"},
        "xAxis": {
            **axis,
            "type": "log" if wide else "value",
            "name": text.AXIS_RISK,
            "nameGap": 32,
        },
        "yAxis": {**axis, "name": text.AXIS_LOSS, "nameGap": 44},
        "series": [
            {
                "type": "scatter",
                "data": [point(one) for one in choices.candidates if not one.front],
                "symbolSize": 11,
                "itemStyle": {"color": palette.muted, "opacity": 0.55},
            },
            {
                "type": "line",
                "data": front,
                "step": "end",
                "symbol": "circle",
                "symbolSize": 16,
                "lineStyle": {"color": palette.accent, "type": "dashed"},
                "itemStyle": {"color": palette.accent},
                "label": {
                    "position": "top",
                    "color": palette.text,
                    "fontSize": 12,
                    "textBorderColor": palette.card,
                    "textBorderWidth": 4,
                },
            },
        ],
    }


def _table(choices: Choices, use: Use) -> None:
    heading(3, text.AS_TABLE)
    rows: list[list[Any]] = [
        [
            text.risk_point(one.method, one.k) + (f" ({text.FRONT})" if one.front else ""),
            one_in(one.risk),
            percent(one.loss),
            percent(one.suppressed),
            lambda one=one: _use_button(one, use, outline=True),
        ]
        for one in choices.candidates
    ]
    heads = (text.METHOD, text.RISK, text.LOSS, text.LEFT_OUT, text.ACTION)
    table(text.AS_TABLE, heads, rows, numbers=(1, 2, 3))


def build_beside(outcomes: dict[str, Outcome]) -> None:
    """Draw two or three releases side by side.

    Parameters:
        outcomes: The finished releases by name, the latest last.
    """
    ui.label(text.BESIDE_WHY).classes("s-why")
    if len(outcomes) < 2:
        ui.label(text.BESIDE_FEW).classes("s-notice")
        return
    picked = list(outcomes)[-3:]
    choice = ui.select(list(outcomes), value=picked, multiple=True, label=text.RELEASES)
    choice.props("outlined max-values=3").classes("s-field")
    part = ui.element("div").classes("w-full")

    def draw() -> None:
        part.clear()
        chosen = [outcomes[name] for name in choice.value or () if name in outcomes]
        with part:
            if len(chosen) < 2:
                ui.label(text.BESIDE_WHY).classes("s-notice")
            else:
                _beside(chosen)

    choice.on_value_change(draw)
    draw()


def _beside(chosen: list[Outcome]) -> None:
    both = side_by_side(chosen)
    rows = [
        [label, *(_marked(words, place == best) for place, words in enumerate(words_of))]
        for label, words_of, best in both.lines
    ]
    table(text.TABS["beside"], (text.FIGURE, *both.names), rows)


def _marked(words: str, best: bool) -> Any:
    if not best:
        return words

    def draw() -> None:
        with ui.element("div").classes("s-best"):
            ui.label(words)
            ui.label(text.BEST).classes("s-badge")

    return draw


def build_utility(project: Project, run: Run, request: RunRequest, outcome: Outcome) -> None:
    """Draw the choice of a column, and the scores.

    Parameters:
        project: The state.
        run: The release.
        request: What was asked for.
        outcome: What came out.
    """
    ui.label(text.UTILITY_WHY).classes("s-why")
    targets = [c.name for c in outcome.columns if c.role in ("sensitive", "insensitive")]
    if not targets:
        ui.label(text.NO_TARGET).classes("s-notice")
        return
    present = project.studies["utility", run.name]
    before = present.key if present is not None and present.key in targets else targets[0]
    target = ui.select(targets, value=before, label=text.TARGET).props("outlined")
    target.classes("s-field")

    def measure() -> None:
        folder = study_folder(project, run)
        chosen = str(target.value)
        project.studies.begin(
            "utility", run.name, measure_utility, request, folder, chosen, key=chosen
        )

    ui.button(text.MEASURE, on_click=measure)

    def draw(study: Study | None) -> None:
        if study is not None and study.result is not None:
            _scores(study.result)

    watch(project, "utility", run, draw)


def _scores(result: dict[str, Any]) -> None:
    regression = result["task"] == "regression"
    best = result["scores"][0]
    kept = best.get("kept")
    if best.get("meaningful") and kept is not None:
        sentence = text.keeps(percent(min(max(kept, 0.0), 1.0)), result["target"])
        ui.label(sentence).classes("s-notice").props("role=status")
    else:
        ui.label(text.not_predictable(result["target"])).classes("s-notice").props("role=status")
    heads = (text.SCORE, text.FROM_RELEASE, text.FROM_RAW, text.MEAN if regression else text.GUESS)
    rows = [
        (
            text.SCORES.get(each["score"], each["score"]),
            _score(each, "value"),
            _score(each, "raw"),
            _score(each, "majority"),
        )
        for each in result["scores"]
    ]
    table(text.TABS["utility"], heads, rows, numbers=(1, 2, 3))


def _score(score: dict[str, Any], name: str) -> str:
    value = score[name]
    if value is None:
        return text.UNDEFINED
    if score["score"] == "accuracy":
        return percent(min(max(float(value), 0.0), 1.0))
    return f"{value:,.3g}"
