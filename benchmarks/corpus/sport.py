"""Sport and travel: football players, training sessions, passengers.

Traps: a first column without a header, names beside clubs, wages such as €565K, heights such as
5'11, birth dates such as 6/24/87, ninety columns of sensors, athletes with many sessions, tickets
and cabins that several people share.
"""

from __future__ import annotations

import datetime as dt

from .sample import Cells, Draw, Form, Sample, age_at, joined, take

COUNTRIES = (
    "England,Germany,Spain,Argentina,France,Brazil,Italy,Colombia,Japan,Netherlands,Sweden,"
    "China PR,Chile,Mexico,Poland,Norway,Denmark,Portugal,Turkey,Austria,Ghana,Nigeria,Serbia,"
    "Croatia,Iceland"
).split(",")
SKILLS = (
    "Crossing Finishing HeadingAccuracy ShortPassing Volleys Dribbling Curve FKAccuracy "
    "LongPassing BallControl Acceleration SprintSpeed Agility Reactions Balance ShotPower Jumping "
    "Stamina"
).split()


def players(rows: int) -> Sample:
    """Football players of a game: the index of a data frame, names, clubs, wages, M/D/YY."""
    d = Draw(601, rows)
    born = d.day(1978, 2001)
    initials = d.pick([f"{x}. " for x in "ABCDEFGHJKLMNPRST"], 0.2)
    surnames = [
        x.capitalize()
        for x in d.surname(
            "mes ron ney dyb kro mod silv ram her cou gri kan",
            "si aldo mar ala os ric a os nan tinho mann e ez berg",
        )
    ]
    clubs = [
        f"{a} {b}"
        for a in "FC Real Sporting Dynamo Royal United Inter AC Olympique".split()
        for b in "Norden Salvia Porta Lumen Costa Vale Monte Brisa Aldea Riva Turma Corva".split()
    ]
    club = d.gaps(d.pick(clubs, 0.2), 0.01)
    cells: dict[str, Cells] = {
        "index": list(range(rows)),
        "ID": d.keys(16, 246_620),
        "Name": joined(initials, surnames),
        "Birth Date": born,
        "Age": age_at(born, dt.date(2018, 12, 20)),
        "Photo": joined("https://cdn.example/players/4/19/", d.code("######"), ".png"),
        "Nationality": d.pick(COUNTRIES, 0.8),
        "Flag": joined("https://cdn.example/flags/", d.whole(1, 190), ".png"),
        "Overall": d.number(66, 7, 46, 94, pull=0.8),
        "Potential": d.number(71, 6, 48, 95, pull=0.7),
        "Club": club,
        "Value": [f"€{x}K" if x < 1000 else f"€{x / 1000:.1f}M" for x in d.amount(650, 1.2)],
        "Wage": [f"€{x}K" for x in d.amount(4, 1.0)],
        "Preferred Foot": d.chance(0.77, "Right", "Left"),
        "International Reputation": d.pick([1, 2, 3, 4, 5], 3.2),
        "Weak Foot": d.number(2.9, 0.7, 1, 5, pull=0),
        "Skill Moves": d.number(2.4, 0.8, 1, 5),
        "Work Rate": d.pick(
            [
                "Medium/ Medium",
                "High/ Medium",
                "Medium/ High",
                "High/ High",
                "Medium/ Low",
                "High/ Low",
            ]
        ),
        "Body Type": d.pick("Normal Lean Stocky", 0.9),
        "Position": d.gaps(
            d.pick("ST GK CB CM LB RB RM LM CAM CDM RCB LCB LCM RCM LW RW", 0.4), 0.003
        ),
        "Jersey Number": d.pick(list(range(1, 100)), 0.6),
        "Joined": d.gaps(d.day(2008, 2018), 0.08),
        "Contract Valid Until": d.pick(
            ["2019", "2021", "2020", "2022", "2023", "Jun 30, 2019"], 0.8
        ),
        "Height": [f"{x // 12}'{x % 12}" for x in d.number(71, 2.6, 61, 81)],
        "Weight": [f"{x}lbs" for x in d.number(166, 15, 110, 243)],
        "Release Clause": d.gaps([f"€{x}K" for x in d.amount(1400, 1.2)], 0.09),
    }
    for skill in SKILLS:
        cells[skill] = d.number(58, 15, 5, 96, pull=0.5)
    form = Form(file="players.csv", dates="{0.month}/{0.day}/{0:%y}")
    return Sample.of(form, cells, {"index": ""})


def training(rows: int) -> Sample:
    """Sessions of athletes with sensors: 96 columns, forty sessions a person."""
    d = Draw(602, rows)
    athlete = d.of_people(max(rows // 12, 1))
    a = Draw(603, int(athlete.max()) + 1)
    when = d.moment(2021, 2023)
    cells: dict[str, Cells] = {
        "session_id": d.code("S-########"),
        "athlete_id": take([f"A{x:04}" for x in a.keys(1, 9_999)], athlete),
        "club": take(a.pick("north south west harbour hill lake", 0.4), athlete),
        "gender": take(a.pick("f m", 0.3), athlete),
        "birth_year": take(a.number(1991, 8, 1962, 2006), athlete),
        "nationality": take(a.pick("NOR SWE DEN FIN GER NED", 1.4), athlete),
        "height_cm": take(a.number(178, 9, 152, 205), athlete),
        "weight_kg": take(a.number(72, 11, 45, 118, 1), athlete),
        "timestamp": when,
        "date": [at.date() for at in when],
        "start_lat": d.real(59.2, 60.1, 5),
        "start_lon": d.real(10.1, 11.4, 5),
        "device_serial": take(a.code("GX##-@@####"), athlete),
        "firmware": d.pick("7.1.2 7.0.9 6.8.0"),
        "sport": d.pick("run ride ski swim"),
        "duration_min": d.amount(54, 0.5),
        "distance_km": d.amount(9.5, 0.6, 2),
        "injury": d.chance(0.04, "yes", "no"),
        "rpe": d.gaps(d.whole(1, 10), 0.2),
        "comment": d.gaps(
            joined(
                d.pick("felt_good tired windy sore_knee long_run with_group".split()), d.code(" ##")
            ),
            0.6,
        ),
    }
    for sensor in (
        "heart",
        "pace",
        "power",
        "cadence",
        "accel_x",
        "accel_y",
        "accel_z",
        "gyro",
        "temp",
        "spo2",
        "altitude",
    ):
        for figure, mean in {
            "mean": 100,
            "sd": 12,
            "min": 60,
            "max": 180,
            "q25": 80,
            "q75": 120,
        }.items():
            cells[f"{sensor}_{figure}"] = d.number(mean, mean / 5, 0, 4 * mean, 2, pull=0.5)
    for zone in range(1, 11):
        cells[f"zone{zone}_s"] = d.count(300 / zone)
    return Sample.of(Form(file="sessions.csv"), cells)


def passengers(rows: int) -> Sample:
    """Passengers of a ship: names with titles, fare, ticket, cabin."""
    d = Draw(604, rows)
    surnames = [
        x.capitalize()
        for x in d.surname(
            "har bel mor tan wil gar car rob hen pet wal lam",
            "ris son ton ley man field ford well er kins",
        )
    ]
    sex = d.chance(0.65, "male", "female")
    titles = [("Mr. " if x == "male" else "Mrs. ") for x in sex]
    cells: dict[str, Cells] = {
        "PassengerId": list(range(1, rows + 1)),
        "Survived": d.chance(0.38),
        "Pclass": d.pick([3, 1, 2], 0.8),
        "Name": joined(
            surnames,
            ", ",
            titles,
            d.pick("John William Anna Mary George Elsie Karl Ida Owen".split(), 0.3),
            " ",
            d.code("@."),
        ),
        "Sex": sex,
        "Age": d.gaps(d.number(29.7, 14, 1, 80, pull=0), 0.2),
        "SibSp": [min(x, 8) for x in d.count(0.5)],
        "Parch": [min(x, 6) for x in d.count(0.38)],
        "Ticket": d.pick(
            [f"{x}{y}" for x in ("", "PC ", "C.A. ", "A/5 ") for y in range(11_751, 29_000, 101)],
            0.2,
        ),
        "Fare": d.amount(15, 0.9, 4),
        "Cabin": d.gaps(d.code("@##"), 0.77),
        "Embarked": d.gaps(d.pick("S C Q", 1.7), 0.002),
    }
    return Sample.of(Form(file="passengers.csv"), cells)
