"""Identifiers by content: found with counts, confirmed by check digits, redacted."""

import pyarrow as pa
import pytest

from shoal.errors import InputError
from shoal.identifiers import Context, Redact, count_identifiers
from shoal.identifiers.content import find_identifiers
from shoal.inspection import describe


def kinds(text):
    return [kind for _, _, kind in find_identifiers(text)]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("write to ann.lee+x@mail.example.org", "e-mail address"),
        ("see https://example.org/a?b=c", "web address"),
        ("IBAN GB82 WEST 1234 5698 7654 32", "IBAN"),
        ("from 192.168.10.7 again", "IP address"),
        ("2001:0db8:85a3:0000:0000:8a2e:0370:7334", "IP address"),
        ("at 52.5200, 13.4050", "position"),
        ("seen on 09.03.2024", "date"),
        ("seen on 2024-03-09", "date"),
        ("card 4111 1111 1111 1111", "payment card"),
        ("1 84 12 76 451 089 46", "French social security number"),
        ("RSSMRA85T10A562S", "Italian fiscal code"),
        ("12345678Z", "Spanish identity number"),
        ("86 095 742 719", "German tax number"),
        ("943 476 5919", "NHS number"),
        ("123-45-6789", "US social security number"),
        ("111222333", "Dutch citizen number"),
        ("call +49 151 2345678", "phone number"),
        ("call 030/1234567", "phone number"),
        ("call (555) 555-0199", "phone number"),
        ("call (0161) 4960066", "phone number"),
        ("call 07 73 25 37 85", "phone number"),
        ("Anna Schmidt was here", "name"),
        ("Patient Anna Schmidt", "name"),
        ("See Ann O'Brien-McKay", "name"),
        ("Herr Öztürk", "name"),
        ("asked Prof. Dr. van der Berg", "name"),
        ("on 9 March 2024", "date"),
        ("am 9. März 2024", "date"),
        ("el 9 de marzo de 2024", "date"),
        ("on March 9th, 2024", "date"),
        ("am 09.03.24", "date"),
    ],
)
def test_each_kind_is_recognized(text, kind):
    assert kinds(text) == [kind]


@pytest.mark.parametrize(
    "text",
    ["GB83 WEST 1234 5698 7654 32", "4111111111111112", "943 476 5918", "111222334", "12345678A",
     "300.400.500.600", "New York", "diabetes type 2", "12.5 mg", "blood pressure 120/80", "",
     "1500 mg in May 2 times", "Room 12", "Frau"],
)  # fmt: skip
def test_wrong_check_digits_and_plain_words_are_nothing(text):
    assert kinds(text) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("card 4111 1111 1111 1111 12/27", "card [payment card] 12/27"),
        ("GB82 WEST 1234 5698 7654 32 PAID", "[IBAN] PAID"),
        ("7 943 476 5919 3", "7 [NHS number] 3"),
        ("Der Patient Max Meyer, Frau Anna Schmidt", "Der Patient [name], Frau [name]"),
    ],
)
def test_words_and_numbers_beside_an_identifier_do_not_hide_it(text, left):
    assert Redact().publish("note", pa.array([text]), Context()).cells.to_pylist() == [left]


@pytest.mark.parametrize("locale", ["en_GB", "de_DE", "fr_FR", "es_ES", "it_IT", "nl_NL"])
def test_generated_identifiers_with_a_fixed_form_are_all_found(locale):
    """The kinds of which docs/identifiers.md says so; the others are measured there."""
    faker = pytest.importorskip("faker").Faker(locale)
    faker.seed_instance(1)
    for _ in range(25):
        drawn = [faker.email(), faker.url(), faker.ipv4(), faker.iban(), faker.date(),
                 faker.date("%d/%m/%Y"), faker.date("%d.%m.%y")]  # fmt: skip
        for each in drawn:
            text = f"See {each}, 75 mg."
            assert [text[start:end].rstrip(",") for start, end, _ in find_identifiers(text)] == [
                each
            ]


def test_counts_are_of_cells_and_by_kind():
    cells = pa.array(["ann@example.org"] * 3 + ["nothing", None, "Anna Schmidt, ann@example.org"])
    assert count_identifiers(cells) == {"e-mail address": 4, "name": 1}
    assert count_identifiers(pa.array([1, 2])) == {}


def test_long_columns_are_estimated(monkeypatch):
    monkeypatch.setattr("shoal.identifiers.content._MAX_TEXTS", 10)
    cells = pa.array([f"p{n}@example.org" for n in range(100)])
    assert count_identifiers(cells) == {"e-mail address": 100}


def test_inspect_counts_identifiers_and_shows_no_value():
    rows = pa.table({"other": [f"p{n}@example.org" if n % 2 else "fine" for n in range(30)]})
    found = describe(rows)
    assert found["columns"][0]["contains"] == {"e-mail address": 15}
    assert found["columns"][0]["role"] == "identifier"
    assert "e-mail address (15)" in str(found["hints"])
    assert "example.org" not in str(found["hints"])


def test_redaction_replaces_what_it_recognizes_and_keeps_the_rest():
    notes = pa.array(["Anna Schmidt called from 0151 2345678", "no news", None])
    made = Redact().publish("note", notes, Context())
    assert made.cells.to_pylist() == ["[name] called from [phone number]", "no news", None]
    assert made.record["replaced"] == 2
    assert not made.links
    assert "stay" in made.treatment


def test_presidio_adds_its_patterns():
    pytest.importorskip("presidio_analyzer")
    notes = pa.array(["pay 1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa or ann@example.org"])
    made = Redact(engine="presidio").publish("note", notes, Context()).cells.to_pylist()
    assert "ann@" not in made[0]
    assert made[0].startswith("pay [")


def test_an_unknown_engine_is_refused():
    with pytest.raises(InputError, match="engine"):
        Redact(engine="magic")
