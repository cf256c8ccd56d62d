"""Section redaction: how many identifiers `redact` recognizes in generated notes.

Notes in six languages, each with one identifier that Faker draws for that country. An identifier
counts as found if none of its words and numbers is left.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from rich.table import Table as Grid

from shoal.identifiers import Context, Redact

NOTES = 200  # for each kind of identifier and language
FULL_NOTES = 2_000
SEED = 7
LANGUAGES = {  # a note without identifiers, how one is mentioned, and how a woman is addressed
    "en_GB": ("Blood pressure 120/80, 75 mg aspirin. {} Next visit in 6 weeks.", "See {}.", "Mrs"),
    "de_DE": ("Blutdruck 120/80, 75 mg Aspirin. {} Kontrolle in 6 Wochen.", "Siehe {}.", "Frau"),
    "fr_FR": ("Tension 120/80, aspirine 75 mg. {} Revoir dans 6 semaines.", "Voir {}.", "Mme"),
    "es_ES": ("Tensión 120/80, aspirina 75 mg. {} Control en 6 semanas.", "Véase {}.", "Sra."),
    "it_IT": ("Pressione 120/80, aspirina 75 mg. {} Visita tra 6 mesi.", "Vedi {}.", "Sig.ra"),
    "nl_NL": ("Bloeddruk 120/80, aspirine 75 mg. {} Controle over 6 weken.", "Zie {}.", "Mevr."),
}
_NATIONAL: dict[str, Callable[[Any], str]] = {  # Faker has none for Germany
    "en_GB": lambda faker: faker.ssn(),
    "fr_FR": lambda faker: faker.ssn(),
    "es_ES": lambda faker: faker.nif(),
    "it_IT": lambda faker: faker.ssn(),
    "nl_NL": lambda faker: faker.ssn(),
}
KINDS: dict[str, Callable[[Any], str]] = {
    "e-mail address": lambda faker: faker.email(),
    "web address": lambda faker: faker.url(),
    "IP address": lambda faker: faker.ipv4(),
    "IBAN": lambda faker: faker.iban(),
    "payment card": lambda faker: faker.credit_card_number(),
    "national number": lambda faker: _NATIONAL[faker.locales[0]](faker),
    "phone number": lambda faker: faker.phone_number(),
    "date as 2024-03-09": lambda faker: faker.date(),
    "date as 09/03/2024": lambda faker: faker.date("%d/%m/%Y"),
    "date as 9 March 2024": lambda faker: (
        f"{faker.random_int(1, 28)} {faker.month_name()} {faker.year()}"
    ),
    "date as 09.03.24": lambda faker: faker.date("%d.%m.%y"),
    "first and last name": lambda faker: f"{faker.first_name()} {faker.last_name()}",
    "title and last name": lambda faker: f"{LANGUAGES[faker.locales[0]][2]} {faker.last_name()}",
    "last name alone": lambda faker: faker.last_name(),
    "street address": lambda faker: faker.street_address(),
    "town": lambda faker: faker.city(),
    "number of a record": lambda faker: f"{faker.random_int(10**5, 10**8)}",
}


def measure(*, full: bool) -> dict[str, Any]:
    """Return, for each kind and language, the share of identifiers of which nothing is left."""
    from faker import Faker

    count = FULL_NOTES if full else NOTES
    found: dict[str, dict[str, float]] = {kind: {} for kind in KINDS}
    for locale, (note, mention, _) in LANGUAGES.items():
        faker = Faker(locale)
        faker.seed_instance(SEED)
        for kind, draw in KINDS.items():
            if kind == "national number" and locale not in _NATIONAL:
                continue
            drawn = [draw(faker).replace("\n", ", ") for _ in range(count)]
            texts = _redacted([note.format(mention.format(each)) for each in drawn])
            kept = note.format(mention.format(""))
            left = [_is_left(each, text, kept) for each, text in zip(drawn, texts, strict=True)]
            found[kind][locale] = 1 - sum(left) / count
    return {"redaction": found, "notes": count}


def _redacted(texts: list[str]) -> list[str]:
    shown: list[str] = Redact().publish("note", pa.array(texts), Context()).cells.to_pylist()
    return shown


def _is_left(identifier: str, text: str, kept: str) -> bool:
    """Return whether a word or number of an identifier, or a part of one, is still in its note.

    kept: the note without the identifier; its own words do not count.
    """
    words = re.findall(r"[^\W_]{2,}", re.sub(r"\[[^]]*\]", " ", text))
    return any(word in identifier for word in words if word not in kept)


def show(result: dict[str, Any]) -> list[Any]:
    """Return the section's table."""
    grid = Grid(
        title=f"redaction: share of identifiers found, of {result['notes']:,} notes each",
        caption="Found: no word or number of it is left in the note.",
    )
    grid.add_column("identifier")
    for locale in LANGUAGES:
        grid.add_column(locale, justify="right")
    for kind, shares in result["redaction"].items():
        grid.add_row(kind, *(f"{shares[at]:.3f}" if at in shares else "" for at in LANGUAGES))
    return [grid]
