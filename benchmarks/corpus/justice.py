"""Courts, police and roads: scores of defendants, incidents in cities, accidents in French.

Traps: a date of birth beside age and age group, the same date in three columns, headers that occur
twice, case numbers with gaps, places as coordinates, dates with two-digit years, numeric codes
that only a codebook explains, decimal commas.
"""

from __future__ import annotations

import datetime as dt

from .sample import Cells, Draw, Form, Sample, age_at, banded, joined, take

FIRST = (
    "james mary robert linda david maria john ana kevin tanya luis keisha eric susan andre "
    "nicole paul monique carl diane brandon latoya peter rosa"
)
STARTS = "har bel mor tan wil gar car rob hen pet wal lam sto bro fer cas del mar ham nor"
ENDS = "ris son ton ley man field ford well er kins ez ado ston wood land berg"


def recidivism(rows: int) -> Sample:
    """53 columns about defendants, as a court system exports them after a study."""
    d = Draw(101, rows)
    first = [name.capitalize() for name in d.pick(FIRST, 0.5)]
    last = [name.capitalize() for name in d.surname(STARTS, ENDS)]
    born = d.day(1948, 1997)
    age = age_at(born, dt.date(2016, 4, 1))
    screened = d.day(2013, 2014)
    jailed = d.gaps(d.moment(2013, 2014), 0.04)
    freed = d.later(jailed, 18)
    offended = d.gaps([day - dt.timedelta(days=1) for day in screened], 0.16)
    again = d.chance(0.45)
    dates = d.later(screened, 300)
    new_offence = _where(again, dates)
    new_jail = _where(d.chance(0.3), d.later(screened, 320))
    violent = d.chance(0.11)
    score, violent_score = d.number(4.5, 2.8, 1, 10, pull=0.6), d.number(3.7, 2.5, 1, 10, pull=0.6)
    priors = d.count(3.2)
    text = ("Low", "Medium", "High")
    columns: list[tuple[str, Cells]] = [
        ("id", list(range(1, rows + 1))),
        ("name", joined([x.lower() for x in first], " ", [x.lower() for x in last])),
        ("first", first),
        ("last", last),
        ("compas_screening_date", screened),
        ("sex", d.chance(0.81, "Male", "Female")),
        ("dob", born),
        ("age", age),
        ("age_cat", banded(age, (25, 46), ("Less than 25", "25 - 45", "Greater than 45"))),
        ("race", d.pick(["African-American", "Caucasian", "Hispanic", "Other", "Asian"], 1.2)),
        ("juv_fel_count", d.count(0.07)),
        ("decile_score", score),
        ("juv_misd_count", d.count(0.09)),
        ("juv_other_count", d.count(0.11)),
        ("priors_count", priors),
        ("days_b_screening_arrest", d.gaps(d.number(-1, 12, -400, 300), 0.04)),
        ("c_jail_in", jailed),
        ("c_jail_out", freed),
        ("c_case_number", d.gaps(d.code("13######CF10A"), 0.003)),
        ("c_offense_date", offended),
        ("c_arrest_date", _where([day is None for day in offended], screened)),
        ("c_days_from_compas", d.gaps(d.count(40), 0.003)),
        ("c_charge_degree", d.chance(0.65, "F", "M")),
        ("c_charge_desc", d.gaps(d.pick(_charges(), 0.9), 0.005)),
        ("is_recid", again),
        ("r_case_number", _where(again, d.code("14######MM10A"))),
        ("r_charge_degree", _where(again, d.pick("(M1) (M2) (F3) (F2) (MO3) (CO3)"))),
        ("r_days_from_arrest", _where(again, d.count(20))),
        ("r_offense_date", new_offence),
        ("r_charge_desc", _where(again, d.pick(_charges(), 0.8))),
        ("r_jail_in", new_jail),
        ("r_jail_out", d.later(new_jail, 25)),
        ("violent_recid", [None] * rows),
        ("is_violent_recid", violent),
        ("vr_case_number", _where(violent, d.code("15######CF10A"))),
        ("vr_charge_degree", _where(violent, d.pick("(M1) (F3) (F2) (F1)"))),
        ("vr_offense_date", _where(violent, dates)),
        ("vr_charge_desc", _where(violent, d.pick(_charges()[:20]))),
        ("type_of_assessment", ["Risk of Recidivism"] * rows),
        ("decile_score", score),
        ("score_text", banded(score, (5, 8), text)),
        ("screening_date", screened),
        ("v_type_of_assessment", ["Risk of Violence"] * rows),
        ("v_decile_score", violent_score),
        ("v_score_text", banded(violent_score, (5, 8), text)),
        ("v_screening_date", screened),
        ("in_custody", d.later(screened, 30)),
        ("out_custody", d.later(screened, 90)),
        ("priors_count", priors),
        ("start", d.count(12)),
        ("end", d.whole(20, 1180)),
        ("event", d.chance(0.38)),
        ("two_year_recid", again),
    ]
    form = Form(file="recidivism-two-years.csv")
    return Sample([name for name, _ in columns], [cells for _, cells in columns], form)


def police(rows: int) -> Sample:
    """Incidents with names, as newspapers collect them: M/D/YY dates, places, coordinates."""
    d = Draw(102, rows)
    first = [name.capitalize() for name in d.pick(FIRST, 0.4)]
    last = [name.capitalize() for name in d.surname(STARTS, ENDS)]
    places = [f"{start.capitalize()}{end}" for start in STARTS.split() for end in ENDS.split()[:12]]
    area = d.whole(0, len(places) - 1)
    cells: dict[str, Cells] = {
        "id": d.keys(3, 9_000 + rows),
        "name": d.gaps(joined(first, " ", last), 0.06),
        "date": d.day(2015, 2020),
        "manner_of_death": d.chance(0.95, "shot", "shot and Tasered"),
        "armed": d.gaps(
            d.pick(
                (
                    "gun,knife,unarmed,vehicle,toy weapon,machete,ax,hammer,sword,metal pipe,"
                    "box cutter,baseball bat,crossbow,rock"
                ).split(","),
                1.7,
            ),
            0.04,
        ),
        "age": d.gaps(d.number(37, 13, 12, 91, pull=0), 0.05),
        "gender": d.chance(0.95, "M", "F"),
        "race": d.gaps(d.pick("W B H A N O", 1.3), 0.1),
        "city": take(places, area),
        "state": [("CA TX FL AZ GA NC WA OH CO MO NM TN".split())[x % 12] for x in area],
        "county": joined([places[x // 6 * 6] for x in area], " County"),
        "zipcode": [f"{10_000 + 331 * x % 89_000:05}" for x in area],
        "signs_of_mental_illness": d.chance(0.24, "True", "False"),
        "threat_level": d.pick("attack other undetermined"),
        "flee": d.gaps(d.pick(["Not fleeing", "Car", "Foot", "Other"], 1.4), 0.05),
        "body_camera": d.chance(0.13, "True", "False"),
        "longitude": [
            round(-121 + x % 40 + y, 3) for x, y in zip(area, d.real(0, 0.4, 3), strict=True)
        ],
        "latitude": [
            round(30 + x % 17 + y, 3) for x, y in zip(area, d.real(0, 0.4, 3), strict=True)
        ],
        "is_geocoding_exact": d.chance(0.99, "True", "False"),
        "description": joined(
            d.pick(FIRST), " was seen near ", take(places, d.whole(0, 150)), d.code(" at #:##")
        ),
    }
    return Sample.of(Form(file="police-incidents.csv", dates="{0.month}/{0.day}/{0:%y}"), cells)


def accidents(rows: int) -> Sample:
    """Road users of accidents, in French codes: several users an accident, decimal commas."""
    d = Draw(103, rows)
    crash = d.of_people(max(rows * 2 // 5, 1))
    c = Draw(104, int(crash.max()) + 1)
    days = c.day(2022, 2022)
    department = c.pick([f"{x:02}" for x in range(1, 96)] + ["2A", "2B", "971", "974"], 0.5)
    vehicle = d.pick("A01 B01 A02 C01", 1.5)
    cells: dict[str, Cells] = {
        "Num_Acc": take([202_200_000_001 + x for x in range(c.rows)], crash),
        "id_vehicule": [f"{813_000 + x}-{y}" for x, y in zip(crash.tolist(), vehicle, strict=True)],
        "num_veh": vehicle,
        "place": d.pick("1 2 3 4 5 10 9 7", 1.5),
        "catu": d.pick([1, 2, 3], 1.6),
        "grav": d.pick([1, 4, 3, 2], 1.0),
        "sexe": d.chance(0.68, 1, 2),
        "an_nais": d.gaps([2022 - age for age in d.number(39, 19, 0, 97, pull=0)], 0.02),
        "trajet": d.pick([5, 0, 1, 4, 9, 2, 3]),
        "secu1": d.pick([1, 2, 8, 0, -1, 3]),
        "secu2": d.pick([-1, 0, 6, 8]),
        "secu3": d.pick([-1, 0, 9], 3.0),
        "locp": d.pick([-1, 0, 3, 2, 1], 1.8),
        "actp": d.pick("-1 0 3 B 9 5 A"),
        "etatp": d.pick([-1, 1, 2, 3], 2.0),
        "jour": take([day.day for day in days], crash),
        "mois": take([day.month for day in days], crash),
        "an": [2022] * rows,
        "hrmn": take(joined(c.whole(10, 23), ":", c.code("#0")), crash),
        "lum": take(c.pick([1, 5, 3, 2, 4]), crash),
        "dep": take(department, crash),
        "com": take(joined([code[:2] for code in department], c.code("0##")), crash),
        "agg": take(c.pick([2, 1], 0.8), crash),
        "int": take(c.pick([1, 3, 2, 6, 4, 9], 1.3), crash),
        "atm": take(c.pick([1, 2, 8, 3, 7, 5, 4, 9, 6], 1.8), crash),
        "col": take(c.pick([3, 6, 2, 1, 7, 4, 5]), crash),
        "adr": take(
            c.gaps(joined("RUE ", [x.upper() for x in c.surname(STARTS, ENDS)]), 0.05), crash
        ),
        "lat": take(c.real(42.4, 51.0, 6), crash),
        "long": take(c.real(-4.5, 8.1, 6), crash),
        "catr": take(c.pick([4, 3, 1, 2, 7, 6, 9]), crash),
        "vma": take(c.pick([50, 80, 30, 90, 110, 130, 70, 20]), crash),
    }
    return Sample.of(Form(file="usagers-2022.csv", delimiter=";", decimal=","), cells)


def _where(chosen: Cells, cells: Cells) -> Cells:
    """Return the cells of chosen rows; the others are missing."""
    return [cell if hit else None for hit, cell in zip(chosen, cells, strict=True)]


def _charges() -> list[str]:
    """Return some hundred descriptions of charges."""
    acts = "Battery,Theft,Possession,Burglary,Driving,Fraud,Assault,Trespass,Resisting,Tampering"
    kinds = (
        "petit,grand,aggravated,third degree,no injury,with violence,attempted,w/intent,under .5,"
    )
    return [f"{act} {kind}".strip() for act in acts.split(",") for kind in kinds.split(",")]
