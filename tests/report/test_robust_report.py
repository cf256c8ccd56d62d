"""The report of networks under attack: figures counted by hand, on a page safe to open."""

import json
import re
from html import escape

import numpy as np
import pyarrow as pa
import pytest
from tests.report.test_report_page import HOSTILE, Parsed

from shoal.report.charts import inline, styled
from shoal.report.document import write_contents
from shoal.report.page import page, percent
from shoal.report.robust import bins, headline, results, robust_contents, robust_limits
from shoal.report.robust_charts import worth_showing
from shoal.robust import Judged
from shoal.support.proportions import clustered_proportion

ATTACK = {
    "method": "fgsm",
    "options": {"epsilon": 0.1, "size": None},
    "threat": "queries",
    "queries": 1,
    "vote": False,
    "noise": 0.1,
    "distribution": "laplace",
    "seed": 0,
}
PIXEL = {"source": "data:image/png;base64,AAAA", "width": 30, "caption": "row 1"}


def judged(voted=(1, 0, 2, 0, 5, 5), *, success=True, size=0.5, networks=3):
    """Two pictures, of 0 and of 5, each towards 1, 2 and 3; what the vote says is given."""
    labels, goals = np.array([0, 0, 0, 5, 5, 5]), np.array([1, 2, 3, 1, 2, 3])
    voted = np.array(voted)
    outcome = np.where(voted == labels, "correct", np.where(voted == goals, "target", "other"))
    table = pa.table(
        {
            "sample": np.array([70, 70, 70, 90, 90, 90]),
            "network": np.zeros(6, dtype=int),
            "goal": goals,
            "label": labels,
            "success": np.full(6, success),
            "perturbation": np.arange(1, 7) * size / 6,
            "clean": labels,
            "voted": voted,
            "margin": np.ones(6),
            "to_target": (outcome == "target") * networks,
            "to_other": (outcome == "other") * networks,
            "right": (outcome == "correct") * (networks - 1),  # all but one are with the vote
            "outcome": outcome,
        }
    )
    return Judged(table, networks, 1.0, 0.4)


BOTH = {"0": judged(), "0.1": judged((1, 2, 2, 1, 5, 5))}


def contents(found=BOTH, attack=ATTACK, **options):
    return robust_contents(found, attack, distribution="laplace", **options)


def test_figures_are_those_counted_by_hand():
    row, other = results(BOTH)
    assert (row["noise"], other["noise"]) == ("0", "0.1")
    assert row["vote_clean"] == 1
    assert row["vote_attacked"] == row["correct"] == row["vote_on_successes"] == 0.5
    assert (row["target"], row["other"]) == pytest.approx((1 / 6, 2 / 6))
    sizes = [row[f"{name}_perturbation"] for name in ("correct", "target", "other")]
    assert sizes == pytest.approx([(2 + 5 + 6) / 36, 1 / 12, (3 + 4) / 24])
    expected = clustered_proportion(np.array([1, 2]), np.array([3, 3]))
    assert row["vote_interval"] == expected.to_dict()
    one = clustered_proportion(np.array([2, 4]), np.array([9, 9]))  # of three networks each
    assert row["single_interval"] == one.to_dict()


def test_the_interval_is_over_pictures_and_not_over_examples():
    alike = results({"0": judged((0, 0, 0, 1, 1, 1))})[0]["vote_interval"]
    assert (alike["low"], alike["high"]) == pytest.approx((0, 1), abs=0.05)


def test_the_headline_is_what_the_attacker_met():
    assert headline(BOTH, ATTACK) == "0.1"
    assert headline(BOTH, ATTACK | {"noise": 0.7}) == "0"
    told = contents()
    assert told["verdict"].startswith("Under laplace noise of scale 0.1, the vote of 3 networks")
    assert "classifies 33.3 % of 6 adversarial examples" in told["verdict"]
    assert "it proves nothing" in told["verdict"]


def test_bins_are_those_of_every_scale():
    found = bins(BOTH).to_pylist()
    assert {row["noise"] for row in found} == {0, 0.1}
    assert sum(row["examples"] for row in found) == 12


@pytest.mark.parametrize(
    ("changes", "named", "not_named"),
    [
        ({}, {"--vote", "--threat averages", "--threat copy"}, set()),
        ({"vote": True}, {"--threat averages"}, {"--vote"}),
        ({"threat": "averages"}, {"--threat copy"}, {"--threat averages"}),
        ({"threat": "copy"}, {"--threat averages"}, {"--threat copy"}),
        ({"noise": 0}, {"--threat averages"}, {"--threat copy"}),  # without noise it is the same
    ],
)
def test_attackers_that_were_not_tried_are_named(changes, named, not_named):
    text = contents(attack=ATTACK | changes)["limits"][1]["text"]
    assert all(word in text for word in named)
    assert not any(word in text for word in not_named)


def test_noise_that_the_attacker_did_not_meet_is_a_limit():
    title = "Noise that the attack was not made for"
    assert title in {limit["title"] for limit in contents()["limits"]}
    met = contents({"0.1": BOTH["0.1"]})
    assert title not in {limit["title"] for limit in met["limits"]}
    other = robust_contents({"0.1": BOTH["0.1"]}, ATTACK, distribution="normal")
    assert title in {limit["title"] for limit in other["limits"]}
    copied = contents(attack=ATTACK | {"threat": "copy"})
    assert title not in {limit["title"] for limit in copied["limits"]}


@pytest.mark.parametrize(("pictures", "title"), [(29, "Few and selected"), (30, "Selected pict")])
def test_only_few_pictures_are_called_few(pictures, title):
    met = {"pictures": pictures, "unchanged": 0}
    told = next(each for each in robust_limits(ATTACK, ["0"], [], met) if title in each["title"])
    assert ("These are few." in told["text"]) is (pictures < 30)


CASES = {
    "usual": contents(pictures=[PIXEL], command="shoal robust evaluate a b"),
    "averages": contents(attack=ATTACK | {"threat": "averages", "queries": 16}),
    "one scale": contents({"0": BOTH["0"]}),
    "superimposed": contents(attack=ATTACK | {"superimposed": 2}),
    "no success": contents({"0": judged(success=False)}),
    "nothing changed": contents({"0": judged((0, 0, 0, 5, 5, 5), success=False, size=0)}),
    "all fooled": contents({"0.1": judged((1, 2, 3, 1, 2, 3))}),
    "one network": contents({"0": judged(networks=1)}),
    "old file": contents(attack={k: v for k, v in ATTACK.items() if k not in ("options", "seed")}),
}


@pytest.mark.parametrize("case", CASES)
def test_every_evaluation_gives_a_well_formed_page(case):
    text = page(CASES[case])
    found = Parsed(text)
    assert not [tag for tag, _ in found.tags if tag in ("script", "iframe", "object", "link")]
    assert not {"None", "nan", "NaN", "inf"} & set(re.findall(r"\w+", " ".join(found.text)))
    ids = [attributes["id"] for _, attributes in found.tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    used = set(re.findall(r"url\(#([^)]+)\)", text))
    assert used <= set(ids)
    assert not re.search(r"https?:|@import|url\([^#]", text)
    assert len(found.named("svg")) >= 4
    policy = [a["content"] for a in found.named("meta") if "http-equiv" in a]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_the_page_has_an_interval_for_vote_and_network():
    text = page(CASES["usual"])
    for row in CASES["usual"]["results"]:
        for who in ("vote", "single"):
            ends = (escape(percent(row[f"{who}_interval"][end])) for end in ("low", "high"))
            assert " – ".join(ends) in text


def test_sections_are_in_order():
    heads = re.findall(r'<h2 id="([^"]+)">(\d)\.', page(CASES["usual"]))
    names = "attack right taken sizes pictures limits repeat"
    assert heads == [(name, str(n)) for n, name in enumerate(names.split(), start=1)]
    assert "No pictures are shown" in page(CASES["one scale"])


def test_hostile_words_are_text():
    hostile = contents(
        attack=ATTACK | {"options": {HOSTILE: HOSTILE}},
        title=HOSTILE,
        command=HOSTILE,
        pictures=[PIXEL | {"caption": HOSTILE}],
    )
    found = Parsed(page(hostile))
    assert not found.named("script")
    assert "".join(found.text).count(HOSTILE) == 5 + 1  # the title stands in the head, too


def test_the_data_is_what_the_page_draws(tmp_path):
    told = contents(pictures=[PIXEL])
    write_contents(told, tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == told


def test_without_success_there_is_no_size_of_successes():
    told = CASES["no success"]
    assert told["examples"]["perturbation"] is None
    assert told["results"][0]["vote_on_successes"] is None


@pytest.mark.parametrize(
    ("most", "places"),
    [
        (0, []),
        (1, [2]),
        (4, [2, 4, 5, 3]),  # the smallest of picture 7, then of 8; of those withstood likewise
        (9, [2, 4, 1, 5, 3]),
    ],
)
def test_pictures_shown_are_small_changes_of_many_pictures(most, places):
    samples = np.array([7, 7, 7, 8, 8, 7])
    sizes = np.array([0, 0.3, 0.1, 0.6, 0.5, 0.2])
    fooled = np.array([True, True, True, False, True, False])
    assert worth_showing(samples, sizes, fooled, most) == places


def test_what_one_half_lacks_the_other_fills():
    sizes, samples = np.array([0.1, 0.2, 0.3]), np.arange(3)
    for fooled in ([True, False, False], [False, True, True], [False] * 3, [True] * 3):
        assert sorted(worth_showing(samples, sizes, np.array(fooled), 3)) == [0, 1, 2]


def test_charts_in_one_page_keep_their_ids_apart():
    import altair as alt

    rows = alt.Data(values=[{"a": 1, "b": 2}, {"a": 2, "b": 3}])
    chart = styled(alt.Chart(rows).mark_line(clip=True).encode(x="a:Q", y="b:Q"))
    first, second = inline(chart, "first"), inline(chart, "second")
    assert 'id="first-' in first
    assert "url(#first-" in first
    assert first.replace("first-", "second-") == second
    assert "xmlns" not in first
