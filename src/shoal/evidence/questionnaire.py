"""The questionnaire: what the data owner states about the context of a release.

What is not answered is reported as "not stated", never guessed.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import date
from pathlib import Path
from typing import Any

from shoal.errors import InputError, unknown
from shoal.files.schema import read_yaml
from shoal.support.files import read_text
from shoal.support.options import check_range, check_whole

NOT_STATED = "not stated"
LARGE_AREA = 20_000  # people; 45 CFR 164.514(b)(2)(i)(B)
_TEXTS = (
    "purpose",
    "recipient",
    "environment",
    "additional_information",
    "expert",
    "intruder_test",
    "threshold_reason",
    "review_date",
)
_LISTS = ("controls", "adversaries")


@dataclass(frozen=True)
class Questionnaire:
    """The answers of the data owner, for `write_evidence`.

    Parameters:
        purpose: What the release is for.
        recipient: The people or organizations that receive it; "public" if anyone can.
        environment: Where and how they use it.
        controls: Contracts, access rights and other measures there.
        adversaries: Those who might try to re-identify people, and what they know.
        additional_information: Where original data and keys are kept, and who has access.
        expert: The person who judges the risk, with qualifications.
        intruder_test: Whether someone tried to re-identify people, and the result.
        maximum_risk: The highest acceptable risk of a person, from 0 to 1; None if not stated.
        threshold_reason: Why this risk is acceptable.
        population: Number of people from whom the people of the table were drawn, if known.
        area_populations: Number of people in each area of the first three digits of a ZIP code; in
            a file, the path of a CSV file with these two columns, relative to the questionnaire.
        review_date: When the assessment must be repeated.
        columns: The reason for the role of a column, by its name.

    >>> Questionnaire(recipient="university hospital").to_dict()["environment"]
    'not stated'
    """

    purpose: str = NOT_STATED
    recipient: str = NOT_STATED
    environment: str = NOT_STATED
    controls: tuple[str, ...] = (NOT_STATED,)
    adversaries: tuple[str, ...] = (NOT_STATED,)
    additional_information: str = NOT_STATED
    expert: str = NOT_STATED
    intruder_test: str = NOT_STATED
    maximum_risk: float | None = None
    threshold_reason: str = NOT_STATED
    population: int | None = None
    area_populations: Mapping[str, int] | None = None
    review_date: str = NOT_STATED
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.maximum_risk is not None:
            check_range("maximum_risk", self.maximum_risk, 0, 1, above=True)
        if self.population is not None:
            check_whole("population", self.population, 1)
        for area, people in (self.area_populations or {}).items():
            if not re.fullmatch(r"[0-9]{3}", area) or isinstance(people, bool) or people < 0:
                raise InputError(
                    "questionnaire: area_populations must map three digits to numbers of people"
                )

    @classmethod
    def read(cls, path: str | Path) -> Questionnaire:
        """Read the answers from a YAML file.

        Parameters:
            path: The file.

        Returns:
            The answers.

        Raises:
            InputError: The file cannot be read, or has an unknown question or a wrong answer.
        """
        path = Path(path)
        data = read_yaml(path)
        if isinstance(data, Mapping) and isinstance(data.get("area_populations"), str):
            areas = read_areas(path.parent / data["area_populations"])
            data = {**data, "area_populations": areas}
        return cls.of(data, str(path))

    @classmethod
    def of(cls, data: Any, source: str = "questionnaire") -> Questionnaire:
        """Return answers given as plain data.

        Parameters:
            data: The content of a questionnaire file.
            source: The name of the questionnaire in messages.

        Returns:
            The answers.

        Raises:
            InputError: A question is unknown, or an answer has the wrong type.
        """
        if data is None:
            return cls()
        if not isinstance(data, Mapping):
            raise InputError(f"{source}: needs a mapping of questions to answers  recipient: …")
        known = [entry.name for entry in fields(cls)]
        for name in data:
            if name not in known:
                raise unknown(f"{source}: no question", name, known)
        given = {name: value for name, value in data.items() if value not in (None, "", [])}
        return cls(**{name: _answer(name, value, source) for name, value in given.items()})

    @property
    def large_areas(self) -> list[str] | None:
        """The areas of ZIP codes with more than 20,000 people, None if no table is given."""
        if self.area_populations is None:
            return None
        return sorted(a for a, people in self.area_populations.items() if people > LARGE_AREA)

    def to_dict(self) -> dict[str, Any]:
        """Return the answers about the context as plain data."""
        names = (*_TEXTS, *_LISTS)
        answers = {name: getattr(self, name) for name in names if name != "threshold_reason"}
        return answers | {name: list(answers[name]) for name in _LISTS}


def read_areas(path: Path) -> dict[str, int]:
    """Read the number of people in each three-digit area of ZIP codes from a CSV file.

    Raises:
        InputError: The file cannot be read, or a line is not an area and a number.
    """
    return parse_areas(read_text(path), str(path))


def parse_areas(text: str, source: str) -> dict[str, int]:
    r"""Return the number of people in each three-digit area of ZIP codes.

    Parameters:
        text: Lines of an area and a number, with or without a line of names.
        source: The name of the file in messages.

    Raises:
        InputError: A line is not an area and a number.

    >>> parse_areas("zip3,people\n036,12000\n100,1500000", "zip3.csv")
    {'036': 12000, '100': 1500000}
    """
    areas = {}
    for number, line in enumerate(csv.reader(text.splitlines()), 1):
        cells = [cell.strip() for cell in line]
        if number == 1 and cells and not cells[0].isdigit():
            continue  # the names of the columns
        people = cells[1].replace(",", "") if len(cells) > 1 else ""
        if len(cells) != 2 or not cells[0].isdigit() or not people.isdigit() or len(cells[0]) > 3:
            raise InputError(f"{source}: line {number} is not a three-digit area and a number")
        areas[cells[0].zfill(3)] = int(people)
    if not areas:
        raise InputError(f"{source}: has no areas")
    return areas


def _answer(name: str, value: Any, source: str) -> Any:
    """Return one answer with its type checked; a message never contains the answer."""
    if name == "area_populations":
        if not isinstance(value, Mapping) or not all(isinstance(n, int) for n in value.values()):
            raise InputError(f"{source}: area_populations must be the path of a CSV file")
        return {str(area): people for area, people in value.items()}
    if name == "columns":
        if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
            raise InputError(f"{source}: columns must map names of columns to reasons")
        return dict(value)
    if name in _LISTS:
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(each, str) for each in listed):
            raise InputError(f"{source}: {name} must be a text or a list of texts")
        return tuple(listed)
    if name in _TEXTS:
        text = value.isoformat() if isinstance(value, date) else value
        if not isinstance(text, str):
            raise InputError(f"{source}: {name} must be a text")
        return text
    wanted = int if name == "population" else (int, float)
    if isinstance(value, bool) or not isinstance(value, wanted):
        raise InputError(f"{source}: {name} must be a number")
    return value
