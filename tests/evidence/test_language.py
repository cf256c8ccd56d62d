"""Languages of evidence pages: complete files, no leftovers, numbers and dates as usual there."""

import re
from importlib.resources import files

import pytest
from tests.evidence.packs import crowd_control, crowd_release, packed
from tests.report import report_tables
from tests.report.test_report_page import HOSTILE, ODD, Parsed, hostile_release

import shoal
from shoal.evidence import Questionnaire, verify
from shoal.evidence.language import Language, codes
from shoal.metrics import METRICS
from shoal.risk.release_attacks.four_attacks import ATTACKS

OTHERS = [code for code in codes() if code != "en"]
FIELDS = re.compile(r"\{(\w+)\}")
PROPER_NAMES = {"x_safe_harbor", "x_expert", "x_iso", "x_nist"}


def texts(code):
    words = Language.read(code).words
    return {**words["page"], **words["phrases"]}


def test_english_german_and_french_exist():
    assert codes() == ["de", "en", "fr"]


@pytest.mark.parametrize("code", OTHERS)
def test_a_file_has_the_same_keys_and_fields_as_the_english_one(code):
    english, other = texts("en"), texts(code)
    assert set(other) == set(english)
    for key, text in english.items():
        assert set(FIELDS.findall(other[key])) == set(FIELDS.findall(text)), key


@pytest.mark.parametrize("code", OTHERS)
def test_no_sentence_is_left_in_english(code):
    english, other = texts("en"), texts(code)
    left = [key for key, text in english.items() if other[key] == text and len(text.split()) > 2]
    assert not set(left) - PROPER_NAMES


@pytest.mark.parametrize(
    ("code", "number", "large", "date"),
    [
        ("en", "0.084", "12,345", "30 June 2027"),
        ("de", "0,084", "12.345", "30. Juni 2027"),
        ("fr", "0,084", "12\u202f345", "30 juin 2027"),
    ],
)
def test_numbers_and_dates_are_written_as_usual(code, number, large, date):
    words = Language.read(code)
    assert (words.value(0.084), words.value(12_345)) == (number, large)
    assert words.date("2027-06-30") == date
    assert words.date("in spring") == "in spring"


def test_every_text_of_the_page_is_used():
    template = (files("shoal.evidence") / "templates" / "evidence.html").read_text("utf-8")
    derived = re.compile(r"role_\w+|distance_\w+|\w+_means|is_true|is_false|met|not_met|judge")
    asked = {*Questionnaire().to_dict(), *ATTACKS, "released_by", "approved_by"}
    unused = [
        key
        for key in Language.read("en").words["page"]
        if f'"{key}"' not in template and not derived.fullmatch(key) and key not in asked
    ]
    assert not unused


def test_names_of_columns_are_not_translated():
    asks = "WP216, inference: can the value of risk be derived?"
    assert (
        Language.read("de").say(asks) == "WP216, Inferenz: Lässt sich der Wert von risk ableiten?"
    )


def test_an_unknown_sentence_is_marked_as_english():
    said = Language.read("fr").say("A new <sentence>.")
    assert said == '<span lang="en">A new &lt;sentence&gt;.</span>'


def test_an_unknown_language_is_refused(tmp_path):
    with pytest.raises(shoal.InputError, match="no language 'xx'"):
        packed(tmp_path, language="xx")
    assert not (tmp_path / "pack").exists()


@pytest.mark.parametrize("code", OTHERS)
def test_every_metric_has_a_text(code):
    words = Language.read(code)
    left = [m.name for m in METRICS.values() if "<span" in words.say(f"{m.title}: {m.meaning}")]
    assert not left


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize(
    "name", ["mondrian", "flash", "safe-la", "doka-greedy", "representatives", "diverse"]
)
def test_a_page_has_no_english_leftovers(code, name, tmp_path):
    without = name in ("safe-la", "doka-greedy")
    answers = Questionnaire() if without else Questionnaire(population=10**6)
    folder = packed(
        tmp_path, made=report_tables.release(name), language=code, questionnaire=answers
    )
    check_page(folder, code)


@pytest.mark.parametrize("code", OTHERS)
def test_a_page_with_attacks_has_no_english_leftovers(code, tmp_path):
    folder = packed(tmp_path, made=crowd_release(), control=crowd_control(), language=code)
    page = check_page(folder, code)
    assert {"de": "Kontrollgruppe", "fr": "groupe témoin"}[code] in page


@pytest.mark.parametrize("code", codes())
def test_hostile_names_values_and_answers_are_text(code, tmp_path):
    reasons = dict.fromkeys([HOSTILE, *ODD], HOSTILE)
    texts = dict.fromkeys(("purpose", "recipient", "environment", "expert"), HOSTILE)
    answers = Questionnaire(**texts, controls=(HOSTILE, ODD[0]), columns=reasons)
    folder = packed(tmp_path, made=hostile_release(), language=code, questionnaire=answers,
                    title=HOSTILE, command=HOSTILE)  # fmt: skip
    page = Parsed((folder / "index.html").read_text(encoding="utf-8"))
    assert not [tag for tag, _ in page.tags if tag in ("script", "img", "b", "iframe")]
    assert not [name for _, found in page.tags for name in found if name.startswith("on")]
    shown = "".join(page.text)
    assert all(word in shown for word in [HOSTILE, *ODD])
    assert "49" not in re.findall(r"\b\d+\b", shown)  # of {{ 7 * 7 }}
    assert verify.main([str(folder)]) == 0


def check_page(folder, code):
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert f'<html lang="{code}">' in page
    shown = re.sub(r'<div lang="en">.*?</div>', "", page, flags=re.DOTALL)  # of claims, stated so
    assert not re.findall(r'<span lang="en">(.*?)</span>', shown)
    assert not re.search(r"\b(not met|for a person to judge|not stated|fewer than)\b", page)
    return page
