"""The sections of the studies of robust predictions: tidy rows, charts and verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.report.robust_charts import address, triptychs, write_pictures
from shoal.robust import superimpose
from studies.claims import judge_figure
from studies.page import Drawn, Picture, Section, write_rows
from studies.robust import appendix, charts, published, tidy
from studies.robust.attackers import settings
from studies.robust.charts import NAMES
from studies.robust.claims import claims_for
from studies.robust.figures import PUBLISHED_AS
from studies.robust.stages import Study
from studies.runs import Row

_SHOWN = 3  # pictures with their examples
_ROWS = 60  # of a table on the page
_RIGHT = ["model", "clean", "attacked", "low", "high", "published clean", "published attacked"]
_SINGLE = ["model", "clean", "attacked", "published clean", "published attacked", "tests", "enough"]
_SAYS = ["model", "vote", "share", "low", "high", "published", "perturbation",
         "published perturbation"]  # fmt: skip


def sections_of(out: Path, rows: Sequence[Row], study: Study) -> list[Drawn]:
    """Write a CSV and pictures for each section, and one CSV of all examples."""
    write_rows(out / "examples.csv", tidy.examples(rows))
    claims = claims_for(PUBLISHED_AS[study.setup.data])
    drawn = [
        _shortened(section.draw(out, judge_figure(claims, section.name, rows), ".4f"))
        for section in (*_attacked(rows), *_known(rows))
    ]
    return [*drawn, *_looks(out, study)]


def _shortened(drawn: Drawn) -> Drawn:
    """Describe the table: all rows, or the first ones."""
    section, about = drawn.section, "All figures"
    if len(section.rows) > _ROWS:
        about = f"The first {_ROWS} of {len(section.rows):,} rows in {section.stem}.csv"
    opened = section.name.startswith("Table")
    return replace(drawn, cells=drawn.cells[:_ROWS], about=about, opened=opened)


def _attacked(rows: Sequence[Row]) -> list[Section]:
    """Return the sections of the published figures and tables, in their order."""
    data = PUBLISHED_AS[rows[0]["data"]]
    first = {"mnist": 1, "cifar10": 4}[data]
    trained, bins, own = tidy.networks(rows), tidy.bins(rows), tidy.own(rows)
    alone = [row for row in trained if row["who"] == "one network"]
    votes = [row for row in trained if row["who"] != "one network"]
    changed, moved, right = (
        [{name: row[name] for name in ("model", "middle", "examples", *names)} for row in bins]
        for names in (("to_target", "to_other"), ("vote_to_target", "vote_to_other"),
                      ("accuracy", "right"))
    )  # fmt: skip
    to, other = "to the target", "to something else"
    pair = _published_pair(own, data)
    return [
        Section("A", "The networks before any attack", trained,
                [Picture(charts.temperatures(alone, votes), "Dots are networks, lines their vote")],
                ["who", "trained", "model", "temperature", "accuracy"]),
        Section("Table 4.3", "The vote on examples that each fool one network",
                tidy.vote_accuracies(rows), [], _RIGHT),
        Section("Table 4.4", "The answers of the vote", tidy.outcomes(rows, 1), [], _SAYS),
        Section(f"4.{first}", "Networks that one network's example changes", changed,
                [Picture(charts.by_size(changed, ["to_target", "to_other"],
                                        [f"networks changed {to}", f"networks changed {other}"]),
                         "Mean number of networks changed, by perturbation")], list(changed[0])),
        Section(f"4.{first + 1}", "Votes that it changes", moved,
                [Picture(charts.by_size(moved, ["vote_to_target", "vote_to_other"],
                                        [f"share of examples, {to}",
                                         f"share of examples, {other}"]),
                         "Votes changed, by perturbation")], list(moved[0])),
        Section(f"4.{first + 2}", "Accuracy of the vote, and how perturbations are spread", right,
                [Picture(charts.by_size(right, ["accuracy", "right"],
                                        ["share right", "share of all, right"]),
                         "Accuracy, and where the examples are that stay right")], list(right[0])),
        Section("Table 4.5", "One network on sums of two perturbations",
                tidy.single_accuracies(rows, 2), [], _SINGLE),
        Section("Table 4.6", "The vote on them", tidy.outcomes(rows, 2), [], _SAYS),
        Section("Table 4.7", "One network on sums of three perturbations",
                tidy.single_accuracies(rows, 3), [], _SINGLE),
        Section("Table 4.8", "The vote on them", tidy.outcomes(rows, 3), [], _SAYS),
        Section("4.7", "The answers of the attacked networks themselves", own,
                [Picture(charts.own_answers(pair), _pair_title(pair[0])),
                 Picture(charts.own_shares(tidy.own_bins(own)), "All pictures and targets",
                         "b.svg")],
                ["model", "network", "temperature", "sample", "label", "goal", "named",
                 "perturbation"]),
        *_samples(rows, data),
    ]  # fmt: skip


def _samples(rows: Sequence[Row], data: str) -> list[Section]:
    """Return the table of answers to two pictures, if they are among the attacked ones."""
    found = appendix.sample_rows(rows, data)
    title = "Answers to sums of perturbations of two pictures"
    return [Section(appendix.TABLES[data], title, found, [], list(found[0]))] if found else []


def _known(rows: Sequence[Row]) -> list[Section]:
    """Return our own sections: attackers who know the defence, other noise, fewer networks."""
    met, swept = tidy.attackers(rows), settings(rows)
    most = max(row["networks"] for row in swept)
    laplace = [row for row in swept if row["distribution"] == "laplace"]
    whole = [row for row in swept if row["networks"] == most]
    return [
        Section("B", "Attackers compared, with those who know the defence", met,
                [Picture(charts.attackers(met),
                         "Answers of the vote; black: 95 % interval of the right ones")],
                ["attacker", "model", "answer", "share", "low", "high", "perturbation"]),
        Section("C", "How much noise, of which shape, for how many networks", swept,
                [Picture(charts.settings(laplace, "networks", "networks"), "Laplace noise"),
                 Picture(charts.settings(whole, "distribution", "shape"), f"All {most} networks",
                         "b.svg")],
                ["distribution", "scale", "deviation", "networks", "single_clean", "vote_clean",
                 "vote_clean low", "vote_clean high", "vote_attacked", "vote_attacked low",
                 "vote_attacked high", "vote_target", "draws"]),
    ]  # fmt: skip


def _published_pair(own: Sequence[Row], data: str) -> list[Row]:
    """Return the rows of the picture and target that figure 4.7 shows, or else of the first."""
    there = published.OWN[data]
    wanted = [row for row in own if (row["label"], row["goal"]) == there[:2]] or own
    chosen = wanted[0]["sample"], wanted[0]["goal"]
    return [row for row in wanted if (row["sample"], row["goal"]) == chosen]


def _pair_title(row: Row) -> str:
    return f"Class {row['label']}, target {row['goal']}: one dot per network"


def _looks(out: Path, study: Study) -> list[Drawn]:
    """Show original, perturbation and example of a few pictures; none where they were not kept."""
    try:
        found = {model: study.examples(model, study.setup.samples) for model in NAMES}
    except InputError:  # stages of another machine come without their examples
        return []
    rows, shown = [], []
    for model, (examples, labels, samples) in found.items():
        for kind, each in (("one network", examples), ("three", superimpose(examples, 3))):
            for sample in range(min(_SHOWN, study.setup.samples)):
                place = int((samples == sample).nonzero()[0])
                pixels = [
                    t.cpu().numpy() for t in (each.originals[place], each.adversarial[0, place])
                ]
                shown.append(triptychs(*(p[np.newaxis] for p in pixels))[0])
                rows.append({
                    "model": NAMES[model], "against": kind, "sample": sample,
                    "label": int(labels[place]), "goal": int(each.goals[place]),
                    "perturbation": float(each.perturbations[0, place]),
                })  # fmt: skip
    section = Section("D", "Perturbations of pictures", rows)
    section.write_csv(out)
    captions = [_caption(row) for row in rows]
    write_pictures(out / f"{section.stem}.png", np.stack(shown), captions, zoom=4, force=True)
    return [Drawn(section, [], [_gallery(shown, captions)])]


def _caption(row: Row) -> str:
    return (
        f"{row['label']} → {row['goal']}, {row['against']} {row['model']}: "
        f"{100 * row['perturbation']:.0f} %"
    )


def _gallery(pictures: Sequence[Any], captions: Sequence[str]) -> str:
    each = "".join(
        f'<div style="width: 19rem; font-size: .9rem"><img alt="{escape(caption)}" '
        f'style="width: 100%; image-rendering: pixelated" src="{address(picture)}"><br>'
        f"{escape(caption)}</div>"
        for picture, caption in zip(pictures, captions, strict=True)
    )
    return f'<div style="display: flex; flex-wrap: wrap; gap: 1rem">{each}</div>'
